import pytest

from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError
from spanproto.evaluation import Counts, Report, Scorer, score

SUPPORT = Sentence(("w",) * 2, (Span(0, 1, "A"), Span(1, 2, "B")))


def query(length: int, *spans: tuple[int, int, str]) -> Sentence:
    return Sentence(("w",) * length, tuple(Span(*span) for span in spans))


FIRST = Episode(
    ("A", "B", "C"),  # C has no support span
    (SUPPORT,),
    (query(6, (0, 2, "A"), (3, 4, "B")), query(5, (0, 2, "B"), (3, 5, "C"))),
)
SECOND = Episode(("A", "B"), (SUPPORT,), (query(4, (1, 3, "A")),))
PREDICTIONS = [
    [
        [Span(0, 2, "A"), Span(3, 4, "A")],  # right; right boundary, wrong type
        [Span(0, 1, "B"), Span(0, 2, "B"), Span(0, 2, "B")],  # wrong boundary; right, twice
    ],
    [[]],
]
CANDIDATES = [[[(0, 2), (3, 4), (4, 6)], [(0, 2)]], [[(1, 3)]]]


@pytest.fixture
def report() -> Report:
    return score([FIRST, SECOND], PREDICTIONS, "crossdomain", CANDIDATES)


def test_pooled_micro_scores(report: Report) -> None:
    assert report.micro == Counts(correct=2, predicted=4, gold=5)
    assert report.micro.f1 == pytest.approx(400 / 9)


def test_scores_by_episode(report: Report) -> None:
    """The first episode has F1 50 (2 of 4, 2 of 4), the second 0."""
    assert report.episode_f1_mean == 25
    assert report.episode_f1_std == 25


def test_boundaries_ignore_types(report: Report) -> None:
    assert report.span == Counts(correct=3, predicted=4, gold=5)


def test_extraction_scores_the_candidates(report: Report) -> None:
    assert report.extraction == Counts(correct=4, predicted=5, gold=5)


def test_false_positives_are_of_two_kinds(report: Report) -> None:
    assert (report.fp_span, report.fp_type) == (50, 50)
    assert report.false_positives == 2


def test_shares_of_the_two_kinds_are_of_false_positives_alone() -> None:
    episode = Episode(("A", "B"), (SUPPORT,), (query(9, (0, 2, "A"), (4, 5, "B")),))
    predicted = [
        Span(0, 2, "A"),
        Span(4, 5, "A"),
        Span(0, 1, "A"),
        Span(7, 8, "B"),
        Span(3, 5, "B"),
    ]
    report = score([episode], [[predicted]], "crossdomain")
    assert (report.fp_span, report.fp_type) == (75, 25)


def test_shares_are_zero_without_false_positives() -> None:
    report = score([SECOND], [[[Span(1, 3, "A")]]], "crossdomain")
    assert (report.fp_span, report.fp_type, report.micro.f1) == (0, 0, 100)


def test_entities_of_types_without_support_are_misses(report: Report) -> None:
    assert report.unsupported == 1
    assert report.types["C"] == Counts(correct=0, predicted=0, gold=1)


def test_scores_by_type(report: Report) -> None:
    assert report.types["A"] == Counts(correct=1, predicted=2, gold=2)
    assert report.types["B"] == Counts(correct=1, predicted=2, gold=2)
    assert sum(report.types.values(), Counts()) == report.micro


def test_sizes(report: Report) -> None:
    assert (report.episodes, report.sentences, report.entities) == (2, 3, 5)


def test_few_nerd_joins_touching_spans_of_one_type() -> None:
    episode = Episode(("A", "B"), (SUPPORT,), (query(6, (0, 1, "A"), (1, 3, "A")),))
    predictions = [[[Span(0, 2, "A"), Span(2, 3, "A")]]]
    candidates = [[[(0, 3)]]]
    joined = score([episode], predictions, "fewnerd", candidates)
    assert joined.micro == joined.span == Counts(correct=1, predicted=1, gold=1)
    assert joined.extraction == Counts(correct=1, predicted=1, gold=1)
    apart = score([episode], predictions, "crossdomain", candidates)
    assert apart.micro == apart.span == Counts(correct=0, predicted=2, gold=2)
    assert apart.extraction == Counts(correct=0, predicted=1, gold=2)


def test_nested_spans() -> None:
    gold = query(5, (0, 5, "A"), (1, 2, "A"), (1, 2, "B"))
    episode = Episode(("A", "B"), (SUPPORT,), (gold,))
    report = score(
        [episode], [[[Span(0, 5, "A"), Span(1, 2, "B"), Span(0, 5, "B")]]], "crossdomain"
    )
    assert report.micro == Counts(correct=2, predicted=3, gold=3)
    assert report.span == Counts(correct=2, predicted=2, gold=2)
    assert report.fp_type == 100


def test_without_candidates_there_is_no_extraction_score() -> None:
    assert score([SECOND], [[[]]], "fewnerd").extraction is None


def test_episodes_can_come_one_by_one(report: Report) -> None:
    scorer = Scorer("crossdomain")
    scorer.add(FIRST, PREDICTIONS[0], CANDIDATES[0])
    scorer.add(SECOND, PREDICTIONS[1], CANDIDATES[1])
    assert scorer.report() == report
    streamed = score(iter([FIRST, SECOND]), iter(PREDICTIONS), "crossdomain", iter(CANDIDATES))
    assert streamed == report


def test_a_type_without_support_may_not_be_predicted() -> None:
    with pytest.raises(DataError, match=r"episode 1: a span of type 'C'.*predict only A, B"):
        score([SECOND, FIRST], [[[]], [[], [Span(3, 5, "C")]]], "crossdomain")


def test_predictions_for_other_sentences_are_refused() -> None:
    with pytest.raises(DataError, match="episode 0: 1 lists of spans for 2 query sentences"):
        score([FIRST], [[[]]], "crossdomain")
    with pytest.raises(DataError, match="episode 0: 2 lists of spans for 1 query sentences"):
        score([SECOND], [[[]]], "crossdomain", [[[], []]])
    with pytest.raises(DataError, match=r"\[3, 5\) does not fit query sentence 0 of 4 words"):
        score([SECOND], [[[Span(3, 5, "A")]]], "crossdomain")
    with pytest.raises(DataError, match=r"\[2, 2\) does not fit"):
        score([SECOND], [[[]]], "crossdomain", [[[(2, 2)]]])


@pytest.mark.parametrize(
    ("predictions", "candidates"),
    [([], None), ([[[]], [[]]], None), ([[[]]], []), ([[[]]], [[[]], [[]]])],
)
def test_lists_that_do_not_end_together_are_refused(predictions: list, candidates: list) -> None:
    with pytest.raises(DataError, match="do not end together"):
        score([SECOND], predictions, "crossdomain", candidates)


def test_no_episodes_are_refused() -> None:
    with pytest.raises(DataError, match="no episode to score"):
        score([], [], "fewnerd")
