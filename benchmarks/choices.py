"""Writes results/choices.md, what each choice is worth: python benchmarks/choices.py [RESULTS]"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer

from spanproto.cli.main import in_one_sentence
from spanproto.data.files import atomic_writer
from spanproto.errors import DataError
from spanproto.experiments.carried_choices import (
    CUT_TITLES,
    FORM_TITLES,
    MORE_FORMS_LIKE,
    SHORTER,
    lenient,
)
from spanproto.experiments.choices import CHOSEN_ON, FIRST, KNOWN, TITLES
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.dense_choices import DENSE, DENSE_TITLES
from spanproto.experiments.foreign_choices import (
    FOREIGN_AS_FOR,
    FOREIGN_DOMAINS,
    FOREIGN_EPISODES,
    FOREIGN_TITLES,
    LONGER,
    foreign_column,
)
from spanproto.experiments.mapped_choices import MAPPED_TITLES
from spanproto.experiments.setups import read_score_file
from spanproto.experiments.systems import SEEDS
from spanproto.experiments.training_choices import (
    MAPPED,
    TRAININGS,
    TRIAL_EPISODES,
    TRIED_ON,
    TRIED_WITH,
    mapped,
)
from spanproto.paper.comparison import column_title
from spanproto.paper.page import NOT_RUN, Table
from spanproto.paper.scores import standard_error

RESULTS = Path(__file__).parent.parent / "results"
ON_INTER = "INTER 5-way 1-shot, two seeds"
TAKEN_OUT = {  # what did not pay, by its score and the one that has all but it
    ("foreign-shots", "foreign-fewer"): "a type the likelier, the more examples it has, by the "
    "root of their number",
    ("carried-nearest", "carried-as-fitted"): "half of what spans mean is how alike the nearest "
    "example of a type is",
    ("carried-nearest-shorter", "carried-shorter"): "the same, fine-tuned for fewer steps",
}
PAIRS = "all-settings-pairs", "all-settings"
PRODUCTS = "products of any two pieces of evidence weighed, too"


def measured(results: Path, column: str, choice: str) -> dict[str, Any] | None:
    """What was measured of a choice on the validation data of a column, if anything."""
    return score(results / "choices" / f"{column}-valid", choice)


def score(folder: Path, choice: str, seed: int = SEEDS[0]) -> dict[str, Any] | None:
    """What was measured of a choice on some episodes, if anything."""
    path = folder / f"{choice}.{seed}.json"
    if not path.exists():
        return None
    content = read_score_file(path)
    if not content.keys() >= {"micro", "span", "episode_f1", "episodes"}:
        raise DataError(f"{path}: lacks figures of a score; delete it to measure it again")
    return content


def entry(results: Path, column: str, choice: str) -> str:
    """F1, and how far it is from the first setting's."""
    protocol = KNOWN[choice].protocol if choice in KNOWN else None
    if protocol not in (None, COLUMNS[column].protocol):
        return ""
    found, first = (measured(results, column, name) for name in (choice, FIRST))
    if found is None or first is None:
        return NOT_RUN
    f1, reference = found["micro"]["f1"], first["micro"]["f1"]
    return f"{f1:.1f}" if choice == FIRST else f"{f1:.1f} ({f1 - reference:+.1f})"


def choices_table(results: Path, informed: bool = False) -> Table:
    """The choices by the support set alone, or those by more, on every column's validation data."""
    rows = [
        (title, [entry(results, column, name) for column in CHOSEN_ON])
        for name, title in TITLES.items()
        if (name in KNOWN and KNOWN[name].informed) == informed
    ]
    return Table(("", *(f"as for {column_title(column)}" for column in CHOSEN_ON)), rows)


def dense_table(results: Path) -> Table:
    """What SpanProto with words is made of, one part more in each row, on a dense domain."""
    rows = []
    for name, title in DENSE_TITLES.items():
        found = score(results / "choices" / DENSE.name, name)
        shown = [found[part]["f1"] for part in ("micro", "span")] if found else []
        rows.append((title, [f"{f1:.1f}" for f1 in shown] or [NOT_RUN, ""]))
    return Table(("", "F1", "of boundaries alone"), rows)


def trainings_table(results: Path) -> Table:
    """What trainings give on INTER with each seed, told which sentences are complete."""
    rows = []
    for name, training in TRAININGS.items():
        found = [trained(results, name, seed) for seed in TRIED_WITH]
        shown = [NOT_RUN if one is None else f"{one['micro']['f1']:.1f}" for one in found]
        known = [one for one in found if one is not None]
        means = [
            f"{fmean(one[part]['f1'] for one in known):.1f}" if len(known) == len(found) else ""
            for part in ("micro", "span")
        ]
        rows.append((training.title, [*shown, *means]))
    seeds = [f"F1, seed {seed}" for seed in TRIED_WITH]
    return Table(("", *seeds, "mean F1", "of boundaries alone, mean"), rows)


