"""Sentences, and files in which they are written, for the tests of formats."""

import json
from pathlib import Path
from typing import Any

import pytest

from spanproto.data.formats import read_episodes, read_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError

ANNA = Sentence(("Anna", "sleeps"), (Span(0, 1, "PER"),))
NESTED = Sentence(("Bank", "of", "Spain"), (Span(0, 3, "ORG"), Span(2, 3, "LOC")))
TOUCHING = Sentence(("Anna", "Bob"), (Span(0, 1, "PER"), Span(1, 2, "PER")))


def put(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def episode_line(**changed: Any) -> str:
    part = {"word": [["Anna", "sleeps"]], "label": [["PER", "O"]]}
    return json.dumps({"types": ["PER"], "support": part, "query": part} | changed)


def refusal(path: Path, format: str | None = None, **options: Any) -> str:
    read: Any = read_episodes if (format or "").endswith(("episodes", "domain")) else read_sentences
    with pytest.raises(DataError) as caught:
        read(path, format, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(path))
