"""How many of the entities that training sentences leave unlabelled are among the doubts on them.

    python benchmarks/doubts.py TRAIN DOUBTS COMPLETE -o results/doubts.json

TRAIN are training sentences, DOUBTS what `spanproto data doubts` wrote of them, and COMPLETE the
same sentences, among others, with all of their entities labelled, which nothing else looks at.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from spanproto.cli.main import in_one_sentence
from spanproto.data.files import atomic_writer
from spanproto.data.formats import read_sentences
from spanproto.data.types import Sentence
from spanproto.errors import DataError
from spanproto.provenance import provenance

Range = tuple[int, int]


def main(
    train: Annotated[Path, typer.Argument(help="Training sentences.")],
    doubts: Annotated[Path, typer.Argument(help="What may be unlabelled in them.")],
    complete: Annotated[Path, typer.Argument(help="All entities of the same sentences.")],
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("results/doubts.json"),
    seed: Annotated[int, typer.Option(help="Of the run that the doubts come from.")] = 12,
) -> None:
    """Count, and write the counts."""
    counts = counted(*(ranges_of(read_sentences(path)) for path in (train, doubts, complete)))
    made = provenance(seed, [train, doubts, complete])
    with atomic_writer(output) as stream:
        stream.write(json.dumps({**counts, "provenance": made}, indent=2) + "\n")
    print(counts)


def ranges_of(sentences: list[Sentence]) -> dict[tuple[str, ...], set[Range]]:
    """Where the entities of each sentence are; of those with the same words, of the first."""
    found: dict[tuple[str, ...], set[Range]] = {}
    for sentence in sentences:
        found.setdefault(sentence.words, {(span.start, span.end) for span in sentence.spans})
    return found


def counted(
    train: dict[tuple[str, ...], set[Range]],
    doubts: dict[tuple[str, ...], set[Range]],
    complete: dict[tuple[str, ...], set[Range]],
) -> dict[str, int]:
    """How many entities are labelled and not, and how many doubts meet the latter."""
    known = [words for words in train if words in complete]
    if not known:
        raise DataError("none of the training sentences is completely labelled; name its corpus")
    counts = dict.fromkeys(("labelled", "unlabelled", "doubtful", "exact", "touched"), 0)
    for words in known:
        hidden, found = complete[words] - train[words], doubts.get(words, set())
        counts["labelled"] += len(train[words])
        counts["unlabelled"] += len(hidden)
        counts["doubtful"] += len(found)
        counts["exact"] += len(hidden & found)
        counts["touched"] += sum(
            any(start < last and first < end for first, last in found) for start, end in hidden
        )
    return counts


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
