"""The published type splits of Few-NERD: which entity types train, validate, test."""

import difflib
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path

from spanproto.data.files import read_text
from spanproto.data.types import Sentence
from spanproto.errors import DataError, nearest_name


def names() -> tuple[str, ...]:
    """Every split, written `benchmark/part`, such as `inter/test`."""
    return tuple(f"{benchmark}/{part}" for benchmark, parts in _splits().items() for part in parts)


def type_split(benchmark: str, part: str) -> tuple[str, ...]:
    """The types of one part (train, dev or test) of a benchmark (inter or intra), sorted."""
    splits = _splits()
    if benchmark not in splits:
        raise DataError(
            f"there is no benchmark {benchmark!r} of type splits; {nearest_name(benchmark, splits)}"
        )
    parts = splits[benchmark]
    if part not in parts:
        raise DataError(f"{benchmark} has no part {part!r}; {nearest_name(part, parts)}")
    return tuple(parts[part])


def sentences_of_split(sentences: Iterable[Sentence], types: Iterable[str]) -> list[Sentence]:
    """The sentences all of whose types are in `types`; those without entities are kept.

    A sentence with any other type is left out whole: without its label that entity would teach
    that it is none.
    """
    known = frozenset(types)
    return [
        sentence for sentence in sentences if all(span.label in known for span in sentence.spans)
    ]


def read_types(text: str) -> tuple[str, ...]:
    """Types as a user names them: a split (`inter/test`), a file of one type a line, or `a,b,c`."""
    benchmark, _, part = text.partition("/")
    if benchmark in _splits():
        return type_split(benchmark, part)
    file = Path(text)
    parts = read_text(file).splitlines() if file.is_file() else text.split(",")
    close = difflib.get_close_matches(text, names(), n=1, cutoff=0.8)
    if close and not file.is_file():
        raise DataError(f"there is no split {text!r}; did you mean {close[0]!r}?")
    types = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if not types:
        raise DataError(f"{text!r} names no types; choose from {', '.join(names())}, or list them")
    return types


@cache
def _splits() -> dict[str, dict[str, list[str]]]:
    file = resources.files("spanproto.data") / "fewnerd_types.json"
    splits: dict[str, dict[str, list[str]]] = json.loads(file.read_text("utf-8"))["splits"]
    return splits
