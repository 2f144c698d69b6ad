"""Few-shot NER systems on one contract: the table of them all.

A method is one file beside this one, with a class on the contract of `base.py`, and one line here.
The table can be read without importing any of them, which would import torch.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from spanproto.errors import ConfigError, nearest_name

if TYPE_CHECKING:
    from spanproto.methods.base import Method


class MethodEntry(NamedTuple):
    """What the table says of a method."""

    place: str  # module:class
    title: str  # the name that papers use
    citation: str
    idea: str  # in one line


METHODS: Mapping[str, MethodEntry] = {
    "spanproto": MethodEntry(
        "spanproto.model:SpanProto",
        "SpanProto",
        "Wang et al., EMNLP 2022",
        "finds spans by a boundary matrix, then gives each the type of its nearest prototype",
    ),
}
"""Every method by the name that the command line and configurations use."""


def method_named(name: str) -> "type[Method]":
    """The class of the method of that name; only then is its file imported."""
    if name not in METHODS:
        raise ConfigError(f"there is no method {name!r}; {nearest_name(name, METHODS)}")
    module, _, class_name = METHODS[name].place.partition(":")
    method: type[Method] = getattr(import_module(module), class_name)
    return method
