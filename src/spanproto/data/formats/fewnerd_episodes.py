"""`fewnerd-episodes`: the episode files of Few-NERD, one JSON object a line.

`{"types": [...], "support": {"word": [[...]], "label": [[...]]}, "query": {...}}` with IO tags.
"""

import re
from pathlib import Path

from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    Warn,
    WriteOptions,
    parsed,
    text_writer,
)
from spanproto.data.formats.episode_parts import (
    encode_tagged_part,
    parse_tagged_part,
    require_types,
)
from spanproto.data.formats.json_values import dump, json_lines, parse_object
from spanproto.data.types import Episode, Sentence

_KEYS = ("word", "label")


def _parse(line: str, warn: Warn) -> Episode:
    record = parse_object(line)

    def part(name: str) -> tuple[Sentence, ...]:
        return parse_tagged_part(record, name, _KEYS, "io", warn)

    return Episode(require_types(record), part("support"), part("query"))


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Episode]:
    return Reading(parsed(json_lines(path), _parse, on_problem), "io")


def _encode(episode: Episode, options: WriteOptions) -> str:
    return dump(
        {
            "types": episode.types,
            "support": encode_tagged_part("support", episode.support, _KEYS, "io", options.merge),
            "query": encode_tagged_part("query", episode.query, _KEYS, "io", options.merge),
        }
    )


FORMAT = Format(
    name="fewnerd-episodes",
    description="Few-NERD episodes: JSON Lines with types, support and query; IO tags",
    patterns=("*.jsonl",),
    holds="episodes",
    sniff=lambda text: re.match(r'\s*\{.*"support"\s*:\s*\{', text) is not None,
    read=_read,
    writer=text_writer(_encode),
)
