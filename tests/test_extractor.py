"""Eq. 1-4 against numbers worked out by hand, and what must not change the scores."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spanproto.extractor import (
    Candidates,
    ExtractorConfig,
    PaperHead,
    RotaryHead,
    SpanExtractor,
    boundary_matrix,
    decode,
    released_floor,
    rotate_by_position,
    single_sum_span_loss,
    span_cells,
    thinned,
    top_candidates,
    two_sided_span_loss,
)

LOG = math.log


def logit(probability: float) -> float:
    return LOG(probability / (1 - probability))


def test_eq_1_and_2_by_hand() -> None:
    head = PaperHead(2)
    with torch.no_grad():
        head.query.weight.copy_(torch.tensor([[1.0, 2.0], [0.0, 1.0]]))
        head.query.bias.copy_(torch.tensor([1.0, 0.0]))
        head.key.weight.copy_(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
        head.key.bias.copy_(torch.tensor([0.0, -1.0]))
        head.value.weight.copy_(torch.tensor([[10.0, 100.0]]))
        # Start states h_0 = (1, 0), h_1 = (0, 1); end states g_0 = (2, 0), g_1 = (0, 3).
        start = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
        end = torch.tensor([[[2.0, 0.0], [0.0, 3.0]]])
        scores = head(start, end)
    # q_0 = (2, 0), q_1 = (3, 1); k_0 = (2, 1), k_1 = (0, 2).
    # w.h_0 = 10, w.h_1 = 100; w.g_0 = 20, w.g_1 = 300.
    expected = [[4 + 10 + 20, 0 + 10 + 300], [7 + 100 + 20, 2 + 100 + 300]]
    assert scores[0].tolist() == expected


def test_rotary_score_by_hand() -> None:
    head = RotaryHead(2, 2)
    with torch.no_grad():
        for layer in (head.query, head.key):
            layer.weight.copy_(torch.eye(2))
            layer.bias.zero_()
        head.start_bias.weight.copy_(torch.tensor([[2.0, 0.0]]))
        head.start_bias.bias.fill_(1.0)
        head.end_bias.weight.copy_(torch.tensor([[0.0, 0.0]]))
        head.end_bias.bias.fill_(5.0)
        states = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
        scores = head(states, states)
    # The same vector at distance n turns by n radians: dot = cos(n); biases (3 + 5) / 2 = 4.
    near, far = 1 / math.sqrt(2) + 4, math.cos(1) / math.sqrt(2) + 4
    torch.testing.assert_close(scores[0], torch.tensor([[near, far], [far, near]]))


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 20))
def test_rotary_products_depend_on_distance_alone(i: int, j: int, shift: int) -> None:
    torch.manual_seed(0)
    query, key = torch.randn(4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    turned_query = rotate_by_position(query.expand(1, 40, 4))[0]
    turned_key = rotate_by_position(key.expand(1, 40, 4))[0]
    here = turned_query[i] @ turned_key[j]
    torch.testing.assert_close(here, turned_query[i + shift] @ turned_key[j + shift])


def test_eq_3_masks_lower_triangle_and_padding_and_holds_nested_spans() -> None:
    cells = span_cells(torch.tensor([[True, True, False], [True, True, True]]))
    assert cells.tolist() == [
        [[True, True, False], [False, True, False], [False, False, False]],
        [[True, True, True], [False, True, True], [False, False, True]],
    ]
    sentence, start, end = torch.tensor([[0, 1, 1], [0, 0, 1], [1, 3, 2]])
    gold = boundary_matrix(sentence, start, end, cells)
    assert gold.nonzero().tolist() == [[0, 0, 0], [1, 0, 2], [1, 1, 1]]


def test_what_touches_an_entity_is_always_seen_and_a_share_of_the_rest() -> None:
    torch.manual_seed(0)
    mask = torch.ones(3, 40, dtype=torch.bool)
    mask[1, 30:] = False
    cells = span_cells(mask)
    gold = torch.zeros_like(cells)
    spans = [(0, 2, 4), (0, 3, 3), (0, 30, 31), (1, 29, 29)]
    for row, first, last in spans:
        gold[row, first, last] = True
    touching = torch.zeros_like(cells)
    for row, a, b in spans:
        touching[row, : b + 1, a:] = True  # i <= b and j >= a
    touching &= cells
    assert torch.equal(thinned(cells, gold, 0.0), touching)
    assert torch.equal(thinned(cells, gold, 1.0), cells)
    some = thinned(cells, gold, 0.3)
    assert some[touching].all()
    apart = cells & ~touching
    assert not (some & ~cells).any()
    assert some[apart].float().mean().item() == pytest.approx(0.3, abs=0.03)


def test_eq_4_in_both_forms_by_hand() -> None:
    # Two words, three spans: f(0,0) = log 2 is gold, f(0,1) = log 3 and f(1,1) = log 5 are not.
    scores = torch.tensor([[[LOG(2), LOG(3)], [99.0, LOG(5)]]])
    cells = span_cells(torch.tensor([[True, True]]))
    gold = torch.tensor([[[True, False], [False, False]]])
    # Negatives: 1 + 3 + 5 = 9. Positives: 1 + 1/2. The single sum: 1 + 3 + 5 + 1/2.
    assert two_sided_span_loss(scores, gold, cells).item() == pytest.approx(LOG(9) + LOG(1.5))
    assert single_sum_span_loss(scores, gold, cells).item() == pytest.approx(LOG(9.5))


def test_where_the_two_forms_of_eq_4_differ() -> None:
    """The single sum lets the worse side hide the other; the two-sided loss never does.

    With a badly wrong negative (f = 8), the gradient that a wrong positive (f = -2) receives is
    e^2 / (1 + e^2 + e^8) under the single sum, but e^2 / (1 + e^2) under the two-sided loss. Where
    one side has nothing wrong or nothing at all, both losses agree.
    """
    cells = span_cells(torch.tensor([[True, True]]))
    gold = torch.tensor([[[True, False], [False, False]]])
    gradients = []
    for loss in (single_sum_span_loss, two_sided_span_loss):
        scores = torch.tensor([[[-2.0, 8.0], [0.0, -50.0]]], requires_grad=True)
        loss(scores, gold, cells).sum().backward()
        gradients.append(-scores.grad[0, 0, 0].item())
    positive, negative = math.exp(2), math.exp(8)
    assert gradients[0] == pytest.approx(positive / (1 + positive + negative), rel=1e-4)
    assert gradients[1] == pytest.approx(positive / (1 + positive), rel=1e-4)

    nothing = torch.zeros_like(gold)
    scores = torch.tensor([[[0.3, -1.0], [0.0, 2.0]]])
    torch.testing.assert_close(
        two_sided_span_loss(scores, nothing, cells), single_sum_span_loss(scores, nothing, cells)
    )


@pytest.mark.parametrize("loss", [two_sided_span_loss, single_sum_span_loss])
def test_a_sentence_without_entities_and_one_of_entities_alone_are_valid_targets(loss) -> None:
    scores = torch.zeros(2, 1, 1, requires_grad=True)
    gold = torch.tensor([[[False]], [[True]]])
    value = loss(scores, gold, torch.ones(2, 1, 1, dtype=torch.bool))
    value.sum().backward()
    assert value.tolist() == pytest.approx([LOG(2), LOG(2)])
    assert scores.grad.flatten().tolist() == pytest.approx([0.5, -0.5])


@pytest.mark.parametrize("loss", [two_sided_span_loss, single_sum_span_loss])
@given(seed=st.integers(0, 1000), padding=st.integers(1, 4))
def test_padding_changes_no_loss(loss, seed: int, padding: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(2, 4, 4, generator=generator, dtype=torch.float64)
    cells = span_cells(torch.ones(2, 4, dtype=torch.bool))
    gold = cells & (torch.rand(2, 4, 4, generator=generator) < 0.3)
    padded = torch.nn.functional.pad
    more = (0, padding, 0, padding)
    torch.testing.assert_close(
        loss(scores, gold, cells),
        loss(padded(scores, more, value=7.0), padded(gold, more), padded(cells, more)),
    )


def test_candidates_reach_the_threshold_and_are_ordered() -> None:
    probabilities = torch.tensor([[[0.9, 0.5], [0.99, 0.8]]])
    cells = span_cells(torch.tensor([[True, True]]))
    found = top_candidates(probabilities.logit(), cells, 3, 0.7)
    assert found.keep.tolist() == [[True, True, False]]
    assert list(zip(found.start[0].tolist(), found.end[0].tolist(), strict=True))[:2] == [
        (0, 1),
        (1, 2),
    ]


def test_threshold_zero_never_recalls_a_cell_that_is_no_span() -> None:
    cells = span_cells(torch.tensor([[True, True, False]]))
    found = top_candidates(torch.zeros(1, 3, 3), cells, 9, 0.0)
    assert spans_of(found) == {(0, 1), (0, 2), (1, 2)}


def test_a_long_sentence_has_more_candidates_whatever_else_is_in_the_batch() -> None:
    cells = span_cells(torch.tensor([[True] * 6, [True] * 2 + [False] * 4]))
    found = top_candidates(torch.ones(2, 6, 6), cells, 1, 0.5, lengths=torch.tensor([6, 2]))
    assert found.keep.sum(1).tolist() == [6, 2]


def test_released_floor_falls_until_more_than_three_spans_are_there() -> None:
    words = torch.tensor([[True, True, True]] * 2)
    probabilities = torch.full((2, 3, 3), 0.01)
    probabilities[0, [0, 0, 0, 1], [0, 1, 2, 1]] = torch.tensor([0.93, 0.83, 0.72, 0.71])
    floors = released_floor(probabilities.logit(), span_cells(words), 50, highest=0.95)
    assert floors[0].item() == pytest.approx(0.70)  # four of them at last
    assert floors[1].item() == pytest.approx(0.05)  # never: the lowest step


def spans_of(candidates: Candidates) -> set[tuple[int, int]]:
    rows = zip(
        candidates.start[0].tolist(),
        candidates.end[0].tolist(),
        candidates.keep[0].tolist(),
        strict=True,
    )
    return {(start, end) for start, end, keep in rows if keep}


def test_decoding_by_hand() -> None:
    # Best first: [2, 5), then [3, 4) inside it, [4, 6) crossing it, and [6, 7) apart.
    found = Candidates(
        torch.tensor([[2, 3, 4, 6]]),
        torch.tensor([[5, 4, 6, 7]]),
        torch.tensor([[4.0, 3.0, 2.0, 1.0]]),
        torch.tensor([[True] * 4]),
    )
    assert spans_of(decode(found, "flat")) == {(2, 5), (6, 7)}
    assert spans_of(decode(found, "nested")) == {(2, 5), (3, 4), (6, 7)}
    assert spans_of(decode(found, "all")) == {(2, 5), (3, 4), (4, 6), (6, 7)}


def clash(a: tuple[int, int], b: tuple[int, int], mode: str) -> bool:
    shared = a[0] < b[1] and b[0] < a[1]
    inside = (a[0] <= b[0] and b[1] <= a[1]) or (b[0] <= a[0] and a[1] <= b[1])
    return shared and not (mode == "nested" and inside)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 4)), min_size=1, max_size=12, unique=True),
    st.sampled_from(["flat", "nested"]),
)
def test_decoding_agrees_with_a_greedy_loop(places, mode) -> None:
    spans = [(start, start + length) for start, length in places]
    kept: list[tuple[int, int]] = []
    for span in spans:
        if not any(clash(span, other, mode) for other in kept):
            kept.append(span)
    found = Candidates(
        torch.tensor([[start for start, _ in spans]]),
        torch.tensor([[end for _, end in spans]]),
        torch.arange(len(spans), 0, -1.0)[None],
        torch.ones(1, len(spans), dtype=torch.bool),
    )
    assert spans_of(decode(found, mode)) == set(kept)


def test_the_extractor_uses_its_settings() -> None:
    scores = torch.full((1, 2, 2), logit(0.6))
    cells = span_cells(torch.tensor([[True, True]]))
    low = SpanExtractor(4, ExtractorConfig(threshold=0.5))
    high = SpanExtractor(4, ExtractorConfig(threshold=0.7))
    released = SpanExtractor(4, ExtractorConfig(candidates="released"))
    assert low.candidates(scores, cells).keep.sum() == 3
    assert high.candidates(scores, cells).keep.sum() == 0
    assert released.candidates(scores, cells).keep.sum() == 3  # three spans: it goes to the end
    gold = torch.zeros_like(cells)
    gold[0, 0, 0] = True
    losses = [
        SpanExtractor(4, ExtractorConfig(loss=loss)).loss(scores, gold, cells).item()
        for loss in ("two-sided", "single-sum")
    ]
    odds = 0.6 / 0.4
    assert losses[0] == pytest.approx(LOG(1 + 2 * odds) + LOG(1 + 1 / odds))
    assert losses[1] == pytest.approx(LOG(1 + 2 * odds + 1 / odds))


def test_the_released_threshold_starts_higher_in_evaluation() -> None:
    extractor = SpanExtractor(4, ExtractorConfig(candidates="released"))
    scores = torch.full((1, 3, 3), logit(0.92))  # more than 3 spans between the two starts
    scores[0, 0, :] = logit(0.96)
    cells = span_cells(torch.ones(1, 3, dtype=torch.bool))
    assert extractor.train().candidates(scores, cells).keep.sum() == 6
    scores[0, 1, 1] = logit(0.96)
    assert extractor.eval().candidates(scores, cells).keep.sum() == 4
