"""The model card: a README that tells people and the model hub what a model directory holds."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import yaml

from spanproto.data.files import atomic_writer
from spanproto.methods import METHODS

CARD = "README.md"
_TAGS = ["spanproto", "few-shot", "named-entity-recognition", "prototypical-networks"]
_OF_THE_MODEL_ITSELF = {"title", "summary", "quality", "quality_note", "limits"}
_SIGNATURE = "<!-- card written by spanproto; edit it and it is yours: {} -->"
_LOADING = """\
With spanproto installed:

```python
from spanproto import FewShotNER

{code}
```"""
_FRESH = """\
ner = FewShotNER.from_pretrained("PATH-OR-HUB-NAME")
ner.fit([{"text": "Ada Lovelace wrote.", "entities": [(0, 12, "person")]}])
print(ner.predict("Grace Hopper joined the Navy."))"""
_OTHER_METHOD = """\
```bash
pip install spanproto
spanproto evaluate PATH EPISODES --protocol crossdomain
```"""
_FITTED = """\
ner = FewShotNER.from_pretrained("PATH-OR-HUB-NAME")
print(ner.predict("your own text"))"""


def model_card(
    *,
    encoder: str,
    parameters: int,
    labels: Sequence[str] = (),
    origin: Mapping[str, Any] | None = None,
    method: str = "spanproto",
) -> str:
    """The card of a model, in Markdown with the hub's header.

    `labels` are the types that it was fitted to. Of `origin` it uses what is there: `license`,
    `title`, `summary`, `limits`, `data` (a list of {name, license, sha256}), `quality` (a list of
    rows with the same keys), `quality_note`, `seed`, `command`, `commit` and `hardware`. What was
    said and measured of a model is not said of one that was fitted from it.
    """
    known = dict(origin or {})
    if labels:
        for name in _OF_THE_MODEL_ITSELF & known.keys():
            del known[name]
    sections = [
        f"# {known.get('title', 'A few-shot entity recogniser')}",
        known.get("summary") or _summary(method, PurePath(encoder).name, parameters, labels),
        _section("Types", _bullets(f"`{label}`" for label in labels)),
        _section("How to use it", _usage(method, labels)),
        _section("Measured quality", _quality(known)),
        _section("Training data", _bullets(map(_data_line, known.get("data") or []))),
        _section("Training", _training(known)),
        _section("Limits", known.get("limits") or ""),
    ]
    body = "\n\n".join(section for section in sections if section)
    return signed(f"---\n{_header(known)}---\n\n{body}\n")


def save_card(directory: Path, card: str) -> None:
    """Write the card, unless the one that is there was written or changed by a person."""
    path = directory / CARD
    if path.exists() and not is_signed(path.read_text("utf-8", "replace")):
        return
    with atomic_writer(path) as stream:
        stream.write(card)


def signed(card: str) -> str:
    """The card with a last line from which it can be told whether anyone has changed it."""
    return f"{card}\n{_signature(card)}\n"


def is_signed(text: str) -> bool:
    """Whether a card is as spanproto wrote it."""
    card, _, last = text.rstrip("\n").rpartition("\n")
    return last == _signature(card)


def _signature(card: str) -> str:
    return _SIGNATURE.format(hashlib.sha256(card.encode("utf-8", "replace")).hexdigest()[:16])


def _header(known: Mapping[str, Any]) -> str:
    header = {
        "library_name": "spanproto",
        "pipeline_tag": "token-classification",
        "license": known.get("license", "unknown"),
        "tags": _TAGS,
    }
    return yaml.safe_dump(header, sort_keys=False)


def _usage(method: str, labels: Sequence[str]) -> str:
    if method != "spanproto":
        return _OTHER_METHOD
    return _LOADING.format(code=_FITTED if labels else _FRESH)


def _summary(method: str, encoder: str, parameters: int, labels: Sequence[str]) -> str:
    size = f"{parameters / 1e6:.1f}M parameters in all"
    if method != "spanproto":
        _, title, citation, idea = METHODS[method]
        return f"{title} ({citation}) over the encoder {encoder}, {size}: {idea}."
    does = (
        "finds the entity types below in text"
        if labels
        else "finds entities of any types that it is shown a handful of examples of"
    )
    return (
        f"A SpanProto model that {does}, and says when a span is none of them: a span extractor "
        f"and prototypes over the encoder {encoder}, {size}."
    )


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _bullets(lines: Any) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _data_line(data: Mapping[str, Any]) -> str:
    licence = f", {data['license']}" if data.get("license") else ""
    digest = f" (SHA-256 `{data['sha256'][:12]}`)" if data.get("sha256") else ""
    return f"{data.get('name', 'unnamed')}{licence}{digest}"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _quality(known: Mapping[str, Any]) -> str:
    table = _table(known.get("quality") or [])
    note = known.get("quality_note")
    return f"{note}\n\n{table}" if table and note else table


def _training(known: Mapping[str, Any]) -> str:
    hardware = known.get("hardware") or {}
    facts = {
        "command": known.get("command") and f"`{known['command']}`",
        "commit": known.get("commit") and f"`{known['commit']}`",
        "seed": known.get("seed"),
        "hardware": hardware.get("gpu") or hardware.get("cpu"),
    }
    return _bullets(f"{name}: {value}" for name, value in facts.items() if value is not None)
