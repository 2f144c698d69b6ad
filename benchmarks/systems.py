"""Writes results/systems.md, every system under one roof: python benchmarks/systems.py [RESULTS]

No score is typed here; published ones come from `spanproto.paper.published`.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import typer

from spanproto.data.files import atomic_writer
from spanproto.experiments.schedules import (
    SHARES,
    TUNED_LONGER,
    lengths,
    trained_for,
    tuned_for,
)
from spanproto.experiments.systems import (
    CROSSDOMAIN_1,
    CROSSDOMAIN_5,
    PAPERS_DECISION,
    SEEDS,
    VALIDATED,
    compared_seeds,
)
from spanproto.methods import METHODS, method_named
from spanproto.methods.base import Method
from spanproto.paper import published
from spanproto.paper.comparison import column_title
from spanproto.paper.page import NOT_RUN, Table
from spanproto.paper.scores import Scores

RESULTS = Path(__file__).parent.parent / "results"
BENCHMARKS = {
    "Cross-domain, 1-shot": CROSSDOMAIN_1,
    "Cross-domain, 5-shot": CROSSDOMAIN_5,
    "Few-NERD INTER": ("inter-5w1", "inter-5w5"),
}
SYSTEMS = {
    **{name: entry.title for name, entry in METHODS.items() if name != "spanproto"},
    "spanproto": "SpanProto",
    "spanproto-fitted": "SpanProto, decision fitted",
    f"{PAPERS_DECISION}-adapted": "SpanProto, adapted",
    "spanproto-adapted": "SpanProto, adapted, decision fitted",
    "words-fitted": "SpanProto with words, decision fitted",
    "words-adapted": "SpanProto with words, adapted, decision fitted",
}
TRAINED = {
    **{name: title for name, title in SYSTEMS.items() if name in METHODS},
    "words-fitted": "SpanProto with words",
}
SCHEDULED = ("news-1", "news-5", "inter-5w1", "inter-5w5")  # one of each schedule
REFERENCE = "protobert"
SEEN = "ontonotes-1"  # the other columns' validation episodes


def published_figure(system: str, column: str) -> float | None:
    """What Wang et al. (EMNLP 2022) print for a system."""
    return published.main_figure(method_name(system), column)


def measured_figures(scores: Scores, system: str, column: str) -> list[float]:
    """F1 with each of the seeds that are wanted of every system in the column, as far as run."""
    files = scores.files(column, system)
    seeds = [seed for seed in compared_seeds(column) if seed in files]
    return [scores.load(files[seed])["micro"]["f1"] for seed in seeds]


def measured_figure(scores: Scores, system: str, column: str) -> float | None:
    """The mean F1 over the seeds."""
    values = measured_figures(scores, system, column)
    return fmean(values) if values else None


def entry(scores: Scores, system: str, column: str) -> str:
    """Measured F1, its spread over several seeds, and the published figure in brackets."""
    values = measured_figures(scores, system, column)
    shown = f"**{fmean(values):.2f}**" if values else NOT_RUN
    if len(values) > 1:
        shown += f" ± {stdev(values):.2f}"
    figure = published_figure(system, column)
    return shown if figure is None else f"{shown} ({figure:.2f})"


def benchmark_mean(scores: Scores, system: str, columns: Sequence[str]) -> float | None:
    """The mean over the columns, if all have been run."""
    figures = [measured_figure(scores, system, column) for column in columns]
    known = [figure for figure in figures if figure is not None]
    return fmean(known) if len(known) == len(figures) else None


def ranked(scores: Scores, columns: Sequence[str]) -> list[str]:
    """All systems that have been run on them, the best mean first, those without one last."""
    shown = [
        system for system in SYSTEMS if any(scores.files(column, system) for column in columns)
    ]
    means = {system: benchmark_mean(scores, system, columns) or 0.0 for system in shown}
    return sorted(shown, key=means.__getitem__, reverse=True)


def summary_table(scores: Scores) -> Table:
    """The mean of every system on each benchmark, in the order of the first."""
    rows = []
    for system in ranked(scores, CROSSDOMAIN_1):
        means = [benchmark_mean(scores, system, columns) for columns in BENCHMARKS.values()]
        shown = [NOT_RUN if mean is None else f"{mean:.1f}" for mean in means]
        rows.append((SYSTEMS[system], shown))
    return Table(("mean F1", *BENCHMARKS), rows)


def benchmark_table(scores: Scores, columns: Sequence[str]) -> Table:
    """All systems on the columns of a benchmark, the best mean first."""

    def shown(system: str) -> list[str]:
        figures = [entry(scores, system, column) for column in columns]
        average = benchmark_mean(scores, system, columns)
        return [*figures, "" if average is None else f"{average:.2f}"]

    rows = [(SYSTEMS[system], shown(system)) for system in ranked(scores, columns)]
    titles = [column_title(column) + (" †" if column == SEEN else "") for column in columns]
    return Table(("", *titles, "mean"), rows)


def gaps(scores: Scores, system: str, columns: Sequence[str]) -> str:
    """How far a system is above ProtoBERT: published, then measured, on the same columns.

    Nothing as long as one of these is not measured.
    """
    pairs = []
    for column in columns:
        theirs = [published_figure(name, column) for name in (system, REFERENCE)]
        ours = [measured_figure(scores, name, column) for name in (system, REFERENCE)]
        if None in theirs:
            continue
        if None in ours:
            return ""
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
    """How each system was trained, those that were."""
    rows = []
    for name, title in TRAINED.items():
        contents = [next(iter(scores.read(column, name)), None) for column in SCHEDULED]
        method = method_named(method_name(name))
        if any(contents) and method.trains_on is not None:
            shown = [_length(method, content) if content else "" for content in contents]
            rates = dict(method.training_defaults)
            own = shown_rate(rates["learning_rate"]) if "learning_rate" in rates else ""
            rows.append((title, [*shown, own]))
    return Table(("", *map(column_title, SCHEDULED), "its own rate"), rows)


def length_table(scores: Scores) -> Table:
    """What trainings of other lengths give on validation data."""
    rows = []
    for name in METHODS:
        if method_named(name).trains_on is None:
            continue
        contents = [next(iter(scores.read(column, name)), None) for column in VALIDATED]
        judged = [
            _validation(scores, name, column, content) if content else ""
            for column, content in zip(VALIDATED, contents, strict=True)
        ]
        if any(judged):
            rows.append((SYSTEMS[name], judged))
        if name in TUNED_LONGER:
            longer = [
                _tuned_longer(scores, name, column, content) if content else ""
                for column, content in zip(VALIDATED, contents, strict=True)
            ]
            steps = TUNED_LONGER[name]
            rows.append((f"{SYSTEMS[name]}, {steps} steps of fine-tuning, whole", longer))
    tried = " → ".join(SHARES)
    return Table(("", *(f"{tried}, {column_title(column)}" for column in VALIDATED)), rows)


def method_name(system: str) -> str:
    """The name of the method that a system is a form of."""
    return system if system in METHODS else "spanproto"


def _length(method: type[Method], content: dict[str, Any]) -> str:
    config = content["model"]["origin"]["training_config"]
    items = method.trains_on
    number, rate = config[f"{items}_per_step"], shown_rate(config["learning_rate"])
    each = f"{number} {items if number > 1 else items.removesuffix('s')}"
    return f"{config['steps']} steps of {each}, {rate}"


def shown_rate(rate: float) -> str:
    """A learning rate as papers write it, such as 1.5e-4."""
    digits, _, power = f"{rate:.1e}".partition("e")
    return f"{digits.removesuffix('.0')}e{int(power)}"


def _validation(scores: Scores, name: str, column: str, content: dict[str, Any]) -> str:
    """F1 on validation episodes after trainings of each length, where any is known."""
    steps = content["model"]["origin"]["training_config"]["steps"]
    judged = [_judged(scores, column, trained_for(name, tried)) for tried in lengths(steps)]
    return "" if set(judged) == {NOT_RUN} else " → ".join(judged)


def _tuned_longer(scores: Scores, name: str, column: str, content: dict[str, Any]) -> str:
    """F1 on validation episodes after a longer fine-tuning than the table's."""
    trained = trained_for(name, content["model"]["origin"]["training_config"]["steps"])
    return _judged(scores, column, tuned_for(trained, TUNED_LONGER[name]))


