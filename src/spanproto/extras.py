"""Optional dependencies, imported where they are first needed."""

from importlib import import_module
from typing import Any

from spanproto.errors import MissingExtraError


def optional(module: str, extra: str) -> Any:
    """The module, or a sentence that says which extra of spanproto brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise MissingExtraError(extra, module.partition(".")[0]) from None
