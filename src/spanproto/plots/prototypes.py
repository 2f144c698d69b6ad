"""Where spans lie among the prototypes: a t-SNE map, and beside it the distances as they are."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from spanproto.batch import SpanPlaces, collate
from spanproto.data.types import Episode
from spanproto.errors import DataError
from spanproto.extras import optional
from spanproto.judging import judge
from spanproto.model import SpanProto
from spanproto.plots import style
from spanproto.support import support_prototypes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.floating]
Kind = Literal["example", "query mention", "false positive"]
KINDS: tuple[Kind, ...] = ("example", "query mention", "false positive")
_LEAST_CIRCLE = 0.035  # of the width of the map: a smaller one would be hidden by the spans
_MARK, _ABOVE = 4.5, 12.0  # points, of a mark and between a panel and its title
_LANE = 0.3  # rows between the kinds of spans
_SIDES = (0.0, -0.1, 0.1)  # rows: where spans of a kind are put that would hide each other


class SpanPoint(NamedTuple):
    """A span with its place; the type is the labelled one, of a false positive the one found."""

    vector: Floats  # (d,)
    label: str
    kind: Kind = "example"


class PlacedSpans(NamedTuple):
    """Spans, the prototype (d,) of each type, and the radius around these."""

    points: Sequence[SpanPoint]
    prototypes: dict[str, Floats]
    radius: float


class Map(NamedTuple):
    """Spans and prototypes in the plane, and what became of the radius there."""

    spans: Floats  # (M, 2)
    centres: Floats  # (N, 2)
    scale: float  # drawn by real distance, the median over spans and their nearest prototypes
    enlarged: float  # what the circles had to be multiplied by to be seen
    faithful: float  # share of the spans that are in or out of their nearest circle as they are

    def reach(self, radius: float) -> float:
        """The radius of the circles on the map."""
        return self.scale * self.enlarged * radius


def prototypes_figure(
    points: Sequence[SpanPoint], prototypes: dict[str, Floats], radius: float, seed: int = 0
) -> "Figure":
    """The spans and the prototypes (d,) of each type, with circles of the radius r around these.

    t-SNE keeps neighbours together and no distances, so a circle on the map can only stand for the
    radius: it has r times the median ratio of drawn to real distances, or more where it could not
    be seen, and the figure says so, and how many spans are drawn on the right side of it. The other
    panel shows the real distances.
    """
    if not points or len(points) + len(prototypes) < 4:
        raise DataError("a map needs at least 4 spans and prototypes together; give more examples")
    if unknown := {point.label for point in points} - prototypes.keys():
        raise DataError(f"no prototype for {sorted(unknown)}; give one for each type of the spans")
    vectors = np.stack([point.vector for point in points])
    centres = np.stack(list(prototypes.values()))
    drawn = map_spans(vectors, centres, radius, seed)
    looks = dict(zip(prototypes, style.looks(len(prototypes)), strict=True))
    with style.applied():
        figure = style.new_figure(style.PAGE, _height(drawn, radius, len(prototypes)))
        left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
        _draw_map(left, points, drawn, looks, radius)
        _draw_distances(right, points, prototypes, looks, radius)
        _draw_legend(figure, {point.kind for point in points})
        figure.supxlabel(_about_circles(drawn, radius), fontsize=style.TEXT)
    return figure


def map_spans(vectors: Floats, centres: Floats, radius: float, seed: int = 0) -> Map:
    """t-SNE of spans (M, d) and prototypes (N, d) together, turned so that it is widest across."""
    manifold = optional("sklearn.manifold", "plots")
    everything = np.concatenate((vectors, centres)).astype(np.float64)
    perplexity = min(30.0, (len(everything) - 1) / 3)
    flat = manifold.TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(
        everything
    )
    centred = flat.astype(np.float64) - flat.mean(0)
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2].T  # (M + N, 2)
    spans, places = flat[: len(vectors)], flat[len(vectors) :]
    real, shown = distances(vectors, centres), distances(spans, places)
    nearest = np.arange(len(centres)) == real.argmin(1)[:, None]  # (M, N)
    apart = real > 1e-4 * real.max()  # the only example of a type is its prototype
    counted = nearest & apart if (nearest & apart).any() else apart
    scale = float(np.median(shown[counted] / real[counted]))
    enlarged = max(1.0, _LEAST_CIRCLE * float(np.ptp(flat[:, 0])) / (scale * radius))
    drawn = Map(spans, places, scale, enlarged, faithful=0.0)
    right_side = ((shown <= drawn.reach(radius)) == (real <= radius))[nearest]
    return drawn._replace(faithful=float(right_side.mean()))


def distances(vectors: Floats, centres: Floats) -> Floats:
    """Euclidean distances (M, N)."""
    result: Floats = np.linalg.norm(vectors[:, None] - centres[None], axis=-1)
    return result


def draw_prototypes(model: SpanProto, episode: Episode, seed: int = 0) -> "Figure":
    """The map of one episode: its examples, its query mentions, and what is found wrongly."""
    return prototypes_figure(*placed_spans(model, episode), seed)


def placed_spans(model: SpanProto, episode: Episode) -> PlacedSpans:
    """Where a model puts the spans of an episode and the prototypes of its types."""
    centres = support_prototypes(model, [episode]).centres.float().cpu().numpy()
    supported = episode.supported_types()
    prototypes = {
        label: centre
        for label, centre in zip(episode.types, centres, strict=True)
        if label in supported
    }
    classifier = model.config.classifier
    squared = classifier.margin_distance == "squared-euclidean"
    radius = classifier.radius**0.5 if squared else classifier.radius
    points = [point for point in span_points(model, episode) if point.label in prototypes]
    return PlacedSpans(points, prototypes, radius)


@torch.inference_mode()
def span_points(model: SpanProto, episode: Episode) -> list[SpanPoint]:
    """The labelled spans of an episode and the model's false positives, where they lie."""
    model.eval()
    batch = collate([episode], model.encoder.words).to(model.device)
    states = model.mention_states(model.encode(batch))
    places: list[tuple[SpanPlaces, list[str], Kind]] = [
        (batch.support_spans, _names(batch.support_spans.slot, episode), "example"),
        (batch.query_spans, _names(batch.query_spans.slot, episode), "query mention"),
    ]
    if episode.query:
        (judged,) = judge(model, [episode])
        wrong = [
            (row, candidate)
            for row, sentence, candidates in zip(
                batch.query_rows, episode.query, judged, strict=True
            )
            for candidate in candidates
            if candidate.outcome == "kept" and candidate.span not in sentence.spans
        ]
        at = [(row, candidate.start, candidate.end) for row, candidate in wrong]
        columns = torch.tensor(at, dtype=torch.long, device=model.device).reshape(-1, 3).unbind(1)
        labels = [candidate.label for _, candidate in wrong]
        places.append((SpanPlaces(*columns), labels, "false positive"))
    return [
        SpanPoint(vector, label, kind)
        for spans, labels, kind in places
        for vector, label in zip(states.represent(spans).float().cpu().numpy(), labels, strict=True)
    ]


