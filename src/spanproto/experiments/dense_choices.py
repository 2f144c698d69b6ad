"""What SpanProto with words gains, part by part, on a domain unlike those of the benchmarks.

OntoNotes, which validates across domains, has names for entities, as training has. Wiki has nouns
of every kind. So has GENIA, of which the benchmarks make no column; five examples of each of its
types, as for Wiki with five shots, tell what suits such a domain. Decisions are fitted on
OntoNotes, as for the tables.
"""

from dataclasses import replace

from spanproto.experiments.choices import ALL_EVIDENCE
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.systems import (
    spanproto_cell,
    with_words,
    without_meaning,
    words_cell,
)

_AS_FOR = "wiki-5"
DENSE = replace(
    COLUMNS[_AS_FOR],
    name=f"{_AS_FOR}-genia",
    test_file="genia-nested/genia.dev.json",
    setting=(5, 5, 5),
)
DENSE_TITLES = {
    "dense": "SpanProto, adapted, decision fitted",
    "dense-words": "with words, learned and weighed, and dropout of 0.2",
    "dense-layers": "and the first 8 of 12 layers of the encoder alone",
    "dense-all-layers": "and all of these tuned, at half the rate for 60 steps, "
    "and the boundary before it counted",
    "dense-longer": "and for 100 steps",
    "dense-neighbours": "and scores of spans corrected by those around them",
    "dense-meaning": "and what spans mean to the pretrained encoder",
    "dense-fewer": "and neither words nor the boundary before it weighed: SpanProto with words",
}


def dense_cells(seed: int) -> list[OwnCell]:
    """The cells of the choices; those of one training are one cell."""
    table, words = spanproto_cell(_AS_FOR, seed), words_cell(_AS_FOR, seed)
    first = replace(table.scoring("spanproto-adapted"), name="dense")
    final = replace(words.scoring("words-adapted"), name="dense-fewer")
    meaning = replace(final, name="dense-meaning", evidence=ALL_EVIDENCE[DENSE.protocol])
    longer = without_meaning(meaning, "dense-longer")
    shorter = replace(
        longer, name="dense-all-layers", adaptation={**(longer.adaptation or {}), "steps": 60}
    )
    unaware = {"extractor": {"neighbours": False}}
    cells = [
        table.retrained("dense", {}, {}, [first]),
        words.retrained(
            "dense-words",
            {**unaware, "encoder": {"layers": None}},
            {},
            [with_words(first, "dense-words")],
        ),
        words.retrained(
            "dense-layers", unaware, {}, [with_words(first, "dense-layers"), shorter, longer]
        ),
        replace(
            words,
            system="dense-neighbours",
            scorings=(without_meaning(meaning, "dense-neighbours"), meaning, final),
        ),
    ]
    return [OwnCell(DENSE, replace(cell, column=DENSE.name)) for cell in cells]
