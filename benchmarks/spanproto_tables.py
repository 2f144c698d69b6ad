"""Writes results/spanproto.md, SpanProto beside what is published.

    python benchmarks/spanproto_tables.py [RESULTS]

No score is typed here; published ones come from `spanproto.paper.published`.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated

import typer
from system_figures import (
    TOLD_MARK,
    TRAINED_BROADLY,
    broadly,
    marked_title,
    told_more,
    was_run,
)
from system_given_up import FOLDER, FORMS

from spanproto.cli.main import in_one_sentence
from spanproto.data.files import atomic_writer
from spanproto.errors import DataError
from spanproto.experiments.setups import read_score_file
from spanproto.experiments.systems import CROSSDOMAIN_1, CROSSDOMAIN_5, INTER, INTRA
from spanproto.paper import published
from spanproto.paper.page import NOT_RUN, Table
from spanproto.paper.scores import F1, Scores

RESULTS = Path(__file__).parent.parent / "results"
BENCHMARKS = {
    "Cross-domain, 1-shot": CROSSDOMAIN_1,
    "Cross-domain, 5-shot": CROSSDOMAIN_5,
    "Few-NERD INTER": INTER,
    "Few-NERD INTRA": INTRA,
}
PUBLISHED = {"decommeta": "DecomMeta, published", "spanproto": "SpanProto, published"}
MEASURED = {
    "spanproto": "the paper's algorithm",
    "words-fitted": "with words, decision fitted",
    "words-adapted": "with words, adapted, decision fitted",
}
INFORMED = {
    f"{form}-{more}": f"{told}, with words, {trained}adapted, decision fitted"
    for form, trained in (("words", ""), ("broad", "trained broadly, "))
    for more, told in (("named", "told the types' names"), ("even", "told that types are even"))
}
SPAN_F1 = ("span", "f1")
ADAPTED = "words-adapted"
ADAPTED_ONES = {ADAPTED: "", "broad-adapted": ", trained broadly"}
OWN_DOUBTS = "f265e0a"  # the commit at which the model found for itself what is unlabelled
SEEN_NOTE = """\
† Settings were chosen on these episodes, which validate for the other columns; so this one tests
what has been seen."""
TOLD_NOTE = """\
‡ Told which half of the training sentences leaves entities unlabelled. *With doubts of its own* is
the system that is told nothing, and must find these entities itself."""
NOTES = {"Cross-domain, 1-shot": SEEN_NOTE, "Few-NERD INTER": TOLD_NOTE}  # below the tables
WHOLE, FEWER = (f"choices/news-1-valid/{name}.12.json" for name in ("final", "final-fewer"))
"""With all evidence, and without the words and the boundary before the fine-tuning."""


def published_figure(system: str, column: str) -> str:
    """What Wang et al. (EMNLP 2022) print."""
    figure = published.main_figure(system, column)
    return "" if figure is None else f"{figure:.2f}"


def measured_figure(scores: Scores, scoring: str, column: str, keys: Sequence[str]) -> str:
    """The mean over all seeds that were run, and their standard deviation."""
    values = scores.values(column, scoring, *keys)
    if not values:
        return NOT_RUN
    return with_spread(values) + (TOLD_MARK if told_more(scoring, column) else "")


def with_spread(values: Sequence[float]) -> str:
    """The mean over seeds and, of several, the standard deviation."""
    spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
    return f"{fmean(values):.2f}{spread}"


def benchmark_table(scores: Scores, columns: Sequence[str]) -> Table:
    """Published figures, then those measured here: F1, and that of the boundaries alone."""
    rows = [
        (title, [published_figure(system, column) for column in columns])
        for system, title in PUBLISHED.items()
    ]
    broad = {
        name: title for name, title in TRAINED_BROADLY.items() if was_run(scores, name, columns)
    }
    for keys, what in ((F1, ""), (SPAN_F1, ", boundaries alone")):
        for scoring, title in {**MEASURED, **broad}.items():
            figures = [measured_figure(scores, scoring, column, keys) for column in columns]
            rows.append((f"{title}{what}", figures))
    for scoring, title in INFORMED.items():
        if was_run(scores, scoring, columns):
            figures = [measured_figure(scores, scoring, column, F1) for column in columns]
            rows.append((title, figures))
    rows += own_doubts(scores, columns)
    for adapted, title in ADAPTED_ONES.items():
        if adapted == ADAPTED or adapted in broad:
            seeds = [str(len(scores.values(column, adapted, *F1))) for column in columns]
            rows.append((f"seeds of the adapted one{title}", seeds))
    return Table(("", *map(marked_title, columns)), rows)


def own_doubts(scores: Scores, columns: Sequence[str]) -> list[tuple[str, list[str]]]:
    """What it has where it is told nothing, and must find itself what is unlabelled, in a row.

    Of these scores files are kept among those given up.
    """
    kept: dict[str, dict[int, Path]] = {
        column: {
            int(path.name.split(".")[1]): path
            for path in (scores.results / FOLDER / column).glob(f"{ADAPTED}.*.{OWN_DOUBTS}.json")
        }
        for column in columns
    }
    seeds = sorted({seed for paths in kept.values() for seed in paths})
    if not seeds:
        return []
    found = [
        [scores.load(path)["micro"]["f1"] for _, path in sorted(paths.items())]
        for paths in kept.values()
    ]
    named = " and ".join(map(str, seeds))
    title = f"{MEASURED[ADAPTED]}, {FORMS[OWN_DOUBTS]} (seeds {named})"
    return [(title, [with_spread(f1) if f1 else NOT_RUN for f1 in found])]


def left_out(results: Path) -> str:
    """What the evidence that is left out across domains is worth on OntoNotes, as a clause."""
    if not all((results / name).exists() for name in (WHOLE, FEWER)):
        return ""
    whole, fewer = (read_score_file(results / name)["micro"]["f1"] for name in (WHOLE, FEWER))
    return (
        f";\non OntoNotes leaving these two out costs {whole - fewer:.1f} points of validation F1 "
        f"({whole:.1f} → {fewer:.1f}, `choices.md`)"
    )


def page(results: Path = RESULTS) -> str:
    """The whole page."""
    scores = Scores(results)
    tables = "\n\n".join(
        "\n\n".join(
            [
                f"## {title}",
                benchmark_table(scores, columns).to_markdown(),
                *([NOTES[title]] if title in NOTES else []),
            ]
        )
        for title, columns in BENCHMARKS.items()
    )
    return f"""# SpanProto beside what is published

