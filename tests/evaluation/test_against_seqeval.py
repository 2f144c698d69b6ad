"""Pooled micro scores agree with seqeval, the field's own scorer, on flat spans."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from spanproto.data.types import Episode, Sentence, Span
from spanproto.evaluation import Counts, score

LENGTH = 12
TYPES = ("A", "B", "C")
SUPPORT = Sentence(TYPES, tuple(Span(index, index + 1, label) for index, label in enumerate(TYPES)))


@st.composite
def flat_spans(draw: st.DrawFn) -> list[Span]:
    spans, place = [], 0
    while place < LENGTH:
        end = draw(st.integers(place + 1, min(LENGTH, place + 4)))
        label = draw(st.sampled_from((*TYPES, None)))
        if label is not None:
            spans.append(Span(place, end, label))
        place = end
    return spans


def tags(spans: list[Span], first: str) -> list[str]:
    result = ["O"] * LENGTH
    for span in spans:
        result[span.start] = f"{first}-{span.label}"
        for place in range(span.start + 1, span.end):
            result[place] = f"I-{span.label}"
    return result


def scores(gold: list[list[Span]], predicted: list[list[Span]], protocol: str) -> list[float]:
    sentences = tuple(Sentence(("w",) * LENGTH, tuple(spans)) for spans in gold)
    half = len(sentences) // 2
    episodes = [Episode(TYPES, (SUPPORT,), part) for part in (sentences[:half], sentences[half:])]
    counts: Counts = score(episodes, [predicted[:half], predicted[half:]], protocol).micro
    return [counts.precision / 100, counts.recall / 100, counts.f1 / 100]


sentence_pairs = st.lists(st.tuples(flat_spans(), flat_spans()), min_size=1, max_size=8).filter(
    lambda pairs: any(gold for gold, _ in pairs) and any(predicted for _, predicted in pairs)
)


def seqeval_scores(gold: list[list[str]], predicted: list[list[str]], **mode: Any) -> list[float]:
    scorers = (precision_score, recall_score, f1_score)
    return [scorer(gold, predicted, zero_division=0, **mode) for scorer in scorers]


@given(sentence_pairs)
def test_bio_agrees_with_strict_iob2(pairs: list[tuple[list[Span], list[Span]]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    expected = seqeval_scores(
        [tags(spans, "B") for spans in gold],
        [tags(spans, "B") for spans in predicted],
        mode="strict",
        scheme=IOB2,
    )
    assert scores(gold, predicted, "crossdomain") == pytest.approx(expected)


@given(sentence_pairs)
def test_io_agrees_with_tags_that_mark_no_beginning(
    pairs: list[tuple[list[Span], list[Span]]],
) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    expected = seqeval_scores(
        [tags(spans, "I") for spans in gold], [tags(spans, "I") for spans in predicted]
    )
    assert scores(gold, predicted, "fewnerd") == pytest.approx(expected)