def _judged(scores: Scores, column: str, scoring: str) -> str:
    """F1 of a training on the validation episodes of a column, if it was run."""
    path = scores.results / "schedules" / f"{column}-valid" / f"{scoring}.{SEEDS[0]}.json"
    return f"{scores.load(path)['micro']['f1']:.1f}" if path.exists() else NOT_RUN


def tuning_table(scores: Scores) -> Table:
    """How each system is fine-tuned to support sets, those that are."""
    rows = []
    for name, title in SYSTEMS.items():
        contents = [next(iter(scores.read(column, name)), None) for column in SCHEDULED]
        method = method_named(method_name(name))
        shown = [_tuning(method, content["adaptation"]) if content else "" for content in contents]
        if any(shown):
            rows.append((title, shown))
    return Table(("", *map(column_title, SCHEDULED)), rows)


def _tuning(method: type[Method], config: dict[str, Any] | None) -> str:
    if config is None:
        return ""
    tuning = config["tuning"]
    top = f"top {tuning['top_layers']} layers"
    layers = {"top": top, "all": "all layers"}.get(tuning["tune"], tuning["tune"])
    heads = config["head_learning_rate"]
    rest = "" if heads is None else f", heads {shown_rate(heads)}"
    steps = f"{config['steps']} steps"
    if method.adapted is not Method.adapted:
        steps = f"until its loss rises, at most {steps}"
    return f"{steps}, {layers}, {shown_rate(config['learning_rate'])}{rest}"


