"""Span extractor: the global boundary matrix over word pairs (Eq. 1-4) and its candidates.

A cell (i, j) of the matrix stands for the span that begins with word i and ends with word j,
that is the half-open span [i, j + 1). Only cells with i <= j inside the sentence are spans.
"""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.config import require

Decoding = Literal["flat", "nested", "all"]
NEVER = -1e9  # a score that no span can have: exp() of it is 0 and its gradient is clean


@dataclass(frozen=True)
class ExtractorConfig:
    """The choices that the paper and its released code make differently, and their defaults."""

    head: Literal["paper", "rotary", "none"] = "paper"  # none: all short spans are candidates
    head_size: int = 64  # width of q and k in the rotary head
    neighbours: bool = False  # whether a span's score is corrected by what is around its cell
    max_length: int = 8  # without a head: the most words of a candidate
    loss: Literal["two-sided", "single-sum"] = "two-sided"
    threshold: float = 0.5  # theta, on sigmoid(f)
    candidates: Literal["threshold", "released"] = "threshold"
    max_candidates: int = 50  # a sentence's best-scoring spans that training looks at
    decoding: Decoding = "flat"

    def __post_init__(self) -> None:
        require(self.head_size > 0 and self.head_size % 2 == 0, "extractor.head_size must be even")
        require(
            self.head != "none" or not self.neighbours,
            "extractor.head=none has no scores to correct; set extractor.neighbours=false",
        )
        require(self.max_length > 0, "extractor.max_length must be positive")
        require(0 <= self.threshold <= 1, "extractor.threshold must lie in [0, 1]")
        require(self.max_candidates > 0, "extractor.max_candidates must be positive")