def trained(
    results: Path, training: str, seed: int, table: str = "trainings"
) -> dict[str, Any] | None:
    """What was measured of a training with a seed, if anything."""
    return score(results / table / f"{TRIED_ON}-valid", training, seed)


def maps_table(results: Path) -> Table:
    """What a map gives there: F1 of the same training without it → with it, for each seed."""
    rows = [
        (
            TRAININGS[name].title,
            [
                change(*([trained(results, one, seed, "maps")] for one in (name, mapped(name))))
                for seed in TRIED_WITH
            ],
        )
        for name in MAPPED
    ]
    return Table(("", *(f"seed {seed}" for seed in TRIED_WITH)), rows)


def foreign_table(results: Path) -> Table:
    """What the decision gains or loses by more evidence, on domains that it is not fitted on."""
    return domains_table(results, FOREIGN_TITLES)


def cuts_table(results: Path) -> Table:
    """What thresholds other than the fitted one give there."""
    return domains_table(results, CUT_TITLES)


def forms_table(results: Path) -> Table:
    """What else than the threshold may be changed gives there, with five shots."""
    fitted = lenient(0)
    titles = {fitted: CUT_TITLES[fitted], **FORM_TITLES}
    return domains_table(results, titles, [MORE_FORMS_LIKE])


def taken_out_table(results: Path) -> Table:
    """What is no longer in the code since it did not pay: F1 without it → with it."""
    both = [[trained(results, name, seed) for seed in TRIED_WITH] for name in reversed(PAIRS)]
    rows = []
    if None not in (*both[0], *both[1]):
        rows.append((PRODUCTS, [ON_INTER, change(*both)]))
    for (choice, without), title in TAKEN_OUT.items():
        for like, extent in FOREIGN_AS_FOR.items():
            pairs = [
                (before, after)
                for domain in FOREIGN_DOMAINS
                if (after := on_domain(results, like, domain, choice)) is not None
                and (before := on_domain(results, like, domain, without)) is not None
            ]
            if pairs:
                where = f"{len(pairs)} domains, {extent.shots}-shot"
                rows.append((title, [where, change(*zip(*pairs, strict=True))]))
    return Table(("", "judged on", "mean F1 without it → with it"), rows)


def change(before: Iterable[dict[str, Any] | None], after: Iterable[dict[str, Any] | None]) -> str:
    """The mean F1 of some scores, and that of others."""
    means = []
    for contents in map(list, (before, after)):
        if None in contents:
            return NOT_RUN
        means.append(f"{fmean(content['micro']['f1'] for content in contents if content):.1f}")
    return " → ".join(means)


def domains_table(
    results: Path, titles: Mapping[str, str], trained: Iterable[str] = FOREIGN_AS_FOR
) -> Table:
    """F1 of choices on each domain that no decision is fitted on, and the means over all."""
    ways = [(like, name) for like in trained for name in titles]
    figures = {
        domain.title: [foreign_f1(results, like, key, name) for like, name in ways]
        for key, domain in FOREIGN_DOMAINS.items()
    }
    rows = [
        (title, [NOT_RUN if f1 is None else f"{f1:.1f}" for f1 in row])
        for title, row in figures.items()
    ]
    columns = zip(*figures.values(), strict=True)
    rows.append(("mean", ["" if None in column else f"{fmean(column):.1f}" for column in columns]))
    heading = [f"{FOREIGN_AS_FOR[like].shots}-shot, {titles[name]}" for like, name in ways]
    return Table(("", *heading), rows)


def foreign_f1(results: Path, like: str, domain: str, choice: str) -> float | None:
    """The F1 of a choice on a domain, trained as for a column of the tables, if it is measured."""
    found = on_domain(results, like, domain, choice)
    return None if found is None else float(found["micro"]["f1"])


def on_domain(results: Path, like: str, domain: str, choice: str) -> dict[str, Any] | None:
    """What was measured of a choice on a domain, trained as for a column, if anything."""
    return score(results / "choices" / foreign_column(like, domain).name, choice)


def error_range(contents: Iterable[dict[str, Any] | None]) -> str:
    """The least and the greatest standard error over the episodes of what was measured."""
    errors = sorted(standard_error(content) for content in contents if content is not None)
    return " to ".join(dict.fromkeys(f"{one:.1f}" for one in errors[:1] + errors[-1:])) or NOT_RUN


