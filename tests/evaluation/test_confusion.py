"""Which type was taken for which, counted by hand."""

from pathlib import Path

import pytest

from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError, MissingExtraError
from spanproto.evaluation.by_type import type_report
from spanproto.evaluation.confusion import Confusion


def test_counts_by_hand() -> None:
    confusion = Confusion(["x", "y"])
    confusion.add([Span(0, 1, "x"), Span(2, 3, "x")], [Span(0, 1, "x"), Span(2, 3, "y")])
    confusion.add([Span(0, 2, "y")], [Span(0, 1, "y"), Span(3, 4, "x")])
    assert confusion.rows() == [[1, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert confusion.count("x", "y") == 1
    assert confusion.to_dict() == {
        "x": {"x": 1, "y": 1, "missed": 0},
        "y": {"x": 0, "y": 0, "missed": 1},
        "spurious": {"x": 1, "y": 1, "missed": 0},
    }


def test_two_types_on_the_same_words_are_matched_first() -> None:
    confusion = Confusion(["x", "y"])
    confusion.add([Span(0, 1, "x"), Span(0, 1, "y")], [Span(0, 1, "y")])
    assert confusion.rows() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_a_report_scores_each_type_and_all() -> None:
    shown = Sentence(("a",), (Span(0, 1, "x"),))
    gold = [
        Sentence(("a", "b"), (Span(0, 1, "x"), Span(1, 2, "y"))),
        Sentence(("a", "b"), (Span(0, 2, "x"),)),
    ]
    report = type_report(
        Episode(("x",), (shown,), ()), gold, [[Span(0, 1, "x"), Span(1, 2, "x")], []]
    )
    assert report.types["x"].precision == 50
    assert report.types["x"].recall == 50
    assert report.types["y"].gold == 1
    assert report.micro.f1 == 40
    assert report.confusion.count("y", "x") == 1
    assert report.to_table().splitlines() == [
        "type     P     R    F1  labelled  found  right",
        "x     50.0  50.0  50.0         2      2      1",
        "y      0.0   0.0   0.0         1      0      0",
        "all   50.0  33.3  40.0         3      2      1",
        "",
        "confused:",
        "  y as x: 1",
    ]


@pytest.mark.parametrize("name", ["picture.png", "picture.SVG", "picture"])
def test_a_picture_is_drawn(tmp_path: Path, name: str) -> None:
    confusion = Confusion(["x"])
    confusion.add([Span(0, 1, "x")], [])
    confusion.save(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(DataError, match="no picture can be written as txt"):
        confusion.save(tmp_path / "picture.txt")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("spanproto.extras.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'spanproto\[plots\]'"):
        Confusion(["x"]).save(tmp_path / "picture.png")
