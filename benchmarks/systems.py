"""Writes results/systems.md, every system under one roof: python benchmarks/systems.py [RESULTS]

No score is typed here; published ones come from `spanproto.paper.published`.
"""

from pathlib import Path
from typing import Annotated

import typer
from system_distances import distance_tables, reference_gains, settings_table
from system_figures import BENCHMARKS, LEVEL, RESULTS, benchmark_table, broadly, level
from system_given_up import given_up_table, repeated_table
from system_trainings import (
    foreign_table,
    gained_on_half,
    length_table,
    repeats,
    schedule_table,
    tuning_table,
    validation_episodes,
    variant_table,
    without_gpu,
)

from spanproto.cli.main import in_one_sentence
from spanproto.data.files import atomic_writer
from spanproto.errors import DataError
from spanproto.experiments.foreign_choices import FOREIGN_EPISODES
from spanproto.paper.scores import Scores


def page(results: Path = RESULTS) -> str:
    """The whole page."""
    scores = Scores(results)
    tables = "\n\n".join(
        f"## {title}\n\n{table.to_markdown()}\n\n{level(scores, columns)}"
        for title, columns in BENCHMARKS.items()
        for table in [benchmark_table(scores, columns)]
    )
    distances = "\n\n".join(table.to_markdown() for table in distance_tables(scores))
    settings, schedules, lengths_tried, variants, repeated, tuning, foreign, given_up = (
        table(scores).to_markdown()
        for table in (
            settings_table,
            schedule_table,
            length_table,
            variant_table,
            repeated_table,
            tuning_table,
            foreign_table,
            given_up_table,
        )
    )
    return f"""# Every system, one encoder, one protocol

Pooled micro F1 on all test episodes, measured here; in brackets what Wang et al. (EMNLP 2022) print
for the system, on BERT-base and the full training data. {scores.described()}
All systems share encoder, training data, episodes and scoring; a figure with a spread is a mean
over three seeds, and the spread their standard deviation. Few-NERD episodes are drawn anew
(500 a column) and 13 % of its training sentences are at hand. No system is handed gold spans.

They do not share how much was tried. The lengths and rates of the others were chosen among a few on
validation data, and their other settings are their authors', but for how many episodes a step has
and what `docs/methods.md` says of each. Of SpanProto {settings_tried(results)}
settings were tried on that data or on domains of no column (`choices.md`), and more in trials whose
scores were not kept. A *fitted* decision has seen the labels of 32
validation episodes (with words, on Few-NERD, of 96), which no other system has. *SpanProto* itself
is not the paper's to the letter: its threshold is 0.5, nothing is rejected by the margin, the
extractor learns from query sentences, too, and sees 30 % of the spans apart from entities.
*Adapted*, it keeps a support span out of its own prototype while it is fine-tuned, and in
prediction the weights before the fine-tuning are asked, too: probabilities of types and distances
are the means of both. No other system that is fine-tuned has these two, and the second gives more
on Few-NERD than the fine-tuning itself (`choices.md`). *With words* goes beyond the paper, with
what no other system was tried with: what single words are is learned, too, and on Few-NERD weighed;
a span's score is corrected by those around it; the pretrained encoder is asked what spans mean;
across domains the encoder has its first 8 of 12 layers alone; and on Few-NERD the letter case of
words is read, which the encoder's tokenizer hides from all others. On INTER it also knows more than
the others (‡, below).{broadly(scores)}
{reference_gains(scores)}
Some test episodes had been scored before, under settings [given up](#given-up) for what did better
on validation data or, of the names that L-TapNet+CDT reads, for what its authors do. (How long it
trains on INTER with one shot was judged with names as they stand; `location-GPE` alone would be
another.) The cells come from several commits, between which batches were packed in another way. How
far apart F1 on the OntoNotes episodes is when the same training is run again with the same seed,
once or twice, in points: {repeats(scores)}.
Fitted decisions cut where F1 was best on their validation episodes; those with words, measured
last, at the mean of all thresholds that are about as good, as the code does now, which is steadier.

A mean over columns has its standard error beside it, ±, which is made of two, as the root of the
sum of their squares. One is over episodes: in a column the standard deviation of the F1 of single
episodes, divided by the root of their number (of the pooled F1 it is an estimate), and columns are
taken as independent. The other is over seeds, where there are several: the standard deviation of
their means, divided by the root of their number. With one seed it is not known, and not in it. Two
systems whose means differ by less than about {LEVEL} times that, the larger of the two, are level;
since they are scored on the same episodes, their difference is steadier than this says.

`make results-baselines` fills the JSON files in `results/`, which name the command, commit, seed,
data and hardware of each figure, and writes this page from them.

{tables}

† In this benchmark (Hou et al., ACL 2020) each domain has one set of episodes. Those of OntoNotes
validate for the other three columns, and settings were chosen on them; so this column tests what
has been seen. Those of News validate for OntoNotes. The order of the rows, and what is level, go by
the mean without OntoNotes.

‡ Half of INTER's training sentences leave entities unlabelled, of dev and test types, and all other
systems take these for none. SpanProto with words is told which half that is, by a corpus in which
all types are labelled, though not where these entities are, nor of what types; it learns boundaries
from the other half alone, where it takes every other span for no entity. What it has where it must
find such entities itself stands among what was [given up](#given-up), as *with doubts of its own*;
*boundaries learned from all* is told the same, and takes nothing in these sentences for no entity
but what overlaps a labelled one, and in the others a third of what overlaps none.

## Above or below ProtoBERT

The distance from ProtoBERT in each column that both have a published figure for, and the means over
these columns: published → measured. Of SpanProto the published figure is that of the paper, whether
it is adapted here or not.

{distances}

## Trained as SpanProto is

ProtoBERT with the last layer in place of the sum of the last four, no dropout and SpanProto's
schedule, and NNShot and StructShot with its weights: F1 under their own settings → trained so, for
the same seeds. Nothing was chosen by it.

{settings}

## How they trained

Their own schedules are longer, most of them by far (but for CONTaiNER, whose authors make one pass
over the sentences), so that most rates are higher here; they fall
linearly to 0. The last column has their authors' steps, batch and rate, as far as these are known.
NNShot and StructShot use ProtoBERT's weights. With five shots a step of L-TapNet+CDT holds but one
episode.

{schedules}

Whether a training is long enough is seen beside trainings of half and of twice the length: F1 on
validation episodes, one seed ({validation_episodes(scores)}).
Trainings for five shots are judged on Few-NERD alone: across domains this benchmark has no
five-shot episodes but those of the tests. With one shot it is the training of News that is judged;
Wiki and Social have other training data, and the same schedule.
{gained_on_half(scores)}

{lengths_tried}

## Other settings that were tried

F1 on the same validation episodes, and on those of the OntoNotes column, which are 128 of News and
tested on in that one: nothing was chosen by them. One seed. Blank: not tried.
{without_gpu(scores)}

{variants}

Those of L-TapNet+CDT were run twice: F1 then → now, one seed. Then all but the first read types'
names as they stand in the data, and now the last alone does; anchors alone read none.

{repeated}

## How they are fine-tuned to a support set

{tuning}

What DecomMeta gains by more steps with five shots, where no table tests: F1 on {FOREIGN_EPISODES}
episodes of all types of a domain, trained as for Wiki, one seed. Nothing was chosen by it.

{foreign}

## Given up

F1 on test episodes under settings that were given up → under those that took their place, for the
same seeds; the files are in `given-up/`. What was *the same, run before* had no other setting: it
was run again by later code, and the later score stands. At 1e-4 the typing network of DecomMeta
collapsed with one seed across domains. Two earlier settings of SpanProto, of which no files are
kept, were scored on some of the test episodes, too.

{given_up}
"""


def settings_tried(results: Path) -> int:
    """The number of settings of SpanProto that were scored where no table tests."""
    folders = ("choices/*", "trainings/*", "maps/*")
    paths = [path for folder in folders for path in results.glob(f"{folder}/*.json")]
    return len({path.name.rsplit(".", 2)[0] for path in paths})


def main(results: Annotated[Path, typer.Argument(help="Folder of the scores.")] = RESULTS) -> None:
    """Write the page beside the scores."""
    if not any((results / "baselines").glob("*/*.json")):
        raise DataError(
            f"{results}: no scores of other systems in it; give the folder with what "
            "benchmarks/results.py has written"
        )
    with atomic_writer(results / "systems.md") as stream:
        stream.write(page(results))


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