def page(results: Path = RESULTS) -> str:
    """The whole page."""
    known = [measured(results, column, FIRST) for column in CHOSEN_ON]
    counts = [str(content["episodes"]) for content in known if content is not None]
    errors = [f"{standard_error(content):.1f}" for content in known if content is not None]
    of_trainings = error_range(
        trained(results, name, seed) for name in TRAININGS for seed in TRIED_WITH
    )
    of_domains = error_range(
        on_domain(results, like, domain, lenient(0))
        for like in FOREIGN_AS_FOR
        for domain in FOREIGN_DOMAINS
    )
    return f"""# What each choice is worth

F1 on {" and ".join(counts)} validation episodes: of OntoNotes, as for the cross-domain News column,
and of Few-NERD's dev types, as for INTER 5-way 1-shot. One thing is changed at a time in a first
setting, which is not that of the tables. In brackets the distance from the first setting. One seed,
MPNet-base; the standard error over the episodes is about {" and ".join(errors)}. A decision is
fitted on 32 more validation episodes. Of OntoNotes there are no other episodes in this benchmark:
they validate for News, Wiki and Social, and are the test episodes of the OntoNotes column.

{choices_table(results).to_markdown()}

With more information than the support set, and so not to be set beside the others, nor beside other
systems: the names of the types, or how query sets are drawn.

{choices_table(results, informed=True).to_markdown()}

How SpanProto with words is best trained on INTER, told which training sentences leave entities
unlabelled: F1 on {TRIAL_EPISODES} episodes of the dev types, 5-way 1-shot, with each of two seeds;
not fine-tuned, decision fitted on 96 more. Where entities are unlabelled, nothing is taken for no
entity but what overlaps a labelled one; in the other sentences all spans apart from entities are,
or a third of them. The tables have *boundaries learned from complete sentences alone*. The standard
error over the episodes is {of_trainings}; all trainings are scored on the same ones.

{trainings_table(results).to_markdown()}

What a map of what spans mean gives there that is learned from the training sentences (see
`docs/adaptation.md`): F1 without it → with it, on the same episodes. Each training was done once
more for that, and serves both; that two of the same settings and seed are not alike shows beside
the table above.

{maps_table(results).to_markdown()}

On a domain unlike these: episodes of five types drawn from GENIA, whose entities are nouns of every
kind, with five examples of each type; trained as for Wiki 5-shot, decision fitted on OntoNotes. One
part more in each row.

{dense_table(results).to_markdown()}

What the decision of SpanProto with words should weigh where it is not fitted: F1 on
{FOREIGN_EPISODES} episodes of all types of a domain, trained as for Wiki, decision fitted on
OntoNotes. Either to all evidence (boundary, type, what spans mean, what the words say, and the
boundary before fine-tuning), or to fewer, as in the tables: without the last two. *Longer* is the
latter, fine-tuned for {LONGER:g} times the steps.

{foreign_table(results).to_markdown()}

Whether the threshold that is fitted on OntoNotes suits these domains: F1 on the same episodes with
the threshold as it is fitted, and so much lower or higher in log-odds. The rest is as in the tables
(*fewer*), trained once more; all cuts are had from the same fine-tuned copies. The standard error
over the episodes of a domain is {of_domains}.

{cuts_table(results).to_markdown()}

What else may be changed for five shots, on the same episodes, the threshold as fitted. *Shorter* is
fine-tuned for {SHORTER:g} times the steps; *trained on more* is trained on the benchmark's episodes
of one shot and of five, and *two trainings averaged* is the mean of one on either.

{forms_table(results).to_markdown()}

What a map of what spans mean gives there that is learned from the training sentences, of ten types
in all, some of which are those of the domains, as `person`: added to the two cosines at half their
weight or at the same one, or left out, from the same fine-tuned copies. What it adds makes the
whole weigh up to half as much again, so the two cosines are tried so heavy without it, too. With
five shots they are trained on the episodes of one shot, too.

{domains_table(results, MAPPED_TITLES).to_markdown()}

Taken out of the code again, since they did not pay, on the same episodes. The domains are those for
which both were run; the code is that of the commits which the score files name.

{taken_out_table(results).to_markdown()}

`make results-choices` measures the rest; the files in `choices/`, `trainings/` and `maps/` name the
command, commit, seed, data and hardware.
"""


def main(results: Annotated[Path, typer.Argument(help="Folder of the scores.")] = RESULTS) -> None:
    """Write the page beside the scores."""
    if not any(any((results / part).glob("*/*.json")) for part in ("choices", "trainings", "maps")):
        raise DataError(
            f"{results}: no scores of choices in it; give the folder with what "
            "benchmarks/results.py has written"
        )
    with atomic_writer(results / "choices.md") as stream:
        stream.write(page(results))


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