def _names(slots: torch.Tensor, episode: Episode) -> list[str]:
    return [episode.types[slot] for slot in slots.tolist()]


def _draw_map(
    axes: "Axes",
    points: Sequence[SpanPoint],
    drawn: Map,
    looks: dict[str, style.Look],
    radius: float,
) -> None:
    """No names here, where they would lie on spans: the rows of the other panel have them."""
    from matplotlib.patches import Circle

    for (label, look), centre in zip(looks.items(), drawn.centres, strict=True):
        axes.add_patch(
            Circle(
                tuple(centre), drawn.reach(radius), facecolor=look.colour + "14",
                edgecolor=look.colour, linewidth=0.9, gid=f"circle {label}",
            )
        )  # fmt: skip
        _draw_prototype(axes, look, *centre)
    for point, place in zip(points, drawn.spans, strict=True):
        _draw_point(axes, point.kind, looks[point.label], *place)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.04)
    axes.autoscale_view()
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.set_title("(a) t-SNE map; colours and shapes as in (b)", loc="left", pad=_ABOVE)


def _about_circles(drawn: Map, radius: float) -> str:
    """What the projection does to the circles, in two lines."""
    by = f"drawn to real distance ({drawn.scale:.2g})"
    if drawn.enlarged > 1:
        by += f" and by {drawn.enlarged:.2g}, to be seen"
    return (
        f"t-SNE keeps neighbours, not distances: the circles in (a) have the radius r = {radius:g} "
        f"multiplied by the median ratio of\n{by}; {drawn.faithful:.0%} of the spans "
        "are drawn on the right side of the nearest circle."
    )


def _height(drawn: Map, radius: float, rows: int) -> float:
    """Inches for a map that fills its panel, and for rows that can be told apart."""
    reach = drawn.reach(radius)
    corners = np.concatenate((drawn.spans, drawn.centres - reach, drawn.centres + reach))
    width, height = map(float, np.ptp(corners, axis=0))
    of_map = min(3.6, 0.48 * style.PAGE * height / width)
    return 1.1 + max(of_map, 0.55 * min(rows, 12), 1.4)


