"""How figures look and are saved, whatever is on them."""

from pathlib import Path

import pytest

from spanproto.errors import DataError, MissingExtraError
from spanproto.plots import style


def test_a_figure_is_saved_as_its_name_says(tmp_path: Path) -> None:
    figure = style.new_figure(style.COLUMN, 2)
    style.save(figure, tmp_path / "figure.SVG")
    assert "<svg" in (tmp_path / "figure.SVG").read_text("utf-8")
    with pytest.raises(DataError, match=r"no picture can be written as txt; name it \.png"):
        style.save(figure, tmp_path / "figure.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.SVG"]


def test_for_print_there_are_both_forms_and_they_do_not_change(tmp_path: Path) -> None:
    contents = []
    for _ in range(2):
        with style.applied():
            figure = style.new_figure(style.COLUMN, 2)
            figure.add_subplot().plot([0, 1])
        style.save_for_print(figure, tmp_path / "figure.json")
        contents.append([path.read_bytes() for path in sorted(tmp_path.iterdir())])
    assert {path.name for path in tmp_path.iterdir()} == {"figure.png", "figure.svg"}
    assert contents[0] == contents[1]


def test_looks_differ_for_many_types() -> None:
    assert len(set(style.looks(20))) == 20
    few = style.looks(len(style.OKABE_ITO))
    assert len({look.colour for look in few}) == len({look.marker for look in few}) == len(few)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("spanproto.extras.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"spanproto\[plots\]"), style.applied():
        pass
