"""File formats: telling them apart, reading them and writing them.

Every format is one entry of `FORMATS` and one module beside this one. Reading is strict here: the
first problem is a DataError with file and line. `open_sentences` and `open_episodes` take an
`on_problem` that hears of every problem instead.
"""

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from spanproto.data.boundaries import boundaries_named
from spanproto.data.files import decoded, is_binary, read_bytes, replaced_when_done
from spanproto.data.formats import (
    char_jsonl,
    conll,
    crossdomain,
    docbin,
    doccano,
    fewnerd,
    fewnerd_episodes,
    label_studio,
    prodigy,
    seq_in_out,
    token_episodes,
    token_json,
)
from spanproto.data.formats.base import (
    Format,
    Located,
    OnProblem,
    Problem,
    Reading,
    ReadOptions,
    WriteOptions,
    Writer,
)
from spanproto.data.tags import scheme_named
from spanproto.data.types import Episode, Sentence
from spanproto.errors import DataError, nearest_name

__all__ = [
    "FORMATS",
    "Format",
    "Located",
    "Problem",
    "Reading",
    "detect_format",
    "format_for_name",
    "open_episodes",
    "open_sentences",
    "read_episodes",
    "read_sentences",
    "refuse_idle_options",
    "write_episodes",
    "write_sentences",
]

Item = TypeVar("Item")
_SNIFFED_CHARACTERS = 1_000_000
_SIGNATURE_BYTES = 1024

_SENTENCE_FORMATS: dict[str, Format[Sentence]] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        docbin,
        label_studio,
        doccano,
        prodigy,
        char_jsonl,
        token_json,
        seq_in_out,
        fewnerd,
        conll,
    )
}
_EPISODE_FORMATS: dict[str, Format[Episode]] = {
    module.FORMAT.name: module.FORMAT for module in (crossdomain, fewnerd_episodes, token_episodes)
}
FORMATS: dict[str, Format[Sentence] | Format[Episode]] = {**_EPISODE_FORMATS, **_SENTENCE_FORMATS}
"""Every format by name, in the order in which a file is tried against them."""


def detect_format(path: Path | str, holds: Literal["sentences", "episodes"] | None = None) -> str:
    """The name of the format that the file's content shows, or else its name.

    A name alone may stand for a format whose rules the content breaks, so that reading it says
    what is wrong. `holds` is what is wanted, for the message where there is none.
    """
    raw = read_bytes(Path(path))
    known = ", ".join(name for name, form in FORMATS.items() if holds in (None, form.holds))
    for name, form in FORMATS.items():
        if form.signature is not None and form.signature(raw[:_SIGNATURE_BYTES]):
            return name
    if is_binary(raw):
        raise DataError(f"{path}: a binary file in no known format; the formats are {known}")
    text = decoded(Path(path), raw)
    if len(text) > _SNIFFED_CHARACTERS:
        text = text[:_SNIFFED_CHARACTERS].rpartition("\n")[0] or text[:_SNIFFED_CHARACTERS]
    for name, form in FORMATS.items():
        if form.sniff is not None and form.sniff(text):
            return name
    named = _formats_for_name(path)
    if len(named) == 1:
        return named[0]
    raise DataError(f"{path}: the file is in no known format; name one of {known}")


def format_for_name(path: Path | str, holds: Literal["sentences", "episodes"]) -> str:
    """The format that a file of that name should be written in."""
    found = [name for name in _formats_for_name(path) if FORMATS[name].holds == holds]
    if len(found) == 1:
        return found[0]
    choices = found or [name for name, form in FORMATS.items() if form.holds == holds]
    raise DataError(
        f"{path}: the file name does not say which format to write; name one of "
        f"{', '.join(choices)}"
    )


def refuse_idle_options(
    path: Path | str,
    form: Format[Any],
    *,
    label_column: int | None = None,
    scheme: str | None = None,
) -> None:
    """Refuse options that the format would ignore."""
    if label_column is not None and not form.has_label_column:
        raise DataError(f"{path}: {form.name} has no label column to choose; drop the option")
    if scheme is not None and not form.has_schemes:
        raise DataError(f"{path}: {form.name} has no tag scheme to choose; drop the option")


def _formats_for_name(path: Path | str) -> list[str]:
    """The formats that files of such a name are commonly in."""
    file_name = Path(path).name.lower()
    return [
        name
        for name, form in FORMATS.items()
        if any(fnmatch.fnmatch(file_name, pattern) for pattern in form.patterns)
    ]


def open_sentences(
    path: Path | str,
    format: str | None = None,
    *,
    label_column: int | None = None,
    scheme: str | None = None,
    boundaries: str = "refuse",
    on_problem: OnProblem | None = None,
) -> Reading[Sentence]:
    """The sentences of a file, read as they are taken; see `read_sentences`."""
    path = Path(path)
    found = format or detect_format(path, "sentences")
    form = _chosen(path, found, _SENTENCE_FORMATS, "sentences")
    refuse_idle_options(path, form, label_column=label_column, scheme=scheme)
    options = ReadOptions(
        label_column, scheme_named(scheme) if scheme else None, boundaries_named(boundaries)
    )
    return _opened(path, form, options, on_problem)