Pooled micro F1 on all test episodes, means and standard deviations over seeds. {scores.described()}
The published figures are those of Wang et al. (EMNLP 2022), whose released evaluation hands the
gold spans in; whether these come from it is not known. Here no span is handed in.

*The paper's algorithm* is SpanProto as trained, but for what `systems.md` says of it. *With words*
goes beyond it: what single words are is learned, too; a span's score is corrected by those around
it; and the pretrained encoder is asked what spans mean. Across domains the encoder has its first 8
of 12 layers alone; on Few-NERD the letter case of words is read, and what single words are taken
for is weighed. On INTER half of the training sentences hold entities of dev and test types, which
have no labels there. Which half that is, is told (`benchmarks/partly_labelled.py`, by the corpus in
which all 66 types are labelled; where these entities are, and of what types, is not), and
boundaries are learned from the other half alone, where every other span is taken for no entity;
types are learned from both. Part of the cross-domain setting rests on trials whose scores were not
kept: that there are 8 layers, that all are tuned, that five shots have 100 steps, and that neither
what words say nor the boundary before the fine-tuning is weighed{left_out(results)}.
*Adapted* is fine-tuned to each support set: across domains all layers, 60 steps for one shot and
100 for five; on Few-NERD the top 6 layers, 20 steps. A *fitted* decision has seen the labels of 32
validation episodes, on Few-NERD of 96.{broadly(scores)}

Some rows know more than the support set says, and are not to be set beside the rest. *Told the
types' names*, the pretrained encoder is asked how alike a span and the name of a type are, too.
*Told that types are even*, the model sees a query set as a whole, and knows that each type has
about as many entities in it as the others. That is how Few-NERD draws query sets, and no gold label
is looked at; but it holds for no other text. On OntoNotes, whose query sets are not drawn so, the
same costs 6 points of validation F1 (`choices.md`). What differs from the
published setting: the encoder (BERT-base there), 500 steps of 4 episodes, and on Few-NERD the data:
episodes are drawn anew (500 a column), words have their capitals, which an uncased encoder does not
see, INTER trains on 13 % of its training sentences, and INTRA is made of 22,699 sentences in which
all 66 types are labelled.

{tables}

`make results-crossdomain` and `make results-fewnerd` fill the JSON files in `crossdomain/` and
`fewnerd/`, which name the command, commit, seed, data and hardware of each figure;
`benchmarks/spanproto_tables.py` writes this page from them.
"""


def main(results: Annotated[Path, typer.Argument(help="Folder of the scores.")] = RESULTS) -> None:
    """Write the page beside the scores."""
    if not any((results / folder).is_dir() for folder in ("crossdomain", "fewnerd")):
        raise DataError(
            f"{results}: no scores of SpanProto in it; give the folder with what "
            "benchmarks/results.py has written"
        )
    with atomic_writer(results / "spanproto.md") as stream:
        stream.write(page(results))


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
