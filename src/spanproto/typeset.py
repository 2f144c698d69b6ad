"""The types that a recogniser looks for: what it was shown of each, and from which score on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from spanproto.data.types import Episode, Sentence
from spanproto.errors import DataError, nearest_name
from spanproto.passages import examples_of


@dataclass(frozen=True)
class TypeSet:
    """Types with their examples, their descriptions if they have any, and chosen thresholds."""

    labels: tuple[str, ...]
    examples: tuple[Sentence, ...]
    descriptions: dict[str, str] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        examples: Sequence[Sentence],
        labels: Iterable[str] | None = None,
        descriptions: Mapping[str, str] | None = None,
    ) -> "TypeSet":
        """The types that the examples show, or those of them that `labels` name.

        Entities of other types stay examples of what has none of these types.
        """
        shown = _labels_of(examples)
        if not shown:
            raise DataError("the examples show no type; give at least one with a labelled span")
        if isinstance(labels, str):
            labels = [labels]
        chosen = tuple(shown if labels is None else dict.fromkeys(labels))
        if not chosen:
            raise DataError("no label is named; name at least one, or leave labels out")
        for label in chosen:
            _require_shown(label, shown)
        return cls(chosen, _restricted(examples, chosen)).described(descriptions)

    def described(self, descriptions: Mapping[str, str] | None) -> "TypeSet":
        """The types with more descriptions; a description for a type without example is refused."""
        for label, text in (descriptions or {}).items():
            _require_shown(label, self.labels)
            if not isinstance(text, str) or not text.strip():
                raise DataError(f"the description of {label!r} is empty; write one or leave it out")
        return replace(self, descriptions={**self.descriptions, **(descriptions or {})})

    def with_examples(self, examples: Sequence[Sentence]) -> "TypeSet":
        """The types and those that more examples show."""
        labels = dict.fromkeys((*self.labels, *_labels_of(examples)))
        return replace(self, labels=tuple(labels), examples=(*self.examples, *map(_own, examples)))

    def without(self, label: str) -> "TypeSet":
        """The types but one, whose entities are now examples of what has none of the types."""
        if label not in self.labels:
            raise DataError(f"there is no label {label!r}; {nearest_name(label, self.labels)}")
        rest = tuple(other for other in self.labels if other != label)
        if not rest:
            raise DataError(
                f"{label!r} is the only label, and one is needed; add another before removing it"
            )
        return TypeSet(
            rest,
            _restricted(self.examples, rest),
            {name: text for name, text in self.descriptions.items() if name != label},
            {name: value for name, value in self.thresholds.items() if name != label},
        )

    @cached_property
    def task(self) -> Episode:
        """The types as an episode whose support set is the examples, a passage each."""
        support = chain.from_iterable(examples_of(example) for example in self.examples)
        return Episode(self.labels, tuple(support), (), tuple(self.descriptions.items()))


def _labels_of(examples: Iterable[Sentence]) -> list[str]:
    """The labels in the order in which they first appear."""
    return list(dict.fromkeys(span.label for example in examples for span in example.spans))


def _require_shown(label: str, shown: Sequence[str]) -> None:
    if label not in shown:
        raise DataError(
            f"the label {label!r} has no labelled span; add an example of it "
            f"({nearest_name(label, shown)})"
        )


def _restricted(examples: Sequence[Sentence], labels: tuple[str, ...]) -> tuple[Sentence, ...]:
    """The examples with spans of these labels; those of others are entities of no type."""
    everything = Episode(tuple(_labels_of(examples)), tuple(map(_own, examples)), ())
    return everything.for_types(labels).support


def _own(example: Sentence) -> Sentence:
    """The example with its text only if its words are where it says that they are."""
    if example.text is None or example.offsets is None:
        return example
    read = tuple(example.text[start:end] for start, end in example.offsets)
    return example if read == example.words else replace(example, text=None, offsets=None)
