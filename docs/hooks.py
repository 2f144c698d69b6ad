"""Fills pages from the code and from the measured results, so that they cannot go out of date."""

import dataclasses
import inspect
import json
import re
import sys
import typing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from spanproto.adaptation import AdaptationConfig
from spanproto.encoder import EncoderConfig
from spanproto.methods import METHODS, method_named
from spanproto.paper import RECIPES
from spanproto.training.settings import DataConfig, TrainingConfig


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with the text of each page."""
    run = {"data": DataConfig, "training": TrainingConfig, "model.encoder": EncoderConfig}
    filled = {
        "run settings": "\n".join(sections(config, name) for name, config in run.items()),
        "method settings": "\n".join(method_sections(name) for name in METHODS),
        "adaptation settings": sections(AdaptationConfig, "adaptation"),
        "methods": method_table(),
        "measured results": measured("README"),
        "measured choices": measured("choices"),
        "measured systems": measured("systems"),
        "measured spanproto": measured("spanproto"),
        "recipes": recipe_table(),
    }
    for name, text in filled.items():
        markdown = markdown.replace(f"{{{{ {name} }}}}", text)
    return markdown


def measured(name: str) -> str:
    """A page of measured results without its title."""
    page = Path(__file__).parents[1] / "results" / f"{name}.md"
    return page.read_text("utf-8").partition("\n")[2].strip()


def recipe_table() -> str:
    """All recipes, as `spanproto paper` lists them."""
    rows = [f"| `{name}` | {one.place} | {one.title} |" for name, one in RECIPES.items()]
    return "\n".join(["| name | in the paper | what it is |", "| --- | --- | --- |", *rows])


def method_table() -> str:
    """All methods, as `spanproto methods` lists them."""
    rows = [
        f"| `{name}` | {title} | {citation} | {idea} |"
        for name, (_, title, citation, idea) in METHODS.items()
    ]
    return "\n".join(["| name | | citation | idea |", "| --- | --- | --- | --- |", *rows])


def method_sections(name: str) -> str:
    """The settings that a method has of its own, and those of others that it presets."""
    method = method_named(name)
    parts = [f"### {name}", "", sections(method.Config, "model", without={"encoder"}, level=4)]
    presets = {"training": method.training_defaults, "adaptation": method.adaptation_defaults}
    for section, values in presets.items():
        if values:
            given = ", ".join(f"`{key}={_plain(value)}`" for key, value in values.items())
            parts += [f"Of `{section}` it presets {given}.", ""]
    return "\n".join(parts)


def sections(config: type, name: str, without: typing.Collection[str] = (), level: int = 3) -> str:
    """A heading and a table for a dataclass, and the same for those inside it."""
    hints = typing.get_type_hints(config)
    sources = [inspect.getsource(base) for base in config.__mro__ if dataclasses.is_dataclass(base)]
    comments = dict(re.findall(r"^    (\w+):.*?  # (.*)$", "\n".join(sources), re.M))
    rows, inner = [], []
    for field in dataclasses.fields(config):
        if field.name in without:
            continue
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint):
            inner.append(sections(typing.cast(type, hint), f"{name}.{field.name}", level=level))
            continue
        default = (
            field.default_factory()
            if field.default_factory is not dataclasses.MISSING
            else field.default
        )
        cells = (
            f"`{field.name}`",
            _type(hint),
            f"`{_plain(default)}`",
            comments.get(field.name, ""),
        )
        rows.append(f"| {' | '.join(cells)} |")
    parts = []
    if rows:
        parts = [
            f"{'#' * level} {name}\n\n{inspect.getdoc(config)}\n",
            "| setting | value | default | |\n| --- | --- | --- | --- |",
        ]
    return "\n".join([*parts, *rows, "", *inner])


def _plain(value: Any) -> str:
    """The value as YAML has it."""
    return value if isinstance(value, str) else json.dumps(value)


def _type(hint: Any) -> str:
    """The values that a setting takes, in words."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"{_type(arguments[1])} for each name"
    if type(None) in arguments:
        return f"{_type(arguments[0])} or `null`"
    return {str: "text", int: "whole number", float: "number", bool: "`true`, `false`"}[hint]
