"""A fitted recogniser on disk: a model directory that also holds what the model was fitted to.

Beside the model's own files there are `ner.json` (labels, descriptions, thresholds, settings),
`examples.jsonl` (the examples, which `fit` reads too) and `prototypes.safetensors`.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from spanproto.checkpoint import load_spanproto, save_model
from spanproto.data.boundaries import labelled
from spanproto.data.files import numbered_lines, parse_json, read_text
from spanproto.data.types import Sentence, Span
from spanproto.encoder import SETTINGS
from spanproto.errors import CheckpointError, DataError
from spanproto.model import SpanProto
from spanproto.model_card import CARD
from spanproto.support import Prototypes
from spanproto.tensor_file import load_tensors, save_tensors
from spanproto.typeset import TypeSet

FORMAT_VERSION = 1
FITTED, EXAMPLES, PROTOTYPES = "ner.json", "examples.jsonl", "prototypes.safetensors"
WEIGHTS = "model*.safetensors*"


class Fitted(NamedTuple):
    """A model, the types it was fitted to, and how."""

    model: SpanProto
    types: TypeSet
    prototypes: Prototypes
    settings: dict[str, Any]


def is_fitted(directory: Path) -> bool:
    """Whether the directory holds a fitted recogniser."""
    return (directory / FITTED).is_file()


def save_fitted(fitted: Fitted, directory: Path) -> None:
    """Write all files; what is incomplete is never taken for a fitted recogniser."""
    types = fitted.types
    content = {
        "format_version": FORMAT_VERSION,
        "labels": list(types.labels),
        "descriptions": types.descriptions,
        "thresholds": types.thresholds,
        "settings": fitted.settings,
    }
    with _filled_when_done(directory) as folder:
        if (directory / CARD).exists():  # it may be the user's own
            shutil.copy(directory / CARD, folder)
        save_model(fitted.model, folder, labels=types.labels)
        save_tensors(folder / PROTOTYPES, fitted.prototypes.to_tensors())
        lines = (json.dumps(_record(s), ensure_ascii=False) for s in types.examples)
        (folder / EXAMPLES).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        text = json.dumps(content, ensure_ascii=False, indent=2)
        (folder / FITTED).write_text(f"{text}\n", encoding="utf-8")


def load_fitted(directory: Path) -> Fitted:
    """The recogniser that `save_fitted` wrote."""
    model = load_spanproto(directory)
    if not is_fitted(directory):
        raise CheckpointError(
            f"{directory}: a model that was not fitted, {FITTED} is missing; fit it to examples "
            "(spanproto fit, or FewShotNER.from_pretrained and fit) and save it"
        )
    tensors, _ = load_tensors(directory / PROTOTYPES)
    try:
        place = str(directory / FITTED)
        content = parse_json(read_text(directory / FITTED), place)
        if content["format_version"] != FORMAT_VERSION:
            raise CheckpointError(
                f"{place}: format {content['format_version']!r}, but this spanproto reads format "
                f"{FORMAT_VERSION}; install the spanproto version that wrote it, or fit again"
            )
        types = TypeSet(
            tuple(content["labels"]),
            tuple(_examples(directory / EXAMPLES)),
            dict(content["descriptions"]),
            {label: float(value) for label, value in content["thresholds"].items()},
        )
        prototypes = Prototypes.of_tensors(tensors)
        if len(prototypes.centres) != len(types.labels):
            raise CheckpointError(
                f"{place}: {len(types.labels)} labels for {len(prototypes.centres)} prototypes; "
                "restore the directory or fit and save again"
            )
        return Fitted(model, types, prototypes, dict(content["settings"]))
    except DataError as error:
        raise CheckpointError(str(error)) from None
    except (KeyError, TypeError, AttributeError):
        raise CheckpointError(f"{directory}: damaged; restore it or fit and save again") from None


def _examples(path: Path) -> Iterator[Sentence]:
    for number, line in numbered_lines(path):
        if line:
            yield _sentence(parse_json(line, f"{path}:{number}"))


def _record(sentence: Sentence) -> dict[str, Any]:
    """The sentence with its entities as characters of its text, or as words if it has none."""
    entities, others = sentence.spans, sentence.others
    content: dict[str, Any] = {"words": list(sentence.words)}
    if sentence.text is not None and sentence.offsets is not None:
        content = {"text": sentence.text, "offsets": [list(pair) for pair in sentence.offsets]}
        first, last = zip(*sentence.offsets, strict=True) if sentence.offsets else ((), ())
        entities = tuple(Span(first[s.start], last[s.end - 1], s.label) for s in sentence.spans)
        others = tuple((first[start], last[end - 1]) for start, end in sentence.others)
    content["entities"] = [{"start": s.start, "end": s.end, "label": s.label} for s in entities]
    return content | ({"others": [list(pair) for pair in others]} if others else {})


def _sentence(record: dict[str, Any]) -> Sentence:
    """The sentence of which `_record` made the record."""
    spans = [Span(e["start"], e["end"], e["label"]) for e in record["entities"]]
    others = [Span(start, end, "") for start, end in record.get("others", [])]
    if "text" in record:
        text, offsets = record["text"], tuple((start, end) for start, end in record["offsets"])
        bare = Sentence(tuple(text[start:end] for start, end in offsets), (), text, offsets)
        if not offsets:
            return bare
        spans, others = (
            list(labelled(bare, found, "refuse", _unheard).spans) for found in (spans, others)
        )
    else:
        bare = Sentence(tuple(record["words"]))
    return Sentence(
        bare.words, tuple(spans), bare.text, bare.offsets, tuple(span[:2] for span in others)
    )


def _unheard(message: str) -> None:
    """What a file of our own says twice was said twice by the user."""


@contextmanager
def _filled_when_done(directory: Path) -> Iterator[Path]:
    """A temporary folder that takes the place of `directory` when the block ends without an error.

    Only a folder that is empty or holds a model of ours is replaced, in one move; other files in
    it come along.
    """
    directory = directory.resolve()
    if directory.exists() and not directory.is_dir():
        raise DataError(f"{directory}: cannot be written (not a folder); choose another place")
    before = set(directory.iterdir()) if directory.exists() else set()
    if before and not (directory / SETTINGS).exists():
        raise DataError(
            f"{directory}: holds other files and no model; choose a new or an empty folder"
        )
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        try:
            yield folder
            for path in before:
                if not (folder / path.name).exists() and not fnmatch(path.name, WEIGHTS):
                    _copy(path, folder / path.name)
            folder.chmod(0o755)
            if directory.exists():
                old = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
                directory.replace(old)
                folder.replace(directory)
                shutil.rmtree(old, ignore_errors=True)
            else:
                folder.replace(directory)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise DataError(
            f"{directory}: cannot be written ({error.strerror}); choose another place"
        ) from None


def _copy(source: Path, target: Path) -> None:
    (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
