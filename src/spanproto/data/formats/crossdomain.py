"""`crossdomain`: the episode files of Hou et al. (2020), one JSON object for a file.

`{domain: [{"support": {"seq_ins": [[...]], "seq_outs": [[...]], "labels": [...]},
"query": {...}}]}`
with BIO tags in `seq_outs`; `query` may be called `batch`. An episode's types are those of its
tags, in alphabetical order. `labels` repeats the domain for each sentence and is not read.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    Unit,
    Warn,
    WriteOptions,
    parsed,
    text_writer,
)
from spanproto.data.formats.episode_parts import encode_tagged_part, parse_tagged_part
from spanproto.data.formats.json_values import JsonCursor, dump, require_object
from spanproto.data.types import Episode, Sentence
from spanproto.errors import DataError

_KEYS = ("seq_ins", "seq_outs")
_WRITTEN_DOMAIN = "episodes"
_SNIFFED = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*\{\s*"(?:support|query|batch)"')


def _types(*parts: tuple[Sentence, ...]) -> tuple[str, ...]:
    return tuple(
        sorted({span.label for part in parts for sentence in part for span in sentence.spans})
    )


def _parse(value: Any, warn: Warn) -> Episode:
    record = require_object(value, "the episode")

    def part(name: str) -> tuple[Sentence, ...]:
        return parse_tagged_part(record, name, _KEYS, "bio", warn)

    support, query = part("support"), part("query" if "query" in record else "batch")
    return Episode(_types(support, query), support, query)


def _units(path: Path) -> Iterator[Unit[Any]]:
    cursor = JsonCursor(path)
    for domain in cursor.member_names():
        for at, (line, value) in enumerate(cursor.elements()):
            yield Unit(line, f"episode {at} of {domain!r}", value)
    cursor.finish()


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Episode]:
    return Reading(parsed(_units(path), _parse, on_problem), "bio")


def _encode(episode: Episode, options: WriteOptions) -> str:
    absent = set(episode.types).difference(_types(episode.support, episode.query))
    if absent:
        raise DataError(
            f"the types {sorted(absent)} have no entity in the episode, and this format names "
            "types by their entities alone; choose another format"
        )
    return dump(
        {
            name: encode_tagged_part(name, sentences, _KEYS, "bio")
            | {"labels": [_WRITTEN_DOMAIN] * len(sentences)}
            for name, sentences in (("support", episode.support), ("query", episode.query))
        }
    )


FORMAT = Format(
    name="crossdomain",
    description="Cross-domain episodes of Hou et al. 2020: JSON of domains; BIO tags",
    patterns=("*.json",),
    holds="episodes",
    sniff=lambda text: _SNIFFED.match(text) is not None,
    read=_read,
    writer=text_writer(
        _encode, opening=f'{{"{_WRITTEN_DOMAIN}": [\n', separator=",\n", closing="\n]}\n"
    ),
)
