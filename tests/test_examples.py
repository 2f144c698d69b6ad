import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin

from spanproto.data.formats import read_sentences, write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.errors import DataError
from spanproto.examples import read_examples

TEXT = "😀 Ada met\r\nCharles"
WORDS = ["😀", "Ada", "met", "Charles"]
SPANS = (Span(1, 2, "PER"), Span(3, 4, "PER"))
TRIPLES = [(2, 5, "PER"), (11, 18, "PER")]
OBJECTS = [{"start": start, "end": end, "label": label} for start, end, label in TRIPLES]
IN_WORDS = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]

SHAPES: dict[str, Any] = {
    "objects": {"text": TEXT, "entities": OBJECTS, "id": 7},
    "spans": {"text": TEXT, "spans": OBJECTS},
    "triples": {"text": TEXT, "entities": TRIPLES},
    "triples in a tuple": {"text": TEXT, "spans": tuple(TRIPLES)},
    "spaCy's training data": (TEXT, {"entities": TRIPLES, "cats": {"news": 1.0}}),
    "spaCy's training data from JSON": [TEXT, {"entities": [list(it) for it in TRIPLES]}],
    "words": {"words": WORDS, "entities": IN_WORDS},
    "tokens": {"tokens": tuple(WORDS), "spans": [tuple(span) for span in SPANS]},
    "token-json": {
        "tokens": WORDS,
        "entities": [{"start": span.start, "end": span.end, "type": span.label} for span in SPANS],
    },
    "tags": {"words": WORDS, "tags": ["O", "B-PER", "O", "B-PER"]},
    "sentence": Sentence(tuple(WORDS), SPANS),
    "doccano": {"text": TEXT, "label": [[3, 6, "PER"], [12, 19, "PER"]], "Comments": []},
    "prodigy": {"text": TEXT, "spans": OBJECTS, "answer": "accept", "_input_hash": 3},
    "label-studio": {
        "data": {"text": TEXT},
        "annotations": [
            {
                "result": [
                    {"value": {"start": start, "end": end, "labels": [label]}}
                    for start, end, label in TRIPLES
                ]
            }
        ],
    },
}


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_examples(source, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape(shape: str) -> None:
    (sentence,) = read_examples([SHAPES[shape]])
    assert sentence.words == tuple(WORDS)
    assert sentence.spans == SPANS


def test_all_shapes_together_from_an_iterator() -> None:
    sentences = read_examples(iter(SHAPES.values()))
    assert [sentence.spans for sentence in sentences] == [SPANS] * len(SHAPES)


def test_texts_are_kept() -> None:
    (sentence,) = read_examples([{"text": TEXT, "entities": TRIPLES}])
    assert sentence == sentence_of(TEXT).with_spans(SPANS)


def test_characters_are_counted_as_python_does() -> None:
    """Also where a count of UTF-16 units would meet words too."""
    (sentence,) = read_examples([{"text": "😀😀 1 2 3", "entities": [(5, 6, "X")]}])
    assert [sentence.words[span.start] for span in sentence.spans] == ["2"]


def test_documents_of_spacy() -> None:
    doc = spacy.blank("en")(TEXT)
    doc.ents = [doc.char_span(*place) for place in TRIPLES]
    for source in ([doc], (it for it in [doc]), DocBin(docs=[doc])):
        (sentence,) = read_examples(source)
        assert (sentence.text, sentence.spans) == (TEXT, SPANS)


class TestFiles:
    def test_by_path_or_string(self, tmp_path: Path) -> None:
        file = tmp_path / "examples.conll"
        write_sentences(file, [Sentence(tuple(WORDS), SPANS)], "conll")
        for source in (file, str(file)):
            assert [sentence.spans for sentence in read_examples(source)] == [SPANS]
        assert read_examples(file, format="conll") == read_sentences(file)

    def test_format_and_boundaries_reach_the_reader(self, tmp_path: Path) -> None:
        file = tmp_path / "examples.jsonl"
        file.write_text(json.dumps({"text": TEXT, "entities": [[3, 5, "PER"]]}))
        assert refusal(file).startswith(f"{file}:1: entity [3, 5) 'da' of type 'PER'")
        assert "did you mean 'conll'" in refusal(file, format="conl")
        assert read_examples(file, boundaries="snap")[0].spans == SPANS[:1]

    def test_missing_or_of_episodes(self, tmp_path: Path) -> None:
        assert "no such file" in refusal(tmp_path / "none.jsonl")
        file = tmp_path / "episodes.jsonl"
        file.write_text('{"types": ["X"], "support": [], "query": []}')
        assert "holds episodes and sentences are needed" in refusal(file)

    def test_a_format_is_for_files(self) -> None:
        assert "the format 'conll' is for a file" in refusal([SHAPES["tags"]], format="conll")


class TestNothingToLearnFrom:
    @pytest.mark.parametrize("source", [[], (), iter([]), {}.values()])
    def test_no_examples(self, source: Any) -> None:
        assert refusal(source).startswith("there are no examples; give at least one labelled text")
        assert "there are no examples" in refusal(source, allow_unlabelled=True)

    def test_no_labelled_span(self) -> None:
        unlabelled = [{"text": TEXT, "entities": []}, Sentence(("a",))]
        assert refusal(unlabelled) == (
            "none of the 2 examples has a labelled span; label at least one"
        )
        assert len(read_examples(unlabelled, allow_unlabelled=True)) == 2
        assert len(read_examples([*unlabelled, SHAPES["tags"]])) == 3


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ({"text": TEXT}, "'entities' is not a list"),
        ({"entities": []}, "'text' is None"),
        ({"text": TEXT, "entities": [(2, 5)]}, "entity 0 is not a JSON object"),
        ({"text": TEXT, "entities": [(2, 99, "X")]}, "entity 0, [2, 99) 'X', does not lie within"),
        ({"text": TEXT, "entities": [(2, 4, "X")]}, "entity [2, 4) 'Ad' of type 'X' does not"),
        ({"text": TEXT, "entities": [(2.0, 5, "X")]}, "entity 0 needs whole numbers"),
        ({"text": TEXT, "words": WORDS, "entities": []}, "it has both 'text' and 'words'"),
        ({"words": WORDS}, "it has no list of 'entities', nor 'tags'"),
        ({"words": WORDS, "entities": [(3, 5, "X")]}, "entity 0, [3, 5) 'X', does not lie within"),
        ({"words": [], "entities": []}, "the sentence has no words"),
        ({"words": WORDS, "tags": ["O"]}, "needs a list of words and a list of as many tags"),
        (
            {"words": WORDS, "tags": ["O", "PER", "O", "O"]},
            "word 1: tag 'PER' is not of the scheme",
        ),
        (Sentence(()), "the sentence has no words"),
        ("Ada met Charles", "a str is no example"),
        (("Ada", "PER"), "a tuple is no example"),
        (None, "a NoneType is no example"),
    ],
)
def test_bad_examples_are_named(example: Any, message: str) -> None:
    assert refusal([SHAPES["tags"], example]).startswith(f"example 1: {message}")


