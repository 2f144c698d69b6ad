"""Training sentences that leave entities unlabelled, for `data.doubtful`.

    python benchmarks/partly_labelled.py TRAIN COMPLETE -o FILE

TRAIN are training sentences, and COMPLETE the same sentences, among others, with the entities of
all types labelled. A sentence of which more is labelled there, or that is not there, is doubtful as
a whole: nothing of it is known to be no entity. That is all that is told of it; where the
unlabelled entities are, and of what types, is not.
"""

from pathlib import Path
from typing import Annotated

import typer
from doubts import ranges_of

from spanproto.cli.main import in_one_sentence
from spanproto.data.formats import read_sentences, write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError
from spanproto.training.cross_fitting import DOUBTFUL


def main(
    train: Annotated[Path, typer.Argument(help="Training sentences.")],
    complete: Annotated[Path, typer.Argument(help="All entities of the same sentences.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .json for data.doubtful.")],
) -> None:
    """Find them, and write each with one span over all of its words."""
    sentences = read_sentences(train)
    doubtful = partly_labelled(sentences, read_sentences(complete))
    write_sentences(output, doubtful, "token-json")
    print(f"{output}: {len(doubtful)} of {len(sentences)} sentences leave entities unlabelled")


def partly_labelled(train: list[Sentence], complete: list[Sentence]) -> list[Sentence]:
    """The training sentences not known to be labelled in full, each as one doubtful span."""
    known = ranges_of(complete)
    if not any(sentence.words in known for sentence in train):
        raise DataError("none of the training sentences is completely labelled; name its corpus")
    return [
        sentence.with_spans([Span(0, len(sentence.words), DOUBTFUL)])
        for sentence in train
        if sentence.words not in known
        or known[sentence.words] - {(span.start, span.end) for span in sentence.spans}
    ]


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
