"""Spans of one episode among the prototypes: where a trained model puts them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spanproto.data.types import Episode
from spanproto.experiments.cells import Cell
from spanproto.experiments.scoring import Scoring
from spanproto.paper import quick
from spanproto.paper.comparison import column_title
from spanproto.paper.page import Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import PLAIN, fine_type, varied

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from spanproto.methods.base import Method
    from spanproto.plots.prototypes import PlacedSpans, SpanPoint

COLUMN, SCORING = "inter-5w5", "span-map"


class SpanMap(Recipe):
    """t-SNE of the span representations of one episode, with the prototypes as circles."""

    name = "span-map"
    title = "Spans among the prototypes"
    place = "Figure 5 (fig:visualization)"
    pictures: Mapping[str, str] = {
        "span-map": "Spans of an episode among the prototypes, by t-SNE and by their real distance"
    }

    def cells(self, bench: Bench) -> list[Cell]:
        """SpanProto as in the main table, looked at rather than scored."""
        column = quick.COLUMNS[0] if bench.quick else COLUMN
        look = Scoring(SCORING, look=look_at_spans)
        return [varied(column, seed, PLAIN, {}, [look]) for seed in bench.seeds]

    def page(self, scores: Scores) -> Page:
        """How many spans lie within r of the prototype of their type, by kind."""
        content = _measured(scores)
        column = COLUMN if content is None else content["column"]
        setting = f"The first test episode of Few-NERD {column_title(column)}. {_READING}"
        if content is None:
            return Page(f"{setting} {scores.described()}", [])
        placed = _placed(content)
        table = Table(("spans", "number", "within r"), _within(placed))
        return Page(f"{setting} {scores.described()}", [table], [_remark(placed)])

    def figures(self, scores: Scores) -> "Mapping[str, Figure]":
        """The map, and beside it the real distances."""
        from spanproto.plots.prototypes import prototypes_figure

        content = _measured(scores)
        return {} if content is None else {"span-map": prototypes_figure(*_placed(content))}


_READING = (
    "t-SNE keeps neighbours and no distances, so the picture has the real ones beside it. A false "
    "positive is counted for the type that it was given."
)


def look_at_spans(model: "Method", episodes: Sequence[Episode]) -> dict[str, Any]:
    """The places of the spans of the first episode and of the prototypes."""
    import numpy as np

    from spanproto.model import SpanProto
    from spanproto.plots.prototypes import placed_spans

    assert isinstance(model, SpanProto)
    points, prototypes, radius = placed_spans(model, episodes[0])
    vectors = np.stack([*(point.vector for point in points), *prototypes.values()])
    return {
        "radius": radius,
        "types": list(prototypes),
        "labels": [point.label for point in points],
        "kinds": [point.kind for point in points],
        "places": in_own_axes(vectors).round(4).tolist(),  # of the spans, then of the prototypes
    }


def in_own_axes(vectors: "NDArray[np.floating]") -> "NDArray[np.floating]":
    """The vectors (P, d) in axes of the space that they span, (P, at most P): distances stay."""
    import numpy as np

    centred = vectors.astype(np.float64) - vectors.mean(0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    turned: NDArray[np.floating] = left * sizes
    return turned


def _measured(scores: Scores) -> dict[str, Any] | None:
    columns = (COLUMN, quick.COLUMNS[0])
    found = [content for column in columns for content in scores.read(column, SCORING)]
    return found[0] if found else None


def _placed(content: Mapping[str, Any]) -> "PlacedSpans":
    import numpy as np

    from spanproto.plots.prototypes import PlacedSpans, SpanPoint

    places = np.array(content["places"])
    known = zip(places, content["labels"], content["kinds"], strict=False)
    points = [SpanPoint(place, fine_type(label), kind) for place, label, kind in known]
    types = map(fine_type, content["types"])
    prototypes = dict(zip(types, places[len(points) :], strict=True))
    return PlacedSpans(points, prototypes, content["radius"])


class Share(NamedTuple):
    """So many of a number."""

    part: int
    number: int

    def __str__(self) -> str:
        """How many, and the share that this is."""
        return f"{self.part} ({self.part / self.number:.0%})"

    def to_dict(self) -> int:
        """How many; the number of all stands beside it."""
        return self.part


def _within(placed: "PlacedSpans") -> list[tuple[str, list[int | Share]]]:
    """A row for each kind of spans."""
    kinds = dict.fromkeys(point.kind for point in placed.points)
    rows: list[tuple[str, list[int | Share]]] = []
    for kind in kinds:
        near = [_is_within(point, placed) for point in placed.points if point.kind == kind]
        rows.append((f"{kind}s", [len(near), Share(sum(near), len(near))]))
    return rows


def _is_within(point: "SpanPoint", placed: "PlacedSpans") -> bool:
    import numpy as np

    distance = np.linalg.norm(point.vector - placed.prototypes[point.label])
    return bool(distance <= placed.radius)


def _remark(placed: "PlacedSpans") -> str:
    outside = []
    for kind in ("query mention", "false positive"):
        far = [not _is_within(point, placed) for point in placed.points if point.kind == kind]
        outside.append(f"{sum(far)} of the {len(far)} {kind}s")
    return (
        "The paper says that types cluster within circles of radius 2 and that most false "
        f"positives lie outside. Here r is {placed.radius:g}, as in training, and "
        f"{' and '.join(outside)} lie farther than r from the prototype of their type. These types "
        "are new: the margin loss has kept what is no mention away from prototypes of others."
    )