@pytest.mark.parametrize("source", [SHAPES["objects"], SHAPES["sentence"], spacy.blank("en")("a")])
def test_a_single_example_belongs_in_a_list(source: Any) -> None:
    assert refusal(source).endswith("put examples in a list")


def test_what_cannot_be_read_at_all() -> None:
    assert refusal(7).startswith("examples cannot be read from a int; give a path, a DocBin or")
    assert "no rule 'widen' for boundaries" in refusal([SHAPES["tags"]], boundaries="widen")


def test_what_is_left_out_is_one_warning() -> None:
    rejected = {"text": TEXT, "spans": OBJECTS, "answer": "reject"}
    with pytest.warns(UserWarning, match="left out") as caught:
        (sentence,) = read_examples([rejected, SHAPES["tags"], rejected])
    assert sentence.spans == SPANS
    (warning,) = caught
    assert str(warning.message) == (
        "example 0: the answer is 'reject' and not 'accept'; the example was left out "
        "(and 1 more like this)"
    )
    assert warning.filename == __file__


def test_snapping() -> None:
    examples = [{"text": TEXT, "entities": [(3, 4, "PER"), (5, 6, "PER"), (10, 14, "PER")]}]
    with pytest.warns(UserWarning, match=r"^example 0: entity \[5, 6\) ' ' of type 'PER' touches"):
        (sentence,) = read_examples(examples, boundaries="snap")
    assert sentence.spans == SPANS


@given(st.data())
def test_what_is_given_in_characters_comes_back_in_words(data: st.DataObject) -> None:
    sentence = sentence_of(data.draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1)))
    if not sentence.offsets:
        return
    ends = st.tuples(*[st.integers(0, len(sentence.words) - 1)] * 2).map(sorted)
    spans = [Span(first, last + 1, "X") for first, last in data.draw(st.sets(ends.map(tuple)))]
    triples = [
        (sentence.offsets[span.start][0], sentence.offsets[span.end - 1][1], "X") for span in spans
    ]
    example = {"text": sentence.text, "entities": triples}
    assert read_examples([example], allow_unlabelled=True) == [sentence.with_spans(spans)]


def test_importing_is_quick() -> None:
    program = (
        "import sys; from spanproto.examples import read_examples; "
        "read_examples([{'text': 'Ada', 'entities': [(0, 3, 'PER')]}]); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'spacy', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