def page(results: Path = RESULTS) -> str:
    """The whole page."""
    scores = Scores(results)
    tables = "\n\n".join(
        f"## {title}\n\n{benchmark_table(scores, columns).to_markdown()}"
        for title, columns in BENCHMARKS.items()
    )
    reference, schedules, lengths_tried, tuning = (
        table(scores).to_markdown()
        for table in (reference_table, schedule_table, length_table, tuning_table)
    )
    return f"""# Every system, one encoder, one protocol

Pooled micro F1 on all test episodes, measured here; in brackets what Wang et al. (EMNLP 2022) print
for the system, on BERT-base and the full training data. {scores.described()}
All systems share encoder, training data, episodes and scoring; a figure with a spread is a mean
over two or three seeds. Few-NERD episodes are drawn anew (500 a column) and 13 % of its training
sentences are at hand. No system is handed gold spans.

They do not share how much was tried. The lengths and rates of the others were chosen among a few on
validation data, and their other settings are their authors'; some thirty variants of SpanProto were
tried on that data (`choices.md`). A *fitted* decision has seen the labels of 32 validation
episodes (with words, on Few-NERD, of 96), which no other system has. *SpanProto* itself is not the
paper's to the letter: its threshold is 0.5, nothing is rejected by the margin, the extractor learns
from query sentences, too, and sees 30 % of the spans apart from entities. *With words* goes beyond
the paper, with what no other system was tried with: what single words are is learned and weighed,
too; a span's score is corrected by those around it; the pretrained encoder is asked what spans
mean; across domains the encoder has its first 8 of 12 layers alone; and on Few-NERD the letter case
of words is read, which the encoder's tokenizer hides from all others. ProtoBERT gains 10 to 12
points by settings like SpanProto's (`paper/ablation.md`), so that what is measured from it would be
less by as much.

Some test episodes had been scored before, under settings given up for what did better on validation
data: two of SpanProto; one of SpanProto with words (seed 12; its files are those of commit
f7785ca), which was better on Wiki with one shot and on News and Social with five than what took its
place; DecomMeta at 1e-4, where its typing network collapsed with one seed across domains, seen as
types no better than chance; CONTaiNER across domains for a quarter of the steps; and on Few-NERD a
shorter Matching Network, a longer ESD, and L-TapNet+CDT at 1.5e-4. The cells come from several
commits, between which batches were packed in another way. Of the same training, run again, ESD
differed by five points on the 100 OntoNotes episodes, L-TapNet+CDT by one, and the others by next
to nothing. A fitted decision cuts where F1 was best on its validation episodes; by now the code
takes the mean of all thresholds that are about as good, which is steadier.

`make results-baselines` fills the JSON files in `results/`, which name the command, commit, seed,
data and hardware of each figure, and writes this page from them.

{tables}

† In this benchmark (Hou et al., ACL 2020) each domain has one set of episodes. Those of OntoNotes
validate for the other three columns, and settings were chosen on them; so this column tests what
has been seen. Those of News validate for OntoNotes.

## Above or below ProtoBERT

The mean distance from ProtoBERT on the columns of which both are known: published → measured.

{reference}

## How they trained

Their own schedules are longer, most of them by far, so that most rates are higher here; they fall
linearly to 0. NNShot and StructShot use ProtoBERT's weights. With five shots a step of L-TapNet+CDT
holds but one episode.

{schedules}

Whether a training is long enough is seen beside trainings of half and of twice the length: F1 on
validation episodes (100 of OntoNotes, 128 of Few-NERD's dev types; the standard error is about 1.5
and 1.8), one seed. Trainings for five shots were not judged.

{lengths_tried}

## How they are fine-tuned to a support set

{tuning}
"""


def main(results: Annotated[Path, typer.Argument(help="Folder of the scores.")] = RESULTS) -> None:
    """Write the page beside the scores, if there are any."""
    if any((results / "baselines").glob("*/*.json")):
        with atomic_writer(results / "systems.md") as stream:
            stream.write(page(results))


if __name__ == "__main__":
    typer.run(main)
