import pytest

from spanproto.data.types import Span
from spanproto.errors import ConfigError
from spanproto.evaluation.protocols import entities_under


@pytest.mark.parametrize(
    ("spans", "entities"),
    [
        ([Span(0, 1, "a"), Span(1, 3, "a")], {Span(0, 3, "a")}),
        ([Span(3, 4, "a"), Span(1, 3, "a"), Span(0, 1, "a")], {Span(0, 4, "a")}),
        ([Span(0, 1, "a"), Span(2, 3, "a")], {Span(0, 1, "a"), Span(2, 3, "a")}),
        ([Span(0, 1, "a"), Span(1, 2, "b")], {Span(0, 1, "a"), Span(1, 2, "b")}),
        (
            [Span(0, 1, "a"), Span(0, 4, "b"), Span(1, 2, "a")],
            {Span(0, 2, "a"), Span(0, 4, "b")},
        ),
        ([Span(0, 5, "a"), Span(1, 2, "a"), Span(5, 6, "a")], {Span(0, 6, "a")}),
        ([], set()),
    ],
)
def test_io_tags_cannot_tell_touching_spans_of_one_type_apart(
    spans: list[Span], entities: set[Span]
) -> None:
    assert entities_under("fewnerd")(spans) == entities


def test_bio_tags_keep_spans_and_duplicates_count_once() -> None:
    spans = [Span(0, 1, "a"), Span(1, 2, "a"), Span(0, 1, "a")]
    assert entities_under("crossdomain")(spans) == {Span(0, 1, "a"), Span(1, 2, "a")}


def test_an_unknown_protocol_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'fewnerd'"):
        entities_under("few-nerd")
