import pytest

from spanproto.evaluation.counts import Counts


def test_scores_are_percentages() -> None:
    counts = Counts(correct=2, predicted=4, gold=5)
    assert counts.precision == 50
    assert counts.recall == 40
    assert counts.f1 == pytest.approx(2 * 50 * 40 / 90)


@pytest.mark.parametrize("counts", [Counts(), Counts(predicted=3), Counts(gold=3), Counts(0, 2, 3)])
def test_nothing_correct_scores_zero(counts: Counts) -> None:
    assert (counts.precision, counts.recall, counts.f1) == (0, 0, 0)


def test_counts_of_sets_add_up() -> None:
    total = Counts.of({1, 2, 3}, {2, 3, 4, 5}) + Counts.of({1}, {1})
    assert total == Counts(correct=3, predicted=4, gold=5)


def test_plain_numbers() -> None:
    assert Counts(1, 2, 4).to_dict() == {
        "precision": 50,
        "recall": 25,
        "f1": pytest.approx(100 / 3),
        "correct": 1,
        "predicted": 2,
        "gold": 4,
    }
