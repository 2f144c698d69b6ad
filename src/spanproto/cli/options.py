"""Options that several commands have, and how they are read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from spanproto.errors import ConfigError

Recogniser = Annotated[Path, typer.Argument(metavar="DIR", help="What `spanproto fit` wrote.")]
Labelled = Annotated[
    Path, typer.Argument(metavar="EXAMPLES", help="Labelled sentences, in any known format.")
]
Format = Annotated[
    str | None, typer.Option(help="Format of the examples.", show_default="from the file")
]
Boundaries = Annotated[
    str,
    typer.Option(help="Entities in characters that cut a word: refuse them or snap to words."),
]
Thresholds = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        help="Least score: a number, or LABEL=NUMBER for one type, as often as needed.",
        show_default="tuned, or the model's",
    ),
]
Nested = Annotated[bool, typer.Option("--nested", help="Allow one entity within another.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def pairs(values: Iterable[str] | None, option: str) -> dict[str, str]:
    """The `LABEL=VALUE` of each value."""
    found = {}
    for value in values or ():
        label, equals, rest = value.partition("=")
        if not (equals and label and rest):
            raise ConfigError(f"{option} {value!r}: write LABEL=VALUE")
        found[label] = rest
    return found


def thresholds(values: Iterable[str] | None) -> float | dict[str, float] | None:
    """The threshold for all types, or those of some."""
    given = list(values or ())
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return _number(given[0])
    return {label: _number(text) for label, text in pairs(given, "--threshold").items()}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--threshold {text!r}: not a number; write one such as 0.5") from None
