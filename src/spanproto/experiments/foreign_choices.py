"""What the decision of SpanProto with words should weigh in domains that it is not fitted on.

It is fitted on OntoNotes, which validates across domains, and what pays there may be of that domain
alone. Six others, of which the benchmarks make no column, tell what carries over: episodes of all
types of a domain, with as many examples of each as for Wiki.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from spanproto.experiments.choices import ALL_EVIDENCE
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.domain_columns import DomainColumn
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.systems import words_cell


class Extent(NamedTuple):
    """How large an episode is."""

    shots: int
    queries: int


class Domain(NamedTuple):
    """What a domain is called, and where its labelled sentences are."""

    title: str
    file: str


FOREIGN_EPISODES = 12  # of a domain
FOREIGN_AS_FOR = {"wiki-1": Extent(1, 20), "wiki-5": Extent(5, 10)}  # whose training serves
FOREIGN_DOMAINS: Mapping[str, Domain] = {
    **{
        name.lower(): Domain(
            f"{name} (CrossNER, Liu et al.)", f"crossner-liu/{name.lower()}/test.txt"
        )
        for name in ("AI", "literature", "music", "politics", "science")
    },
    "flat-genia": Domain("GENIA, its outermost mentions", "genia-nested/genia.dev.json"),
}
FOREIGN_TITLES = {
    "foreign-all": "all",
    "foreign-fewer": "fewer",
    "foreign-longer": "longer",
}
LONGER = 1.6  # times the steps of fine-tuning


def foreign_column(like: str, domain: str) -> DomainColumn:
    """The episodes of a domain, for a training as for a column of the tables."""
    table, extent = COLUMNS[like], FOREIGN_AS_FOR[like]
    return DomainColumn(
        f"{like}-{domain}",
        table.protocol,
        table.data,
        FOREIGN_DOMAINS[domain].file,
        table.validation,
        shots=extent.shots,
        queries=extent.queries,
        episodes=FOREIGN_EPISODES,
    )


def foreign_cells(seed: int) -> list[OwnCell]:
    """A cell for each training, which serves all domains.

    The decision is fitted to all evidence, and to what it has in the tables; with the latter it is
    also fine-tuned longer.
    """
    cells = []
    for like in FOREIGN_AS_FOR:
        words = words_cell(like, seed)
        fewer = replace(words.scoring("words-adapted"), name="foreign-fewer")
        evidence = ALL_EVIDENCE[COLUMNS[like].protocol]
        everything = replace(fewer, name="foreign-all", evidence=evidence)
        assert fewer.adaptation is not None
        steps = round(LONGER * fewer.adaptation["steps"])
        longer = replace(
            fewer, name="foreign-longer", adaptation={**fewer.adaptation, "steps": steps}
        )
        cell = replace(words, system="foreign", scorings=(everything, fewer, longer))
        columns = [foreign_column(like, domain) for domain in FOREIGN_DOMAINS]
        cells.append(OwnCell.serving(columns, cell))
    return cells