class PaperHead(nn.Module):
    """Eq. 1-2 as written: f(i, j) = q_i . k_j + w_v . (h_i + h_j), q and k as wide as h.

    The paper gives W_v as a matrix, which makes no scalar; here it is the vector that does.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, start: Tensor, end: Tensor) -> Tensor:
        """Boundary scores (S, L, L) from start states and end states (S, L, h)."""
        pair: Tensor = self.query(start) @ self.key(end).transpose(1, 2)
        scores: Tensor = pair + self.value(start) + self.value(end).transpose(1, 2)
        return scores


class RotaryHead(nn.Module):
    """The released code's score: narrow q and k turned by their positions, scaled, plus biases.

    f(i, j) = (R_i q_i) . (R_j k_j) / sqrt(d) + (b_start(h_i) + b_end(h_j)) / 2, so that the score
    depends on how far apart the two words are.
    """

    def __init__(self, hidden_size: int, head_size: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden_size, head_size)
        self.key = nn.Linear(hidden_size, head_size)
        self.start_bias = nn.Linear(hidden_size, 1)
        self.end_bias = nn.Linear(hidden_size, 1)

    def forward(self, start: Tensor, end: Tensor) -> Tensor:
        """Boundary scores (S, L, L) from start states and end states (S, L, h)."""
        query, key = rotate_by_position(self.query(start)), rotate_by_position(self.key(end))
        pair = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        biases: Tensor = self.start_bias(start) + self.end_bias(end).transpose(1, 2)
        scores: Tensor = pair + biases / 2
        return scores


class NoHead(nn.Module):
    """No extractor: f is 0 for every span, so that nothing speaks for one rather than another."""

    def forward(self, start: Tensor, end: Tensor) -> Tensor:
        """Boundary scores (S, L, L), all alike."""
        return start.new_zeros(*start.shape[:2], end.shape[1])


class Neighbours(nn.Module):
    """What is added to the score of a span for what is seen of the cells around its own.

    Spans with a boundary in common are rivals, and a score by its two ends alone knows nothing of
    them. Several narrow pair scores make a picture of the matrix with as many channels, which two
    convolutions look at, as in Yan et al. (ACL 2023). At first they add nothing.
    """

    def __init__(self, hidden_size: int, channels: int = 16, width: int = 32) -> None:
        super().__init__()
        self.channels = channels
        self.start = nn.Linear(hidden_size, channels * width)
        self.end = nn.Linear(hidden_size, channels * width)
        self.around = nn.Conv2d(channels, channels, 3, padding=1)
        self.correction = nn.Conv2d(channels, 1, 3, padding=1)
        nn.init.zeros_(self.correction.weight)
        nn.init.zeros_(self.correction.bias)  # type: ignore[arg-type]

    def forward(self, start: Tensor, end: Tensor, cells: Tensor) -> Tensor:
        """Corrections (S, L, L); only cells (S, L, L) that are spans are looked at."""
        left, right = (
            states.unflatten(-1, (self.channels, -1)).transpose(1, 2)  # (S, C, L, w)
            for states in (self.start(start), self.end(end))
        )
        apart = ~cells[:, None]
        picture = (left @ right.mT / left.shape[-1] ** 0.5).masked_fill(apart, 0.0)  # (S, C, L, L)
        seen = F.gelu(self.around(picture)).masked_fill(apart, 0.0)
        correction: Tensor = self.correction(seen)[:, 0]
        return correction


def rotate_by_position(states: Tensor) -> Tensor:
    """Rotary position embedding of (S, L, d): each pair of dimensions turned by its angle."""
    length, size = states.shape[-2:]
    place = torch.arange(length, device=states.device, dtype=states.dtype)
    rate = 10000 ** (-torch.arange(0, size, 2, device=states.device, dtype=states.dtype) / size)
    angle = place[:, None] * rate  # (L, d/2)
    even, odd = states[..., 0::2], states[..., 1::2]
    cosine, sine = angle.cos(), angle.sin()
    turned = torch.stack((even * cosine - odd * sine, odd * cosine + even * sine), dim=-1)
    return turned.flatten(-2)


def span_cells(word_mask: Tensor) -> Tensor:
    """Which cells (S, L, L) are spans: i <= j, both words in the sentence (Eq. 3, no -inf)."""
    length = word_mask.shape[1]
    upper = torch.ones(length, length, dtype=torch.bool, device=word_mask.device).triu()
    return upper & word_mask[:, :, None] & word_mask[:, None, :]


def boundary_matrix(sentence: Tensor, start: Tensor, end: Tensor, like: Tensor) -> Tensor:
    """Eq. 3: True at the cells of the given half-open spans, in the shape (S, L, L) of `like`.

    `sentence`, `start` and `end` are (P,) positions. Spans may nest; a sentence may have none.
    """
    gold = torch.zeros_like(like, dtype=torch.bool)
    place = (sentence, start, end - 1)
    return gold.index_put_(place, torch.ones_like(start, dtype=torch.bool))


def thinned(cells: Tensor, gold: Tensor, share: float) -> Tensor:
    """The cells (S, L, L) that share a word with a gold span, and a random share of the others.

    Where training data leave entities of other types unlabelled, what lies apart from all gold
    spans may be one of these; the fewer of them a step sees, the less it learns to overlook them
    (Li et al., ICLR 2021).
    """
    return cells & (touching(gold) | (torch.rand_like(cells, dtype=torch.float) < share))


def without_doubtful(cells: Tensor, gold: Tensor, doubtful: Tensor) -> Tensor:
    """The cells (S, L, L) that share a word with a gold span, or none with a doubtful one.

    A doubtful span goes in any case, unless it is gold.
    """
    return cells & (touching(gold) | ~touching(doubtful)) & (gold | ~doubtful)


def touching(spans: Tensor) -> Tensor:
    """The cells that share a word with one of the spans; both are matrices (S, L, L)."""
    begun, ended = spans.sum(2).cumsum(1), spans.sum(1).cumsum(1)  # (S, L), up to each word
    covered = begun > F.pad(ended, (1, 0))[:, :-1]
    count = F.pad(covered.cumsum(1), (1, 0))  # (S, L + 1), of the words before each
    return count[:, None, 1:] > count[:, :-1, None]  # [i, j]: some word of i..j is covered


def two_sided_span_loss(scores: Tensor, gold: Tensor, cells: Tensor) -> Tensor:
    """The loss behind Eq. 4: log(1 + sum_neg e^f) + log(1 + sum_pos e^-f), for each sentence (S,).

    Each side is pushed across f = 0 on its own account.
    """
    negative = scores.masked_fill(gold | ~cells, NEVER).flatten(1)
    positive = (-scores).masked_fill(~gold, NEVER).flatten(1)
    both = torch.stack((negative, positive))  # (2, S, L*L)
    return F.softplus(both.logsumexp(-1)).sum(0)


def single_sum_span_loss(scores: Tensor, gold: Tensor, cells: Tensor) -> Tensor:
    """Eq. 4 as printed: log(1 + sum over all cells of exp((-1)^Omega f)), for each sentence (S,).

    One sum for both sides, so that the worst cell of either takes nearly all of the gradient.
    """
    signed = torch.where(gold, -scores, scores).masked_fill(~cells, NEVER)
    return F.softplus(signed.flatten(1).logsumexp(-1))


@dataclass(frozen=True)
class Candidates:
    """The best-scoring spans of each sentence, best first, a fixed number C of places each."""

    start: Tensor  # (S, C)
    end: Tensor  # (S, C), half-open
    score: Tensor  # (S, C), the boundary score f
    keep: Tensor  # (S, C), False where a place holds no candidate


def top_candidates(
    scores: Tensor, cells: Tensor, limit: int, floor: Tensor | float, lengths: Tensor | None = None
) -> Candidates:
    """The `limit` best spans of each sentence whose sigmoid(f) reaches `floor`.

    `lengths` (S,) widens a sentence's limit to its number of words, so that a long sentence is not
    cut short, whatever else is in the batch.
    """
    size = scores.shape[-1]
    flat = scores.masked_fill(~cells, NEVER).flatten(1)
    places = limit if lengths is None else max(limit, size)
    score, cell = flat.topk(min(places, size * size), dim=1)  # (S, C)
    keep = (score.sigmoid() >= floor) & (score > NEVER / 2)
    if lengths is not None:
        rank = torch.arange(score.shape[1], device=score.device)
        keep = keep & (rank < lengths.clamp(min=limit)[:, None])
    return Candidates(cell // size, cell % size + 1, score, keep)


def released_floor(scores: Tensor, cells: Tensor, limit: int, highest: float) -> Tensor:
    """The released code's threshold, (S, 1): from `highest` down in steps of 0.05.

    It stops where a sentence has more than 3 of its `limit` best spans above the threshold.
    """
    count = int(highest / 0.05 + 1e-6)
    floors = highest - 0.05 * torch.arange(count, device=scores.device)  # (F,)
    size = scores.shape[-1]
    best = scores.masked_fill(~cells, NEVER).flatten(1).topk(min(limit, size * size), dim=1).values
    enough = (best.sigmoid()[:, None, :] >= floors[:, None]).sum(-1) > 3  # (S, F)
    tried = torch.arange(count, device=scores.device).expand_as(enough)
    first = tried.masked_fill(~enough, count - 1).amin(1, keepdim=True)
    return floors[first]


def decode(candidates: Candidates, mode: Decoding) -> Candidates:
    """Drop candidates that clash with a better one, as Yu et al. (2020) rank and filter spans.

    `flat` allows no shared word, `nested` allows one span inside another but no crossing, `all`
    keeps every candidate. Candidates come best first; all sentences are decoded at once.
    """
    if mode == "all":
        return candidates
    start, end = candidates.start, candidates.end
    a, b = start[:, :, None], end[:, :, None]  # (S, C, 1)
    c, d = start[:, None, :], end[:, None, :]  # (S, 1, C)
    clash = (a < d) & (c < b)  # they share a word
    if mode == "nested":
        clash &= ~((a <= c) & (d <= b)) & ~((c <= a) & (b <= d))
    keep = candidates.keep.clone()
    for place in range(1, keep.shape[1]):
        beaten = (clash[:, place, :place] & keep[:, :place]).any(1)
        keep[:, place] &= ~beaten
    return Candidates(start, end, candidates.score, keep)


class SpanExtractor(nn.Module):
    """Scores every word pair as the boundary of an entity, whatever its type."""

    def __init__(self, hidden_size: int, config: ExtractorConfig) -> None:
        super().__init__()
        self.config = config
        self.head: nn.Module = NoHead()
        if config.head == "paper":
            self.head = PaperHead(hidden_size)
        elif config.head == "rotary":
            self.head = RotaryHead(hidden_size, config.head_size)
        self.neighbours = Neighbours(hidden_size) if config.neighbours else None

    def forward(self, start: Tensor, end: Tensor, cells: Tensor) -> Tensor:
        """Boundary scores f of the cells (S, L, L) from start and end states (S, L, h)."""
        scores: Tensor = self.head(start, end)
        if self.neighbours is not None:
            scores = scores + self.neighbours(start, end, cells)
        return scores

    def loss(self, scores: Tensor, gold: Tensor, cells: Tensor) -> Tensor:
        """The span loss of each sentence (S,), Eq. 4 in the configured form; 0 without a head."""
        if self.config.head == "none":
            return scores.new_zeros(len(scores))
        two_sided = self.config.loss == "two-sided"
        return (two_sided_span_loss if two_sided else single_sum_span_loss)(scores, gold, cells)

    @torch.no_grad()
    def candidates(
        self,
        scores: Tensor,
        cells: Tensor,
        lengths: Tensor | None = None,
        floor: Tensor | float | None = None,
    ) -> Candidates:
        """Spans at or above the threshold, or `floor`: a fixed number of places, for training.

        With `lengths` (S,) the limit grows with the sentence, as prediction needs it.
        """
        config = self.config
        if config.head == "none":
            short = cells & ~cells.new_ones(cells.shape[1:]).triu(config.max_length)
            return top_candidates(scores, short, config.max_length * cells.shape[1], 0.0)
        if floor is not None:
            return top_candidates(scores, cells, config.max_candidates, floor, lengths)
        floor = config.threshold
        if config.candidates == "released":
            highest = 0.90 if self.training else 0.95
            floor = released_floor(scores, cells, config.max_candidates, highest)
        return top_candidates(scores, cells, config.max_candidates, floor, lengths)