def _draw_distances(
    axes: "Axes",
    points: Sequence[SpanPoint],
    prototypes: dict[str, Floats],
    looks: dict[str, style.Look],
    radius: float,
) -> None:
    """Each span in the row of its type, the kinds below each other; prototypes are at 0."""
    kinds = [kind for kind in KINDS if any(point.kind == kind for point in points)]
    away = [float(np.linalg.norm(point.vector - prototypes[point.label])) for point in points]
    end = 1.08 * max(radius, *away)
    for row, (label, look) in enumerate(looks.items()):
        _draw_prototype(axes, look, 0.0, row)
        for number, kind in enumerate(kinds):
            own = [
                distance
                for distance, point in zip(away, points, strict=True)
                if (point.label, point.kind) == (label, kind)
            ]
            middle = row + _LANE * (number - (len(kinds) - 1) / 2)
            for distance, aside in zip(own, swarm(own, 0.033 * end), strict=True):
                _draw_point(axes, kind, look, distance, middle + aside)
    axes.axvline(radius, color=style.INK, linewidth=0.9, linestyle="--", gid="radius")
    axes.annotate(
        f"r = {radius:g}", (radius, 1), (0, 2), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="center",
    )  # fmt: skip
    axes.set_yticks(range(len(looks)), list(looks), parse_math=False)
    axes.set_ylim(len(looks) - 0.5, -0.5)
    axes.set_xlim(-0.05 * end, end)  # what lies at 0 is whole
    for row in range(1, len(looks)):
        axes.axhline(row - 0.5, color=style.GRID, linewidth=0.5, zorder=0)
    axes.tick_params(axis="y", length=0)
    axes.set_title("(b) real distance to the type's prototype", loc="left", pad=_ABOVE)
    axes.set_xlabel("Euclidean, in the space of the prototypes")


def swarm(places: Sequence[float], apart: float) -> list[float]:
    """How far each of some places on a line is drawn beside it, so that none hides another.

    Those that are nearer to each other than `apart` go to the middle, to one side, to the other.
    """
    last: list[float] = [-math.inf] * len(_SIDES)  # place that was put to each side
    aside = [0.0] * len(places)
    for number in sorted(range(len(places)), key=places.__getitem__):
        free = [side for side, place in enumerate(last) if places[number] - place >= apart]
        side = free[0] if free else last.index(min(last))
        last[side] = places[number]
        aside[number] = _SIDES[side]
    return aside


def _draw_point(axes: "Axes", kind: Kind, look: style.Look, x: float, y: float) -> None:
    """A span of a kind and type."""
    for number, form in enumerate(_forms(kind, look)):
        axes.plot(x, y, linestyle="", zorder=5, gid="" if number else kind, **form)


def _forms(kind: Kind, look: style.Look) -> list[dict[str, Any]]:
    """Filled for an example, hollow for a mention to be found, with a cross for what is none."""
    shape = {"marker": look.marker, "markersize": look.size(_MARK), "color": look.colour}
    if kind == "example":
        return [shape | {"markeredgecolor": "white", "markeredgewidth": 0.4}]
    if kind == "query mention":
        return [shape | {"markerfacecolor": "white", "markeredgewidth": 1.0}]
    larger = {"markersize": look.size(1.5 * _MARK), "markeredgewidth": 0.9}
    cross = {"marker": "x", "markersize": 0.65 * _MARK, "markeredgewidth": 0.9}
    return [shape | larger | {"markerfacecolor": "none"}, {"color": look.colour} | cross]


def _draw_prototype(axes: "Axes", look: style.Look, x: float, y: float) -> None:
    axes.plot(x, y, linestyle="", zorder=4, gid="prototype", **_prototype_form(look))


def _prototype_form(look: style.Look) -> dict[str, Any]:
    """Large, and light enough for an example that lies on it."""
    return {
        "marker": look.marker, "markersize": look.size(2 * _MARK), "color": look.colour + "50",
        "markeredgecolor": style.INK, "markeredgewidth": 0.8,
    }  # fmt: skip


def _draw_legend(figure: "Figure", kinds: set[Kind]) -> None:
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.lines import Line2D

    look = style.Look(style.INK, "o")
    forms = {str(kind): _forms(kind, look) for kind in KINDS if kind in kinds}
    forms["prototype"] = [_prototype_form(look)]
    handles: list[Any] = [
        tuple(Line2D([], [], linestyle="", **form) for form in several)
        for several in forms.values()
    ]
    figure.legend(
        handles, list(forms), loc="outside upper center", ncols=4, handletextpad=0.2,
        handler_map={tuple: HandlerTuple(ndivide=1)},
    )  # fmt: skip
