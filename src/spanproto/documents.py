"""Documents of any length and in any number, judged a few windows at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spanproto.config import require
from spanproto.data.types import Episode, Sentence
from spanproto.data.words import sentence_of
from spanproto.errors import DataError
from spanproto.extractor import Decoding
from spanproto.judging import Candidate, judge
from spanproto.model import SpanProto
from spanproto.passages import Window, windows_of
from spanproto.support import Prototypes

_WINDOWS_AT_ONCE = 64  # so many are waited for, so that those of similar length go together
_CELLS_AT_ONCE = 2**18  # of boundary matrices, whose size grows with the square of the length


def document_of(given: Any, place: str = "the input") -> Sentence:
    """What a user gave as one document, as words without labels."""
    if isinstance(given, str):
        return sentence_of(given)
    if isinstance(given, Sentence):
        return given.unlabelled()
    words = tuple(given) if isinstance(given, list | tuple) else (None,)
    if not all(isinstance(word, str) for word in words):
        raise DataError(
            f"{place} is a {type(given).__name__}; give a string, a Sentence or a list of words"
        )
    return Sentence(words)


class Judged(NamedTuple):
    """A document and all that was considered in it, in positions of its words."""

    document: Sentence
    candidates: list[Candidate]

    @property
    def kept(self) -> list[Candidate]:
        """What is to be predicted."""
        return [candidate for candidate in self.candidates if candidate.outcome == "kept"]

    def place(self, candidate: Candidate, in_characters: bool) -> tuple[str, int, int]:
        """The text of a span and its position, in characters or in words."""
        document, start, end = self.document, candidate.start, candidate.end
        if document.text is None or document.offsets is None:
            return " ".join(document.words[start:end]), start, end
        first, last = document.offsets[start][0], document.offsets[end - 1][1]
        text = document.text[first:last]
        return (text, first, last) if in_characters else (text, start, end)


@dataclass(frozen=True)
class DocumentJudge:
    """Everything that it takes to judge the spans of a document."""

    model: SpanProto
    task: Episode  # the types and their support sentences
    prototypes: Prototypes
    thresholds: dict[str, float]
    decoding: Decoding

    def __post_init__(self) -> None:
        require(
            not self.model.config.decision.even_types,
            "decision.even_types is for query sets that are drawn with as many entities of each "
            "type, and texts are not; set it to false",
        )

    def __call__(self, documents: Iterable[Sentence]) -> Iterator[Judged]:
        """Each document with every candidate of it, in order.

        Only as many documents are taken in advance as fill the windows that are judged together.
        """
        waiting: list[tuple[Sentence, list[Window]]] = []
        for document in documents:
            waiting.append((document, windows_of(document)))
            if sum(max(1, len(windows)) for _, windows in waiting) >= _WINDOWS_AT_ONCE:
                yield from self._judged(waiting)
                waiting = []
        yield from self._judged(waiting)

    def _judged(self, group: Sequence[tuple[Sentence, list[Window]]]) -> Iterator[Judged]:
        texts = [
            _readable(document.words[window.start : window.end])
            for document, windows in group
            for window in windows
        ]
        found: dict[int, list[Candidate]] = {}
        for batch in _batches([len(words) for words in texts]):
            query = tuple(Sentence(texts[number]) for number in batch)
            episode = Episode(self.task.types, self.task.support, query)
            (results,) = judge(
                self.model,
                [episode],
                prototypes=self.prototypes,
                thresholds=self.thresholds,
                decoding=self.decoding,
            )
            found.update(zip(batch, results, strict=True))
        numbers = iter(range(len(texts)))
        for document, windows in group:
            parts = [(window, found[next(numbers)]) for window in windows]
            yield Judged(document, self._merged(parts))

    def _merged(self, parts: Sequence[tuple[Window, list[Candidate]]]) -> list[Candidate]:
        """The candidates of all windows of a document, each from the window that it belongs to."""
        merged: list[Candidate] = []
        for window, candidates in parts:
            for candidate in candidates:
                start, end = window.start + candidate.start, window.start + candidate.end
                if window.owns(start, end):
                    merged.append(candidate._replace(start=start, end=end))
        merged.sort(key=lambda candidate: (candidate.start, candidate.end))
        return merged if len(parts) == 1 else _settled(merged, self.decoding)


def clash(one: Candidate, other: Candidate, decoding: Decoding) -> bool:
    """Whether two spans cannot both be kept."""
    if decoding == "all" or one.end <= other.start or other.end <= one.start:
        return False
    within = (one.start <= other.start and other.end <= one.end) or (
        other.start <= one.start and one.end <= other.end
    )
    return decoding == "flat" or not within


def _settled(candidates: list[Candidate], decoding: Decoding) -> list[Candidate]:
    """Of kept spans from neighbouring windows that clash, the better one stays."""
    kept = [at for at, candidate in enumerate(candidates) if candidate.outcome == "kept"]
    for place, at in enumerate(kept):
        for other in kept[place + 1 :]:
            if candidates[other].start >= candidates[at].end:
                break
            if clash(candidates[at], candidates[other], decoding):
                loser = min(at, other, key=lambda number: candidates[number].score)
                candidates[loser] = candidates[loser]._replace(outcome="overlap")
    return candidates


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of windows to judge together, the longest first, within the limit of cells."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        longest = lengths[batch[0]] if batch else 0
        if batch and (len(batch) + 1) * longest**2 > _CELLS_AT_ONCE:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _readable(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words as a tokenizer takes them: halves of characters, which no text has, replaced."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        return tuple(word.encode("utf-8", "replace").decode() for word in words)
    return words
