"""The weights that stand for the means of Algorithm 1, worked out by hand."""

import pytest

from spanproto.batch import collate
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError
from spanproto.model import SpanProto

RIVER, TOOL, METAL = "river", "tool", "metal"


def sentence(*labels: str) -> Sentence:
    return Sentence(
        tuple("the" for _ in labels) or ("old",),
        tuple(Span(i, i + 1, label) for i, label in enumerate(labels)),
    )


@pytest.fixture
def batch(tiny_model: SpanProto):
    one = Episode((RIVER, TOOL), (sentence(RIVER, TOOL, RIVER),), (sentence(RIVER), sentence()))
    two = Episode(
        (METAL, RIVER),
        (sentence(METAL), sentence()),
        (sentence(METAL, RIVER, METAL), sentence(RIVER)),
    )
    return collate([one, two], tiny_model.encoder.words)


def test_sentences_weigh_for_a_mean_in_each_episode_and_over_episodes(batch) -> None:
    assert (batch.support_end, batch.query_start) == (3, 3)
    assert batch.support_weight.tolist() == [1 / 2, 1 / 4, 1 / 4]
    assert batch.query_weight.tolist() == [1 / 4] * 4
    sixth, eighth = pytest.approx(1 / 6), 1 / 8
    assert batch.sentence_weight.tolist() == [sixth, eighth, eighth, sixth, sixth, eighth, eighth]


def test_eq_6_support_spans_weigh_one_over_k(batch) -> None:
    assert batch.support_spans.slot.tolist() == [0, 1, 0, 2]
    assert batch.support_spans.weight.tolist() == [1 / 2, 1, 1 / 2, 1]
    assert batch.support_spans.sentence.tolist() == [0, 0, 0, 1]


def test_query_spans_weigh_for_eq_7_and_those_without_support_nothing(batch) -> None:
    # The second episode has no support span of its type river.
    assert batch.query_spans.slot.tolist() == [0, 2, 3, 2, 3]
    assert batch.query_spans.weight.tolist() == [1 / 4, 1 / 8, 0, 1 / 8, 0]
    assert batch.query_spans.sentence.tolist() == [3, 5, 5, 5, 6]


def test_a_sentence_may_have_the_supported_types_of_its_episode(batch) -> None:
    first, second = [True, True, False, False], [False, False, True, False]
    assert batch.types.tolist() == [first, second, second, first, first, second, second]


def test_an_episode_without_any_support_span_is_refused(tiny_model: SpanProto) -> None:
    with pytest.raises(DataError, match="no support span at all"):
        collate([Episode((RIVER,), (sentence(),), (sentence(),))], tiny_model.encoder.words)


def test_a_support_set_can_be_its_own_query_set(tiny_model: SpanProto) -> None:
    episode = Episode((RIVER, TOOL), (sentence(RIVER, TOOL, RIVER), sentence(TOOL)), ())
    batch = collate([episode], tiny_model.encoder.words, "support")
    assert (batch.support_end, batch.query_start, batch.query_rows) == (2, 0, (0, 1))
    assert batch.support_spans.weight.tolist() == [1 / 2] * 4
    assert batch.query_spans.weight.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_even_batches_have_equal_rows_and_windows_for_every_episode(tiny_model: SpanProto) -> None:
    long = Sentence(("old",) * 300, (Span(0, 1, RIVER),))
    short = Sentence(("the", "tool"), (Span(0, 2, RIVER),))
    episodes = [Episode((RIVER,), (short, short, short), ()), Episode((RIVER,), (long,), ())]
    words = tiny_model.encoder.words
    batch = collate(episodes, words, "support", even=True)
    assert len(batch.words.word_mask) == 6
    assert batch.words.word_mask.sum(1).tolist() == [2, 2, 2, 300, 0, 0]
    assert len(batch.words.input_ids) % 2 == 0
    assert batch.query_rows == (0, 1, 2, 3)
    assert batch.support_weight.tolist() == pytest.approx([1 / 6] * 3 + [1 / 2, 0, 0])
    half = len(batch.words.input_ids) // 2
    width = batch.words.input_ids.shape[1]
    windows = batch.words.first // width
    assert (windows[:3, :2] < half).all()
    assert (windows[3] >= half).all()
    plain = collate(episodes, words, "support")
    for mine, theirs in (
        (batch.words.first, plain.words.first),
        (batch.words.last, plain.words.last),
    ):
        here, there = batch.words.input_ids.flatten()[mine], plain.words.input_ids.flatten()[theirs]
        assert (here[batch.words.word_mask] == there[plain.words.word_mask]).all()


def test_a_description_is_one_more_example_and_in_no_mean(tiny_model: SpanProto) -> None:
    one = Episode(
        (RIVER, TOOL),
        (sentence(RIVER), sentence(RIVER, TOOL)),
        (sentence(RIVER),),
        descriptions=((RIVER, "old water"), (METAL, "never seen")),
    )
    batch = collate([one], tiny_model.encoder.words, "support")
    assert batch.words.word_mask.sum(1).tolist() == [1, 2, 2]
    assert batch.support_weight.tolist() == [1 / 2, 1 / 2, 0]
    assert batch.support_spans.slot.tolist() == [0, 0, 1, 0]
    assert batch.support_spans.weight.tolist() == pytest.approx([1 / 3, 1 / 3, 1, 1 / 3])
    assert batch.query_spans.weight.tolist() == pytest.approx([1 / 2, 1 / 4, 1 / 4, 0])
    assert (batch.query_rows, batch.support_spans.end.tolist()) == ((0, 1), [1, 1, 2, 2])


def test_a_description_alone_makes_no_type(tiny_model: SpanProto) -> None:
    one = Episode((RIVER, TOOL), (sentence(RIVER),), (), descriptions=((TOOL, "an old tool"),))
    batch = collate([one], tiny_model.encoder.words, "support")
    assert batch.types.tolist() == [[True, False]]


def test_entities_of_other_types_are_kept_apart(tiny_model: SpanProto) -> None:
    whole = Episode((RIVER, TOOL), (sentence(RIVER, TOOL),), (sentence(TOOL), sentence(RIVER)))
    batch = collate([whole.for_types([RIVER])], tiny_model.encoder.words)
    others = batch.others
    places = [others.sentence.tolist(), others.start.tolist(), others.end.tolist()]
    assert places == [[0, 1], [1, 0], [2, 1]]
    assert batch.support_spans.start.tolist() == [0]
    assert whole.for_types([RIVER]).without_query_spans().query[0].others == ()