def open_episodes(
    path: Path | str, format: str | None = None, *, on_problem: OnProblem | None = None
) -> Reading[Episode]:
    """The episodes of a file, read as they are taken; see `read_episodes`."""
    path = Path(path)
    found = format or detect_format(path, "episodes")
    form = _chosen(path, found, _EPISODE_FORMATS, "episodes")
    return _opened(path, form, ReadOptions(), on_problem)


def read_sentences(
    path: Path | str,
    format: str | None = None,
    *,
    label_column: int | None = None,
    scheme: str | None = None,
    boundaries: str = "refuse",
    on_warning: Callable[[str], None] | None = None,
) -> list[Sentence]:
    """The labelled sentences of a file.

    The format is found from the content unless it is given. `label_column` (from 0, or negative
    from the end) and the tag `scheme` are for `conll`, which finds them too. `boundaries` is for
    formats in characters: whether an entity that begins or ends inside a word is refused or
    snapped to the words that it touches. `on_warning` hears what was read with leniency.
    """

    def strict(problem: Problem) -> None:
        if problem.is_error:
            raise DataError(problem.within(Path(path)))
        if on_warning is not None:
            on_warning(problem.within(Path(path)))

    opened = open_sentences(
        path,
        format,
        label_column=label_column,
        scheme=scheme,
        boundaries=boundaries,
        on_problem=strict,
    )
    return [located.item for located in opened.items]


def read_episodes(path: Path | str, format: str | None = None) -> list[Episode]:
    """The episodes of a file; the format is found from the content unless it is given."""
    return [located.item for located in open_episodes(path, format).items]


def write_sentences(
    path: Path | str,
    sentences: Iterable[Sentence],
    format: str,
    *,
    scheme: str | None = None,
    merge: bool = False,
) -> None:
    """Write sentences as they come; the file appears whole or not at all.

    `scheme` is for `conll` (default bio). `merge` lets touching entities of one type become one
    where the tags are IO; without it they are an error, as is whatever else the format cannot hold.
    """
    path = Path(path)
    form = _chosen(path, format, _SENTENCE_FORMATS, "sentences")
    refuse_idle_options(path, form, scheme=scheme)
    options = WriteOptions(scheme_named(scheme) if scheme else None, merge)
    _write(path, sentences, form, options)


def write_episodes(
    path: Path | str, episodes: Iterable[Episode], format: str, *, merge: bool = False
) -> None:
    """Write episodes as they come; the file appears whole or not at all. `merge`: see above."""
    path = Path(path)
    form = _chosen(path, format, _EPISODE_FORMATS, "episodes")
    _write(path, episodes, form, WriteOptions(merge=merge))


def _chosen(path: Path, name: str, formats: Mapping[str, Format[Item]], holds: str) -> Format[Item]:
    if name in formats:
        return formats[name]
    if name in FORMATS:
        raise DataError(
            f"{path}: the format {name} holds {FORMATS[name].holds} and {holds} are needed; "
            f"choose from {', '.join(formats)}"
        )
    raise DataError(f"{path}: there is no format {name!r}; {nearest_name(name, FORMATS)}")


def _opened(
    path: Path, form: Format[Item], options: ReadOptions, on_problem: OnProblem | None
) -> Reading[Item]:
    problems = 0

    def report(problem: Problem) -> None:
        nonlocal problems
        problems += problem.is_error
        if on_problem is not None:
            on_problem(problem)
        elif problem.is_error:
            raise DataError(problem.within(path))

    reading = form.read(path, options, report)

    def items() -> Iterator[Located[Item]]:
        empty = True
        for located in reading.items:
            empty = False
            yield located
        if empty and not problems:
            raise DataError(f"{path}: the file holds no {form.holds}; give at least one")

    return Reading(items(), reading.scheme)


def _write(path: Path, items: Iterable[Item], form: Format[Item], options: WriteOptions) -> None:
    writer = form.writer
    if writer is None:
        able = [
            name for name, other in FORMATS.items() if other.writer and other.holds == form.holds
        ]
        raise DataError(
            f"{path}: the format {form.name} is only read; write one of {', '.join(able)}"
        )
    try:
        with replaced_when_done(path) as temporary, temporary.open("wb") as stream:
            stream.writelines(writer.assemble(_pieces(path, items, form, writer, options)))
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); choose another place"
        ) from None


def _pieces(
    path: Path,
    items: Iterable[Item],
    form: Format[Item],
    writer: Writer[Item],
    options: WriteOptions,
) -> Iterator[Any]:
    """The encoded items; what is wrong with one is said with its place among them."""
    count = 0
    for count, item in enumerate(items, start=1):
        try:
            piece = writer.encode(item, options)
        except DataError as error:
            where = f"{form.holds.removesuffix('s')} {count - 1}"
            raise DataError(f"{path}: {where}: {error}") from None
        yield piece
    if not count:
        raise DataError(f"{path}: there are no {form.holds} to write; give at least one")
