"""Scores on test episodes under settings that were given up, beside what took their place.

They lie in `results/given-up/COLUMN/SCORING.SEED.COMMIT.json`, as they were measured.
"""

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean
from typing import Any, NamedTuple

from system_figures import BENCHMARKS, SYSTEMS
from system_trainings import shown_rate

from spanproto.experiments.variants import VARIANTS
from spanproto.paper.comparison import column_title
from spanproto.paper.page import NOT_RUN, Table
from spanproto.paper.scores import F1, Scores

FOLDER = "given-up"
COLUMNS = tuple(column for columns in BENCHMARKS.values() for column in columns)
FORMS = {  # of SpanProto with words
    "3cb3048": "in its first form",
    "ed13c6b": "in its second form",
    "f265e0a": "with doubts of its own",
    "6843406": "boundaries learned from all",
}
RENAMED = {  # what variants were called when names stood as they are in the tables' settings
    "l-tapnet-cdt-written": "l-tapnet-cdt-tables",
    "l-tapnet-cdt-tables": "l-tapnet-cdt-as-they-stand",
}
# Places, and what a training without validation episodes makes nothing of.
_NO_MATTER = {"output", "device", "encoder", "keep", "validate_every"}
REPEATED_ON = ("news-1", "ontonotes-1")  # whose validation episodes variants were scored on twice


class GivenUp(NamedTuple):
    """One score, and under what setting it came about."""

    scoring: str
    seed: int
    setting: str
    f1: float


def given_up_table(scores: Scores) -> Table:
    """Each setting in a row: F1 in the columns that were scored under it → in its place."""
    rows: dict[tuple[str, str], dict[str, list[GivenUp]]] = defaultdict(dict)
    for column in COLUMNS:
        for one in _scores_of(scores, column):
            key = (one.scoring, one.setting)
            rows[key].setdefault(column, []).append(one)
    shown = [
        (
            f"{SYSTEMS[scoring]}, {setting}",
            [_entry(scores, column, found.get(column, [])) for column in COLUMNS],
        )
        for (scoring, setting), found in sorted(rows.items(), key=_order)
    ]
    return Table(("", *map(column_title, COLUMNS)), shown)


def repeated_table(scores: Scores) -> Table:
    """Each variant that was scored on validation episodes twice in a row: F1 then → now."""
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for column in REPEATED_ON:
        folder = f"{column}-valid"
        for path in sorted((scores.results / FOLDER / folder).glob("*.json")):
            then, seed, _ = path.name.removesuffix(".json").rsplit(".", 2)
            name = RENAMED.get(then, then)
            now = scores.results / "schedules" / folder / f"{name}.{seed}.json"
            if name in VARIANTS and now.exists():
                both = (scores.load(one)["micro"]["f1"] for one in (path, now))
                rows[name][column] = " → ".join(f"{f1:.1f}" for f1 in both)
    shown = [
        (variant.title, [rows[name].get(column, "") for column in REPEATED_ON])
        for name, variant in VARIANTS.items()
        if name in rows
    ]
    return Table(("", *(f"as for {column_title(column)}" for column in REPEATED_ON)), shown)


def _order(row: tuple[tuple[str, str], Any]) -> tuple[int, str]:
    scoring, setting = row[0]
    return list(SYSTEMS).index(scoring), setting


def _entry(scores: Scores, column: str, several: list[GivenUp]) -> str:
    """The mean of those seeds, and that of the same seeds now."""
    if not several:
        return ""
    (scoring,) = {one.scoring for one in several}
    now = scores.values(column, scoring, *F1, seeds={one.seed for one in several})
    after = f"{fmean(now):.1f}" if len(now) == len(several) else NOT_RUN
    return f"{fmean(one.f1 for one in several):.1f} → {after}"


def _scores_of(scores: Scores, column: str) -> Iterator[GivenUp]:
    for path in sorted((scores.results / FOLDER / column).glob("*.json")):
        scoring, seed, commit = path.name.removesuffix(".json").rsplit(".", 2)
        if scoring not in SYSTEMS:
            continue
        content = scores.load(path)
        setting = FORMS.get(commit) if scoring.startswith("words") else _setting(content)
        now = scores.files(column, scoring).get(int(seed))
        if now is not None and _alike(scores.load(now), content):
            setting = f"{setting}: the same, run before"
        yield GivenUp(scoring, int(seed), setting or commit, content["micro"]["f1"])


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether trainings, models and fine-tunings are the same in all settings that both tell of."""

    def parts(content: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        origin, config = (content["model"][name] for name in ("origin", "config"))
        written_out = {"spelled_out": False, **config}  # as it was before it could be set
        return origin["training_config"], written_out, content["adaptation"] or {}

    return all(
        there[key] == here[key]
        for there, here in zip(parts(one), parts(other), strict=True)
        for key in (there.keys() & here.keys()) - _NO_MATTER
    )


def _setting(content: dict[str, Any]) -> str:
    """How long it trained, at which rate, and what else was set of it."""
    training = content["model"]["origin"]["training_config"]
    heat = content["model"]["config"].get("temperature")
    parts = [f"{training['steps']} steps", shown_rate(training["learning_rate"])]
    if content["scoring"] == "structshot":
        parts.append(f"temperature {heat:g}")
    written_out = content["model"]["config"].get("spelled_out", False)
    if content["scoring"] == "l-tapnet-cdt" and not written_out:
        parts.append("names as they stand")
    return ", ".join(parts)
