"""`token-episodes`: one episode a line with sentences as in `token-json`, so that spans may nest.

`{"types": [...], "support": [{"tokens", "entities"}, ...], "query": [...]}`
"""

import re
from pathlib import Path
from typing import Any

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
from spanproto.data.formats.episode_parts import each_sentence, require_types
from spanproto.data.formats.json_values import dump, json_lines, parse_object, require_list
from spanproto.data.formats.token_json import parse_sentence, sentence_record
from spanproto.data.types import Episode, Sentence


def _parse(line: str, warn: Warn) -> Episode:
    record = parse_object(line)

    def parse(value: Any, name: str) -> Sentence:
        return parse_sentence(value, lambda message, line=None: warn(f"{name}: {message}", line))

    def part(name: str) -> tuple[Sentence, ...]:
        return each_sentence(name, require_list(record, name), parse)

    return Episode(require_types(record), part("support"), part("query"))


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Episode]:
    return Reading(parsed(json_lines(path), _parse, on_problem))


def _encode(episode: Episode, options: WriteOptions) -> str:
    def encode(sentence: Sentence, name: str) -> dict[str, Any]:
        return sentence_record(sentence)

    return dump(
        {
            "types": episode.types,
            "support": each_sentence("support", episode.support, encode),
            "query": each_sentence("query", episode.query, encode),
        }
    )


FORMAT = Format(
    name="token-episodes",
    description="JSON Lines of episodes with tokens and entities as word positions; may nest",
    patterns=("*.jsonl",),
    holds="episodes",
    sniff=lambda text: re.match(r'\s*\{.*"support"\s*:\s*\[', text) is not None,
    read=_read,
    writer=text_writer(_encode),
)
