"""Few-shot named entity recognition with SpanProto."""

from typing import TYPE_CHECKING, Any

from spanproto.data.types import Episode, Sentence, Span
from spanproto.entity import Entity

if TYPE_CHECKING:
    from spanproto.ner import FewShotNER

__version__ = "0.1.0"
__all__ = ["Entity", "Episode", "FewShotNER", "Sentence", "Span", "__version__"]


def __getattr__(name: str) -> Any:
    """What needs torch is imported when it is first asked for."""
    if name == "FewShotNER":
        from spanproto.ner import FewShotNER

        return FewShotNER
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
