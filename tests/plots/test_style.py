"""How figures look and are saved, whatever is on them."""

from pathlib import Path

import pytest
from matplotlib.text import Text

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


def test_a_saved_figure_is_as_wide_as_it_was_made_and_its_text_of_one_size(tmp_path: Path) -> None:
    with style.applied():
        figure = style.new_figure(style.PAGE, 2)
        axes = figure.add_subplot(xlabel="x", ylabel="y", title="title")
        axes.plot([0, 1], label="line")
        figure.legend()
    style.save(figure, tmp_path / "figure.svg")
    assert f'width="{72 * style.PAGE:g}pt"' in (tmp_path / "figure.svg").read_text("utf-8")
    assert {text.get_fontsize() for text in figure.findobj(Text)} == {style.TEXT}


def test_the_first_colours_can_be_seen_on_white() -> None:
    for colour in style.OKABE_ITO[:5]:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 3  # WCAG's least for what is no text


def test_the_width_of_a_text_is_what_it_takes() -> None:
    with style.applied():
        figure = style.new_figure(style.PAGE, 2)
        text = figure.text(0, 0, "Telecommunications")
    figure.draw_without_rendering()
    taken = text.get_window_extent().width / figure.dpi
    assert style.text_width("Telecommunications") == pytest.approx(taken, rel=0.05)
    assert style.text_width("$x^$") > style.text_width("x") > style.text_width(" ") == 0
