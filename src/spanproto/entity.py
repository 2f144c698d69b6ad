"""What prediction gives back: an entity and where it is in the user's own text."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entity:
    """A mention of one of the types that were shown.

    `start` and `end` are half-open positions in what was given: characters of a string, or words
    where words were given. `alternatives` are other types for the same words, best first, with
    their scores, as many as were asked for.
    """

    text: str
    label: str
    start: int
    end: int
    score: float
    alternatives: tuple[tuple[str, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The entity as plain values, ready for JSON."""
        content = asdict(self)
        content["alternatives"] = [list(pair) for pair in self.alternatives]
        if not self.alternatives:
            del content["alternatives"]
        return content
