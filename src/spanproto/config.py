"""Configuration: dataclasses in code, plain YAML on disk, `key=value` on the command line.

Any dataclass with defaults can be a section. Keys that do not exist and values of the wrong type
are refused with the nearest name or the values that fit.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from spanproto.data.files import read_text
from spanproto.errors import ConfigError, nearest_name

Section = TypeVar("Section")


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    try:
        content = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{path}: not valid YAML ({reason}); mend the file") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: a configuration is a mapping of keys to values; mend the file")
    return content


def apply_overrides(content: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """`content` with each dotted `key=value` set; values are read as YAML."""
    result = _deep_copy(content)
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise ConfigError(f"{override!r}: an override is written key=value")
        *parents, last = key.strip().split(".")
        section = result
        for parent in parents:
            if section.get(parent) is None:
                section[parent] = {}
            section = section[parent]
            if not isinstance(section, dict):
                raise ConfigError(f"{override!r}: {parent!r} is a value, not a section")
        try:
            section[last] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise ConfigError(f"{override!r}: the value is not valid YAML; quote it") from None
    return result


def build(
    section: type[Section],
    content: Mapping[str, Any],
    where: str = "",
    types: Mapping[str, type] | None = None,
) -> Section:
    """An instance of the dataclass `section` from plain values; `where` is its dotted name.

    `types` are those of fields whose declared type says less.
    """
    hints = typing.get_type_hints(section) | dict(types or {})
    fields = {field.name for field in dataclasses.fields(section)}  # type: ignore[arg-type]
    arguments: dict[str, Any] = {}
    for key, value in content.items():
        name = f"{where}.{key}" if where else str(key)
        if key not in fields:
            raise ConfigError(f"there is no setting {name!r}; {nearest_name(str(key), fields)}")
        arguments[key] = _convert(hints[key], value, name)
    return section(**arguments)


def to_dict(section: Any) -> dict[str, Any]:
    """Plain nested values of a configuration, ready for YAML or JSON."""
    return {
        field.name: to_dict(value) if dataclasses.is_dataclass(value) else value
        for field in dataclasses.fields(section)
        for value in [getattr(section, field.name)]
    }


def to_yaml(section: Any) -> str:
    """The configuration as YAML, in the order of its fields."""
    return yaml.safe_dump(to_dict(section), sort_keys=False)


def require(condition: bool, message: str) -> None:
    """Raise `ConfigError(message)` unless `condition` holds."""
    if not condition:
        raise ConfigError(message)


def _convert(hint: Any, value: Any, name: str) -> Any:
    """`value` as an instance of the type `hint`, or a ConfigError that says what would fit."""
    if dataclasses.is_dataclass(hint):
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise ConfigError(f"{name} is a section of settings, not the value {value!r}")
        return build(typing.cast(type, hint), value, name)
    origin = typing.get_origin(hint)
    if origin is Literal:
        choices = typing.get_args(hint)
        if value not in choices:
            known = [str(choice) for choice in choices]
            raise ConfigError(
                f"{name}={value!r} is not a choice; {nearest_name(str(value), known)}"
            )
        return value
    if origin in (types.UnionType, typing.Union):
        options = [option for option in typing.get_args(hint) if option is not type(None)]
        return None if value is None else _convert(options[0], value, name)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{name} is a mapping of names to values, not {value!r}")
        _, item = typing.get_args(hint)
        return {str(key): _convert(item, part, f"{name}.{key}") for key, part in value.items()}
    if origin is list:
        (item,) = typing.get_args(hint)
        values = value if isinstance(value, list) else [value]
        return [_convert(item, part, name) for part in values]
    if hint is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)  # YAML reads 1e-5 as a string
        except ValueError:
            pass
    elif type(value) is hint:
        return value
    raise ConfigError(f"{name}={value!r} is not a {_kind(hint)}")


def _kind(hint: Any) -> str:
    return {bool: "true or false", int: "whole number", float: "number", str: "string"}[hint]


def _deep_copy(content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _deep_copy(value) if isinstance(value, Mapping) else value
        for key, value in content.items()
    }
