"""The one exception a user should ever see: a sentence that says what is wrong and what to do."""

import difflib
from collections.abc import Iterable


class SpanProtoError(ValueError):
    """Bad input. The message names the place, the problem and the remedy; the CLI exits with 2."""


class DataError(SpanProtoError):
    """A data file, sentence or episode that cannot be used as it stands."""


class ConfigError(SpanProtoError):
    """A configuration key or value that does not exist or does not fit."""


class CheckpointError(SpanProtoError):
    """A model or training checkpoint that cannot be read."""


class MissingExtraError(SpanProtoError):
    """An optional dependency that is not installed."""

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"{module} is not installed; run: pip install 'spanproto[{extra}]' to use this feature"
        )


def nearest_name(name: str, known: Iterable[str]) -> str:
    """A hint naming the known word closest to `name`, or listing them all when none is close."""
    words = sorted(known)
    close = difflib.get_close_matches(name, words, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(words)}"
