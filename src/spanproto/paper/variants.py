"""SpanProto with one thing changed, scored as trained and fine-tuned to each support set."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS, Column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import PAPERS_DECISION, SEEDS, spanproto_cell
from spanproto.paper import published, quick
from spanproto.paper.recipe import Bench

PLAIN, FITTED, ADAPTED = "spanproto", "spanproto-fitted", "spanproto-adapted"
RELEASED = "spanproto-released"
WHOLE = PAPERS_DECISION  # SpanProto as in the main tables, with its own threshold
SWEEP_COLUMNS = ("inter-5w1", "news-1")  # where ablations and sweeps are run by default
# Of trainings with other T': after the longest one come as many steps as the main tables have.
STEPS = (
    int(max(published.SCOPE["T'"])) + spanproto_cell("news-1", SEEDS[0]).run["training"]["steps"]
)


def places_of(bench: Bench, columns: Iterable[str]) -> list[tuple[str, int]]:
    """Each column, of those asked for or else the given ones, with each seed."""
    own = [column for column in columns if not bench.quick or column in quick.COLUMNS]
    asked = [column for column in bench.columns if column in COLUMNS]  # others are no benchmark's
    return [(column, seed) for seed in bench.seeds for column in (asked or own)]


def sweep_places(bench: Bench, among: Container[str] = COLUMNS) -> list[tuple[str, int]]:
    """The same for an ablation or a sweep among some columns; in the quick form it has one."""
    own = [column for column in SWEEP_COLUMNS if column in among]
    places = places_of(bench, own[-1:] if bench.quick else own)
    return [place for place in places if place[0] in among]


def varied(
    column: str,
    seed: int,
    name: str,
    model: Mapping[str, Mapping[str, Any]],
    scorings: Sequence[Scoring],
    training: Mapping[str, Any] | None = None,
) -> Cell:
    """SpanProto's cell with other settings of the model's sections and of the training."""
    return spanproto_cell(column, seed).retrained(name, model, training or {}, scorings)


def own_cell(
    column: Column,
    shots: int,
    seed: int,
    scorings: Callable[[str], Sequence[Scoring]],
    *,
    shortened: bool,
) -> OwnCell:
    """SpanProto of the cross-domain tables on a column of a recipe's own.

    It is trained and fine-tuned as for Wiki, and has no validation data to fit a decision on.
    """
    like = f"wiki-{shots}"
    cell = replace(spanproto_cell(like, seed), column=column.name, scorings=tuple(scorings(like)))
    return OwnCell(column, quick.shortened(cell) if shortened else cell)


def both(
    column: str, name: str, configure: Sequence[str] = (), deciding: Sequence[str] = ()
) -> list[Scoring]:
    """A score of the model as trained, and one fine-tuned as SpanProto is in the main tables.

    Both by the paper's decision: what a threshold or a margin does would be lost in a fitted one.
    """
    plain = Scoring(name, configure=configure, deciding=deciding)
    return [plain, replace(plain, name=adapted(name), adaptation=adaptation_of(column))]


def adapted(name: str) -> str:
    """The name of a scoring's fine-tuned twin."""
    return f"{name}-adapted"


def fine_type(label: str) -> str:
    """The part of a Few-NERD type that tells it from others, such as `car` of `product-car`."""
    return label.partition("-")[2] or label


def adaptation_of(column: str) -> Mapping[str, Any] | None:
    """How SpanProto is fine-tuned in a column of the main tables."""
    scorings = spanproto_cell(column, SEEDS[0]).scorings
    return next(scoring.adaptation for scoring in scorings if scoring.name == ADAPTED)
