"""Writes results/systems.md, every system under one roof: python benchmarks/systems.py

No figure is typed here but published ones, which come from `spanproto.paper.published`.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from spanproto.experiments.systems import CROSSDOMAIN_1, CROSSDOMAIN_5, VALIDATED
from spanproto.methods import METHODS, method_named
from spanproto.paper import published
from spanproto.paper.comparison import column_title
from spanproto.paper.page import Table
from spanproto.paper.scores import Scores

RESULTS = Path(__file__).parent.parent / "results"
BENCHMARKS = {
    "Cross-domain, 1-shot": CROSSDOMAIN_1,
    "Cross-domain, 5-shot": CROSSDOMAIN_5,
    "Few-NERD INTER": ("inter-5w1", "inter-5w5"),
}
SYSTEMS = {
    **{name: entry.title for name, entry in METHODS.items() if name != "spanproto"},
    "spanproto": "SpanProto, not adapted",
    "spanproto-fitted": "SpanProto, not adapted, fitted decision",
    "spanproto-adapted": "SpanProto, adapted",
}
REFERENCE = "protobert"


def published_figure(system: str, column: str) -> float | None:
    """What Wang et al. (EMNLP 2022) print for a system."""
    name = system.partition("-adapted")[0].partition("-fitted")[0]
    for table in (published.MAIN_CROSSDOMAIN, published.MAIN_FEWNERD):
        if column in table.get(name, {}):
            return table[name][column]
    return None


def measured_figure(scores: Scores, system: str, column: str) -> float | None:
    """The mean F1 over the seeds."""
    values = scores.values(column, system, "micro", "f1")
    return fmean(values) if values else None


def entry(scores: Scores, system: str, column: str) -> str:
    """Measured F1, its spread over several seeds, and the published figure in brackets."""
    values = scores.values(column, system, "micro", "f1")
    shown = f"**{fmean(values):.2f}**" if values else "not run yet"
    if len(values) > 1:
        shown += f" ± {stdev(values):.2f}"
    figure = published_figure(system, column)
    return shown if figure is None else f"{shown} ({figure:.2f})"


def benchmark_table(scores: Scores, columns: Sequence[str]) -> Table:
    """All systems on the columns of a benchmark, the best mean first, those without one last."""

    def mean(system: str) -> float | None:
        figures = [measured_figure(scores, system, column) for column in columns]
        known = [figure for figure in figures if figure is not None]
        return fmean(known) if len(known) == len(figures) else None

    def shown(system: str) -> list[str]:
        figures = [entry(scores, system, column) for column in columns]
        average = mean(system)
        return [*figures, "" if average is None else f"{average:.2f}"]

    ranked = sorted(SYSTEMS, key=lambda system: mean(system) or 0.0, reverse=True)
    rows = [(SYSTEMS[system], shown(system)) for system in ranked]
    return Table(("", *map(column_title, columns), "mean"), rows)


def gaps(scores: Scores, system: str, columns: Sequence[str]) -> str:
    """How far a system is above ProtoBERT: published, then measured, on the same columns."""
    pairs = []
    for column in columns:
        theirs = [published_figure(name, column) for name in (system, REFERENCE)]
        ours = [measured_figure(scores, name, column) for name in (system, REFERENCE)]
        if None not in (*theirs, *ours):
            pairs.append((theirs[0] - theirs[1], ours[0] - ours[1]))  # type: ignore[operator]
    if not pairs:
        return ""
    there, here = (fmean(values) for values in zip(*pairs, strict=True))
    return f"{there:+.1f} → {here:+.1f}"


def reference_table(scores: Scores) -> Table:
    """Every system's distance from ProtoBERT on each benchmark."""
    others = [name for name in SYSTEMS if name != REFERENCE]
    rows = [
        (SYSTEMS[name], [gaps(scores, name, columns) for columns in BENCHMARKS.values()])
        for name in others
    ]
    return Table(("", *BENCHMARKS), [row for row in rows if any(row[1])])


def schedule_table(scores: Scores) -> Table:
    """How each system was trained, and how it did on validation data on the way."""
    rows = []
    for name in SYSTEMS:
        if name.startswith("spanproto-") or method_named(name).trains_on is None:
            continue
        contents = [next(iter(scores.read(column, name)), None) for column in VALIDATED]
        lengths = [_length(name, content) if content else "" for content in contents]
        curves = [_curve(content) if content else "" for content in contents]
        rows.append((SYSTEMS[name], [*lengths, *curves]))
    titles = [column_title(column) for column in VALIDATED]
    return Table(
        ("", *(f"training, {t}" for t in titles), *(f"validation, {t}" for t in titles)), rows
    )


def _length(name: str, content: dict[str, Any]) -> str:
    config = content["model"]["origin"]["training_config"]
    items = method_named(name).trains_on
    return f"{config['steps']} steps of {config[f'{items}_per_step']} {items}"


def _curve(content: dict[str, Any]) -> str:
    return ", ".join(f"{f1:.1f}" for f1 in content.get("validation", {}).values())


def page() -> str:
    """The whole page."""
    scores = Scores(RESULTS)
    tables = "\n\n".join(
        f"## {title}\n\n{benchmark_table(scores, columns).to_markdown()}"
        for title, columns in BENCHMARKS.items()
    )
    reference, schedules = (
        table(scores).to_markdown() for table in (reference_table, schedule_table)
    )
    return f"""# Every system, one encoder, one protocol

Pooled micro F1 on all test episodes, measured here; in brackets what Wang et al. (EMNLP 2022) print
for the system, on BERT-base and the full training data. {scores.described()}
All systems share encoder, training data, episodes and scoring; a figure with a spread is a mean
over several seeds. Few-NERD episodes are drawn anew (500 a column) and 13 % of its training
sentences are at hand. No system is handed gold spans. `make results-baselines`,
`make results-crossdomain` and `make results-fewnerd` fill the JSON files in `results/`, which name
the command, commit, seed, data and hardware of each figure; `make tables` writes this page from
them.

{tables}

## Above or below ProtoBERT

The mean distance from ProtoBERT on the columns of which both are known: published → measured.

{reference}

## How long they trained

Their own schedules are far longer. Of each, the F1 on 32 validation episodes is given after each
quarter of the training with the first seed: episodes of OntoNotes for the cross-domain columns, of
the dev types for Few-NERD. NNShot and StructShot use ProtoBERT's weights.

{schedules}
"""


if __name__ == "__main__" and any((RESULTS / "baselines").glob("*/*.json")):
    (RESULTS / "systems.md").write_text(page(), encoding="utf-8")
