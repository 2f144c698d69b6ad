"""What counts as one entity under each benchmark's tags."""

from collections.abc import Callable, Iterable, Mapping

from spanproto.data.types import Span
from spanproto.errors import ConfigError, nearest_name

Entities = Callable[[Iterable[Span]], frozenset[Span]]


def runs_of_one_type(spans: Iterable[Span]) -> frozenset[Span]:
    """IO tags mark the type of a word and no more: same-type spans that touch are one entity."""
    runs: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.label, span.start, span.end)):
        if runs and runs[-1].label == span.label and span.start <= runs[-1].end:
            last = runs.pop()
            span = last._replace(end=max(last.end, span.end))
        runs.append(span)
    return frozenset(runs)


PROTOCOLS: Mapping[str, Entities] = {"fewnerd": runs_of_one_type, "crossdomain": frozenset}
"""Few-NERD tags words IO. The cross-domain benchmark tags BIO, which keeps every span as it is;
so it is also the protocol for nested spans."""


def entities_under(protocol: str) -> Entities:
    """The function from spans, as predicted or annotated, to the distinct entities to score."""
    if protocol not in PROTOCOLS:
        raise ConfigError(f"there is no protocol {protocol!r}; {nearest_name(protocol, PROTOCOLS)}")
    return PROTOCOLS[protocol]
