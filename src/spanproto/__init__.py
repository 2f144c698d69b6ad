"""Few-shot named entity recognition with SpanProto."""

from spanproto.data.types import Episode, Sentence, Span

__version__ = "0.1.0"
__all__ = ["Episode", "Sentence", "Span", "__version__"]
