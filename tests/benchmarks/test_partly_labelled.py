"""The script that finds training sentences with unlabelled entities."""

from pathlib import Path

import pytest
from scripts import benchmark_script

from spanproto.data.formats import read_sentences, write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError
from spanproto.training.doubts import Doubts

ADA = Sentence(("Ada", "Lovelace", "met", "Babbage"), (Span(0, 2, "person"),))
ACTOR = Span(3, 4, "actor")
LONDON = Sentence(("London", "is", "large"), (Span(0, 1, "city"),))
PARIS = Sentence(("Paris", "is", "not"), (Span(0, 1, "city"),))


@pytest.fixture
def script():
    return benchmark_script("partly_labelled")


def test_sentences_with_more_labels_elsewhere_or_unknown_ones_are_doubtful_as_a_whole(
    script, tmp_path: Path
) -> None:
    train, complete, output = (tmp_path / f"{name}.json" for name in ("train", "all", "partly"))
    write_sentences(train, [ADA, LONDON, PARIS], "token-json")
    labelled = ADA.with_spans((*ADA.spans, ACTOR))
    write_sentences(complete, [labelled, LONDON], "token-json")
    script.main(train, complete, output)
    found = read_sentences(output)
    assert [sentence.words for sentence in found] == [ADA.words, PARIS.words]
    doubts = Doubts.read([str(output)])
    assert doubts.on(ADA).doubtful == ((0, 4),)
    assert doubts.on(LONDON).doubtful == ()


def test_a_corpus_of_other_sentences_is_refused(script) -> None:
    with pytest.raises(DataError, match="completely labelled"):
        script.partly_labelled([PARIS], [LONDON])
