"""The boundary matrix on paper: its cells are the model's, and marks are at the right ones."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle

from spanproto import FewShotNER
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.errors import DataError
from spanproto.plots import style
from spanproto.plots.boundary_matrix import (
    boundary_matrix_figure,
    boundary_probabilities,
    draw_boundary_matrix,
)
from spanproto.plots.style import save

WORDS = ("The", "Bank", "of", "England", "opened")
SCORES = np.arange(25.0).reshape(5, 5) / 25


def marks(axes: Axes, gid: str) -> set[tuple[int, int]]:
    """Row and column of the marks of a kind."""
    found = set()
    for patch in axes.patches:
        if patch.get_gid() == gid:
            assert isinstance(patch, Circle | Rectangle)
            x, y = patch.get_center()
            found.add((round(float(y)), round(float(x))))
    return found


def texts(axes: Axes) -> dict[float, str]:
    """What is written beside each row."""
    return {text.get_position()[1]: text.get_text() for text in axes.texts}


def test_marks_are_at_first_and_last_word() -> None:
    found = [Span(1, 4, "organisation"), Span(3, 4, "person")]
    gold = [Span(1, 4, "organisation"), Span(3, 4, "place"), Span(0, 1, "other")]
    axes = boundary_matrix_figure(WORDS, SCORES, found, gold).axes[0]
    assert marks(axes, "found") == {(1, 3), (3, 3)}
    assert marks(axes, "labelled") == {(1, 3), (3, 3), (0, 0)}
    assert texts(axes) == {0: "other (missed)", 1: "organisation", 3: "person (labelled place)"}
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(WORDS)


def test_spans_that_begin_together_share_a_row() -> None:
    found = [Span(1, 4, "organisation"), Span(1, 2, "x"), Span(1, 2, "y")]
    axes = boundary_matrix_figure(WORDS, SCORES, found).axes[0]
    assert texts(axes) == {1: "x + y, organisation"}
    axes = boundary_matrix_figure(WORDS, SCORES, found, found[:1]).axes[0]
    assert texts(axes) == {1: "x + y (not labelled), organisation"}


def reaches(spans: list[tuple[int, int]]) -> dict[str, list[tuple[float, float]]]:
    """The corners of the lines of each span."""
    found = [Span(start, end, "x") for start, end in spans]
    axes = boundary_matrix_figure(WORDS, SCORES, found).axes[0]
    return {
        str(line.get_gid()): [(float(x), float(y)) for x, y in line.get_xydata()]
        for line in axes.get_lines()
        if line.get_gid()
    }


def test_a_nested_mention_lies_within_the_lines_of_the_outer_one() -> None:
    lines = reaches([(1, 4), (3, 4)])
    assert lines == {"reach 1 4": [(0.5, 0.5), (3.5, 0.5), (3.5, 3.5)]}  # along the edges of cells


def test_mentions_that_begin_or_end_together_have_lines_of_their_own() -> None:
    lines = reaches([(0, 4), (1, 4), (2, 4), (0, 2), (0, 3)])
    right = [lines[f"reach {start} 4"][1][0] for start in (0, 1, 2)]
    above = [lines[f"reach 0 {end}"][1][1] for end in (4, 3, 2)]
    assert right == sorted(set(right), reverse=True)  # the outer one is out
    assert above == sorted(set(above))
    for places, edge in ((right, 3.5), (above, -0.5)):
        assert min(abs(a - b) for a, b in pairwise(places)) > 0.1
        assert max(abs(place - edge) for place in places) < 0.2  # clear of the marks in cells


@pytest.mark.parametrize(
    ("words", "width"), [(5, style.COLUMN), (17, style.PAGE), (24, style.PAGE)]
)
def test_the_figure_is_as_wide_as_a_column_or_a_page(words: int, width: float) -> None:
    figure = boundary_matrix_figure(
        ["word"] * words, np.zeros((words, words)), [Span(0, 2, "type")]
    )
    assert figure.get_figwidth() == width
    figure.draw_without_rendering()
    inside = figure.get_tightbbox()
    assert inside.x0 >= 0
    assert inside.x1 <= width
    assert inside.y0 >= 0
    assert inside.y1 <= figure.get_figheight()


def test_words_that_would_not_fit_a_page_are_not_made_smaller() -> None:
    figure = boundary_matrix_figure(["word"] * 60, np.zeros((60, 60)))
    figure.draw_without_rendering()
    axes = figure.axes[0]
    height = axes.get_window_extent().height / figure.dpi * 72 / 60
    assert height >= style.TEXT


def test_the_lower_triangle_is_empty_and_gold_is_in_the_legend_only_if_given() -> None:
    for gold, names in ((None, ["found"]), ([], ["labelled", "found"])):
        figure = boundary_matrix_figure(WORDS, SCORES, gold=gold)
        axes, (legend,) = figure.axes[0], figure.legends
        drawn = np.ma.asarray(axes.images[0].get_array())
        assert (np.ma.getmaskarray(drawn) == np.tri(5, k=-1, dtype=bool)).all()
        assert drawn[1, 3] == SCORES[1, 3]
        assert [text.get_text() for text in legend.get_texts()][:-1] == names


def test_words_and_types_are_no_formulas(tmp_path: Path) -> None:
    figure = boundary_matrix_figure(["$x^$", "_"], np.eye(2), [Span(0, 1, "$\\no$")])
    save(figure, tmp_path / "figure.svg")  # where a formula that is none would fail
    assert (tmp_path / "figure.svg").exists()


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(DataError, match=r"5 words need a matrix of shape \(5, 5\), not \(2, 2\)"):
        boundary_matrix_figure(WORDS, SCORES[:2, :2])
    for size in (0, 61):
        with pytest.raises(DataError, match=f"of {size} words cannot be read; give 1 to 60"):
            boundary_matrix_figure(["a"] * size, np.zeros((size, size)))


@pytest.fixture(scope="module")
def ner(trained_model: Path) -> FewShotNER:
    recogniser = FewShotNER.from_pretrained(trained_model, device="cpu")
    return recogniser.fit(synthetic.corpus(1, 10, ("animal", "fruit")), adapt=False)


def test_a_recogniser_draws_what_it_finds(ner: FewShotNER) -> None:
    text = "the animala seen near old fruitb fruitc"
    sentence = sentence_of(text)
    labelled = sentence.with_spans([Span(5, 7, "fruit")])
    plain, with_gold = (draw_boundary_matrix(ner, given).axes[0] for given in (text, labelled))
    assert marks(plain, "found") == marks(with_gold, "found") == {(1, 1), (5, 6)}
    assert marks(plain, "labelled") == set()
    assert marks(with_gold, "labelled") == {(5, 6)}
    considered = {(one.start, one.end): one.boundary_probability for one in ner.explain(sentence)}
    probabilities = boundary_probabilities(ner.model, sentence)
    assert probabilities[5, 6] == pytest.approx(considered[5, 7], abs=1e-5)


def test_words_of_different_sentences_are_no_pair(ner: FewShotNER) -> None:
    text = sentence_of("the animala was seen. The fruitb was old.")
    probabilities = boundary_probabilities(ner.model, text)
    crossing = probabilities[:5, 5:]
    assert text.words[4] == "."
    assert np.isnan(crossing).all()
    known = ~np.isnan(probabilities)
    assert (known[:5, :5] == np.tri(5, dtype=bool).T).all()


def test_a_sentence_of_words_needs_no_text(ner: FewShotNER) -> None:
    axes = draw_boundary_matrix(ner, Sentence(("the", "animala", "seen"))).axes[0]
    assert marks(axes, "found") == {(1, 1)}
