"""Where spans lie among the prototypes: a t-SNE map, and beside it the distances as they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from spanproto.batch import SpanPlaces, collate
from spanproto.data.types import Episode
from spanproto.errors import DataError
from spanproto.extras import optional
from spanproto.judging import judge, support_prototypes
from spanproto.model import SpanProto
from spanproto.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.floating]
Kind = Literal["example", "query mention", "false positive"]
KINDS: tuple[Kind, ...] = ("example", "query mention", "false positive")


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
    faithful: float  # share of the spans that are in or out of their nearest circle as they are


def prototypes_figure(
    points: Sequence[SpanPoint], prototypes: dict[str, Floats], radius: float, seed: int = 0
) -> "Figure":
    """The spans and the prototypes (d,) of each type, with circles of the radius r around these.

    t-SNE keeps neighbours together and no distances, so a circle on the map can only stand for the
    radius: it has r times the median ratio of drawn to real distances, and the figure says how
    many spans are drawn on the right side of it. The other panel shows the real distances.
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
        left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
        _draw_map(left, points, drawn, looks, radius)
        _draw_distances(right, points, prototypes, looks, radius)
        _draw_legend(figure, {point.kind for point in points})
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
    right_side = ((shown <= scale * radius) == (real <= radius))[nearest]
    return Map(spans, places, scale, float(right_side.mean()))


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
    radius = classifier.margin**0.5 if squared else classifier.margin
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
                tuple(centre), drawn.scale * radius, facecolor=look.colour + "14",
                edgecolor=look.colour, linewidth=0.9, gid=f"circle {label}",
            )
        )  # fmt: skip
        axes.plot(
            *centre, marker="+", color=look.colour, markersize=8, markeredgewidth=1.6, zorder=6
        )
    for point, place in zip(points, drawn.spans, strict=True):
        _draw_point(axes, point, looks[point.label], *place)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.04)
    axes.autoscale_view()
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.set_title("(a) t-SNE map; colours and shapes as in (b)", loc="left")
    axes.set_xlabel(
        "t-SNE keeps neighbours, not distances: circles have radius "
        f"r = {radius:g}\ntimes the median ratio of drawn to real distance ({drawn.scale:.3g}); "
        f"{drawn.faithful:.0%} of the\nspans are drawn on the right side of the nearest circle.",
        fontsize=6.5,
    )


def _height(drawn: Map, radius: float, rows: int) -> float:
    """Inches for a map that fills its panel, and for rows that can be told apart."""
    reach = drawn.scale * radius
    corners = np.concatenate((drawn.spans, drawn.centres - reach, drawn.centres + reach))
    width, height = map(float, np.ptp(corners, axis=0))
    return 1.05 + min(3.4, max(0.5 * style.PAGE * height / width, 0.32 * rows, 1.4))


def _draw_distances(
    axes: "Axes",
    points: Sequence[SpanPoint],
    prototypes: dict[str, Floats],
    looks: dict[str, style.Look],
    radius: float,
) -> None:
    """Each span in the row of its type, the kinds below each other."""
    rows = {label: row for row, label in enumerate(prototypes)}
    kinds = [kind for kind in KINDS if any(point.kind == kind for point in points)]
    for point in points:
        distance = float(np.linalg.norm(point.vector - prototypes[point.label]))
        offset = 0.22 * (kinds.index(point.kind) - (len(kinds) - 1) / 2)
        _draw_point(axes, point, looks[point.label], distance, rows[point.label] + offset)
    axes.axvline(radius, color=style.INK, linewidth=0.9, linestyle="--", gid="radius")
    axes.annotate(
        f"r = {radius:g}", (radius, 0), (3, 4), xycoords=("data", "axes fraction"),
        textcoords="offset points", fontsize=7,
    )  # fmt: skip
    axes.set_yticks(range(len(rows)), list(rows), parse_math=False)
    for name, look in zip(axes.get_yticklabels(), looks.values(), strict=True):
        name.set(color=look.colour, weight="bold")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    end = max(1.15 * radius, axes.get_xlim()[1])
    axes.set_xlim(-0.03 * end, end)  # an example that is its prototype is whole
    axes.grid(axis="y", color="#e3e3e3", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_title("(b) real distance to the type's prototype", loc="left")
    axes.set_xlabel("Euclidean, in the space of the prototypes")


def _draw_point(axes: "Axes", point: SpanPoint, look: style.Look, x: float, y: float) -> None:
    """Filled for an example, hollow for a mention to be found, a cross for what is none."""
    wrong = point.kind == "false positive"
    hollow = point.kind == "query mention"
    axes.plot(
        x, y, linestyle="", marker="x" if wrong else look.marker, markersize=4.5,
        markerfacecolor="white" if hollow else look.colour, zorder=5, gid=point.kind,
        markeredgecolor=look.colour if wrong or hollow else "white",
        markeredgewidth=1.4 if wrong else 1.0 if hollow else 0.4,
    )  # fmt: skip


def _draw_legend(figure: "Figure", kinds: set[Kind]) -> None:
    from matplotlib.lines import Line2D

    forms = {
        "example": {"marker": "o"},
        "query mention": {"marker": "o", "markerfacecolor": "white"},
        "false positive": {"marker": "x", "markeredgewidth": 1.4},
    }
    handles = [
        Line2D([], [], color=style.INK, linestyle="", label=kind, **forms[kind])  # type: ignore[arg-type]
        for kind in KINDS
        if kind in kinds
    ]
    handles.append(
        Line2D([], [], color=style.INK, linestyle="", marker="+", markersize=7, label="prototype")
    )
    figure.legend(handles=handles, loc="outside upper center", ncols=4, handletextpad=0.2)
