"""Other settings of the compared systems, on validation data.

They tell why a system is not where its own paper puts it beside ProtoBERT, and what settings that
no paper gives are worth.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spanproto.experiments.choices import validation_column
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import VALIDATED, baseline_cells

VARIED_ON = (*VALIDATED, "ontonotes-1")  # this one's training is that of News, which validates it
_ACROSS_DOMAINS = tuple(name for name in VARIED_ON if COLUMNS[name].protocol == "crossdomain")
_ON_FEWNERD = tuple(name for name in VARIED_ON if COLUMNS[name].protocol == "fewnerd")
_HALF = {"train_share": 0.5}  # whose papers have eight times the sentences that are at hand


@dataclass(frozen=True)
class Variant:
    """A system of the tables with other settings."""

    system: str  # whose training it is but for what follows
    title: str
    model: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    adaptation: Mapping[str, Any] | None = None
    method: str | None = None  # another that is trained in the same way
    also: Mapping[str, str] = field(default_factory=dict)  # what the weights serve, and its title
    columns: tuple[str, ...] = VALIDATED

    @property
    def trained_as_in_tables(self) -> bool:
        """Whether the training is that of the tables, run again."""
        return not (self.model or self.training or self.data or self.method)


VARIANTS: dict[str, Variant] = {
    "protobert-tables": Variant(
        "protobert",
        "ProtoBERT, as in the tables",
        also={
            "nnshot": "NNShot, with these weights as in the tables",
            "structshot": "StructShot, with these weights as in the tables",
        },
    ),
    "nnshot-own-loss": Variant(
        "protobert",
        "NNShot, trained by the nearest words, too",
        {"loss": "nearest"},
        method="nnshot",
        also={"structshot": "StructShot, trained by the nearest words as NNShot"},
    ),
    "protobert-half-data": Variant(
        "protobert",
        "ProtoBERT, half of the training sentences",
        data=_HALF,
        also={
            "nnshot": "NNShot, with these weights of half of the sentences",
            "structshot": "StructShot, with these weights of half of the sentences",
        },
        columns=_ON_FEWNERD,
    ),
    "container-half-data": Variant(
        "container",
        "CONTaiNER, half of the training sentences",
        data=_HALF,
        columns=_ON_FEWNERD,
    ),
    "esd-half-data": Variant(
        "esd", "ESD, half of the training sentences", data=_HALF, columns=_ON_FEWNERD
    ),
    "container-2880": Variant(
        "container",
        "CONTaiNER, four times the steps",
        training={"steps": 2880},
        columns=(VALIDATED[0],),
    ),
    "l-tapnet-cdt-tables": Variant(
        "l-tapnet-cdt", "L-TapNet+CDT, as in the tables", columns=_ACROSS_DOMAINS
    ),
    "l-tapnet-cdt-alone": Variant(
        "l-tapnet-cdt",
        "L-TapNet+CDT, sentences encoded by themselves",
        {"pairwise": False},
        columns=_ACROSS_DOMAINS,
    ),
    "l-tapnet-cdt-no-names": Variant(
        "l-tapnet-cdt",
        "L-TapNet+CDT, anchors alone in place of names",
        {"anchor_share": 1.0},
        columns=_ACROSS_DOMAINS,
    ),
    "l-tapnet-cdt-prototypes": Variant(
        "l-tapnet-cdt",
        "L-TapNet+CDT, 0.7 of the prototype in a tag's reference",
        {"prototype_share": 0.7},
        columns=_ACROSS_DOMAINS,
    ),
    "l-tapnet-cdt-batch": Variant(
        "l-tapnet-cdt",
        "L-TapNet+CDT, four episodes a step",
        training={"episodes_per_step": 4},
        columns=_ACROSS_DOMAINS,
    ),
    "l-tapnet-cdt-as-they-stand": Variant(
        "l-tapnet-cdt",
        "L-TapNet+CDT, types' names as they stand in the data",
        {"spelled_out": False},
        columns=_ACROSS_DOMAINS,
    ),
    "token-classifier-tables": Variant("token-classifier", "token classifier, as in the tables"),
    "token-classifier-defaults": Variant(
        "token-classifier", "token classifier, by its defaults", adaptation={}
    ),
    "token-classifier-top": Variant(
        "token-classifier",
        "token classifier, top 6 layers, 60 steps, half the rates",
        adaptation={
            "steps": 60,
            "learning_rate": 5e-5,
            "head_learning_rate": 2.5e-3,
            "tuning": {"tune": "top", "top_layers": 6},
        },
    ),
}


def variant_cells(name: str, seed: int) -> list[OwnCell]:
    """The cell of each variant that is tried on the validation episodes of a column."""
    column = validation_column(COLUMNS[name])
    tables = {cell.system: cell for cell in baseline_cells(name, seed)}
    cells = []
    for key, variant in VARIANTS.items():
        if name not in variant.columns:
            continue
        cell = tables[variant.system]
        adaptation = cell.scorings[0].adaptation
        run = {
            "method": variant.method or cell.run["method"],
            "model": {**cell.run.get("model", {}), **variant.model},
            "training": {**cell.run["training"], **variant.training},
            "data": {**cell.run.get("data", {}), **variant.data},
        }
        scoring = Scoring(
            key, adaptation=adaptation if variant.adaptation is None else variant.adaptation
        )
        served = [Scoring(scored_as(key, method), method=method) for method in variant.also]
        cells.append(
            replace(
                cell,
                system=key,
                column=column.name,
                run=run,
                scorings=(scoring, *served),
                also=(),
            )
        )
    return [OwnCell(column, cell) for cell in cells]


def scored_as(variant: str, method: str) -> str:
    """What a variant is called where its weights serve another method."""
    return f"{variant}-{method}"


def scored_titles(key: str) -> dict[str, str]:
    """The title of a variant, and of what else its weights serve, by what each is called."""
    variant = VARIANTS[key]
    served = {scored_as(key, method): title for method, title in variant.also.items()}
    return {key: variant.title, **served}
