"""Few-shot named entity recognition with SpanProto."""

import os
from typing import TYPE_CHECKING, Any

from spanproto.data.types import Episode, Sentence, Span
from spanproto.entity import Entity

if TYPE_CHECKING:
    from spanproto.ner import FewShotNER

# Threads that wait for each other by spinning are several times slower on a busy machine. It has
# to be said before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"
__all__ = ["Entity", "Episode", "FewShotNER", "Sentence", "Span", "__version__"]


def __getattr__(name: str) -> Any:
    """What needs torch is imported when it is first asked for."""
    if name == "FewShotNER":
        from spanproto.ner import FewShotNER

        return FewShotNER
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
