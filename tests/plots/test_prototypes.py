"""The map of spans and prototypes: who is where, and what the circles stand for."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import synthetic
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from spanproto.errors import DataError
from spanproto.judging import judge
from spanproto.model import SpanProto
from spanproto.plots import style
from spanproto.plots.prototypes import (
    KINDS,
    SpanPoint,
    draw_prototypes,
    map_spans,
    prototypes_figure,
    span_points,
    swarm,
)
from spanproto.support import support_prototypes

RANDOM = np.random.default_rng(0)
PROTOTYPES = {"person": np.zeros(8), "site": np.full(8, 4.0)}
POINTS = [
    SpanPoint(centre + RANDOM.normal(size=8) / 4, label, kind)
    for label, centre in PROTOTYPES.items()
    for kind in ("example", "example", "example", "query mention")
] + [SpanPoint(np.full(8, 2.0), "site", "false positive")]


def test_circles_have_the_radius_at_the_scale_of_the_map() -> None:
    vectors, centres = np.stack([p.vector for p in POINTS]), np.stack(list(PROTOTYPES.values()))
    drawn = map_spans(vectors, centres, 3.0)
    ratios = []
    for vector, place in zip(vectors, drawn.spans, strict=True):
        real = np.linalg.norm(vector - centres, axis=1)
        nearest = real.argmin()
        ratios.append(np.linalg.norm(place - drawn.centres[nearest]) / real[nearest])
    assert drawn.scale == pytest.approx(np.median(ratios), rel=1e-4)
    assert drawn.enlarged == 1
    figure = prototypes_figure(POINTS, PROTOTYPES, 3.0)
    axes = figure.axes[0]
    circles = {p.get_gid(): p for p in axes.patches if isinstance(p, Circle)}
    assert set(circles) == {"circle person", "circle site"}
    for circle, centre in zip(circles.values(), drawn.centres, strict=True):
        assert circle.get_radius() == pytest.approx(3.0 * drawn.scale)
        assert circle.get_center() == pytest.approx(tuple(centre))
    note = figure.get_supxlabel()
    assert f"distance ({drawn.scale:.2g}); {drawn.faithful:.0%} of the spans" in note


def test_circles_can_be_seen_where_spans_lie_close_and_it_is_said() -> None:
    vectors, centres = np.stack([p.vector for p in POINTS]), np.stack(list(PROTOTYPES.values()))
    drawn = map_spans(vectors, centres, 0.01)
    assert drawn.enlarged > 1
    width = np.ptp(np.concatenate((drawn.spans, drawn.centres))[:, 0])
    assert drawn.reach(0.01) == pytest.approx(0.035 * width)
    figure = prototypes_figure(POINTS, PROTOTYPES, 0.01)
    circle = next(p for p in figure.axes[0].patches if isinstance(p, Circle))
    assert circle.get_radius() == pytest.approx(drawn.reach(0.01))
    assert f" and by {drawn.enlarged:.2g}, to be seen" in figure.get_supxlabel()


def marks(axes: Axes, kind: str) -> list[Line2D]:
    return [line for line in axes.get_lines() if line.get_gid() == kind]


def test_a_type_has_its_shape_in_everything_that_is_of_it() -> None:
    points = [
        SpanPoint(centre + number, label, kind)
        for label, centre in PROTOTYPES.items()
        for number, kind in enumerate(KINDS)
    ]
    for axes in prototypes_figure(points, PROTOTYPES, 3.0).axes:
        for kind in (*KINDS, "prototype"):
            shapes = [line.get_marker() for line in marks(axes, kind)]
            assert shapes == [look.marker for look in style.looks(2)]  # no colour is needed
        crosses = [line for line in axes.get_lines() if line.get_marker() == "x"]
        assert [line.get_xydata().tolist() for line in crosses] == [
            line.get_xydata().tolist() for line in marks(axes, "false positive")
        ]


def test_names_of_types_are_dark() -> None:
    right = prototypes_figure(POINTS, PROTOTYPES, 3.0).axes[1]
    assert {tick.get_color() for tick in right.get_yticklabels()} == {style.INK}


def test_spans_at_one_distance_do_not_hide_each_other() -> None:
    twice = [*POINTS, POINTS[-1], POINTS[-1]]
    right = prototypes_figure(twice, PROTOTYPES, 3.0).axes[1]
    places = [line.get_xydata()[0] for line in marks(right, "false positive")]
    assert len({float(x) for x, _ in places}) == 1  # distances stay as they are
    assert len({float(y) for _, y in places}) == 3


def test_a_swarm_moves_only_what_would_be_hidden() -> None:
    assert swarm([0.0, 1.0, 2.0], 0.5) == [0.0, 0.0, 0.0]
    moved = swarm([1.0, 0.0, 1.1, 0.9], 0.5)
    assert len(set(moved[:1] + moved[2:])) == 3
    assert moved[1] == 0.0
    assert swarm([], 1.0) == []


def test_an_example_that_is_its_prototype_says_nothing_of_the_scale() -> None:
    centres = np.stack([*PROTOTYPES.values(), np.arange(8.0)])
    alone = map_spans(centres, centres, 3.0)
    with_query = map_spans(np.concatenate((centres, centres[:1] + 1)), centres, 3.0)
    for drawn, vectors in ((alone, centres), (with_query, np.vstack((centres, centres[:1] + 1)))):
        real = np.linalg.norm(vectors[:, None] - centres, axis=-1)
        shown = np.linalg.norm(drawn.spans[:, None] - drawn.centres, axis=-1)
        ratios = (shown / np.where(real == 0, np.inf, real)).ravel()
        expected = np.median(ratios[real.ravel() > 0]) if drawn is alone else ratios[9]
        assert drawn.scale == pytest.approx(expected, rel=1e-4)


def test_the_share_of_spans_on_the_right_side_is_counted() -> None:
    vectors, centres = np.stack([p.vector for p in POINTS]), np.stack(list(PROTOTYPES.values()))
    assert map_spans(vectors, centres, 1e6).faithful == 1.0  # all within
    drawn = map_spans(vectors, centres, 0.5)
    real = np.linalg.norm(vectors[:, None] - centres, axis=-1)
    near = real.argmin(1)
    shown = np.linalg.norm(drawn.spans - drawn.centres[near], axis=1) <= 0.5 * drawn.scale
    assert drawn.faithful == pytest.approx(np.mean(shown == (real.min(1) <= 0.5)))


def test_real_distances_are_drawn_as_they_are() -> None:
    figure = prototypes_figure(POINTS, PROTOTYPES, 3.0)
    left, right = figure.axes
    for axes in (left, right):
        kinds = Counter(line.get_gid() for line in axes.get_lines())
        assert (kinds["example"], kinds["query mention"], kinds["false positive"]) == (6, 2, 1)
    (wrong,) = [line for line in right.get_lines() if line.get_gid() == "false positive"]
    assert list(wrong.get_xdata()) == [pytest.approx(np.sqrt(8 * 4.0))]
    (radius,) = [line for line in right.get_lines() if line.get_gid() == "radius"]
    assert set(radius.get_xdata()) == {3.0}
    assert [tick.get_text() for tick in right.get_yticklabels()] == ["person", "site"]
    assert right.get_xlim()[0] < 0  # an example at distance 0 is drawn whole
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "example",
        "query mention",
        "false positive",
        "prototype",
    ]


def test_everything_is_within_the_frame_and_the_map_is_widest_across() -> None:
    axes = prototypes_figure(POINTS, PROTOTYPES, 3.0).axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for patch in (patch for patch in axes.patches if isinstance(patch, Circle)):
        x, y = patch.get_center()
        reach = patch.get_radius()
        assert left < x - reach < x + reach < right
        assert bottom < y - reach < y + reach < top
    places = np.array([line.get_xydata()[0] for line in axes.get_lines()])
    assert np.ptp(places[:, 0]) > np.ptp(places[:, 1])
    assert not axes.texts


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(DataError, match="at least 4 spans and prototypes"):
        prototypes_figure(POINTS[:1], PROTOTYPES, 3.0)
    with pytest.raises(DataError, match="at least 4 spans and prototypes"):
        prototypes_figure([], dict.fromkeys("abcd", np.zeros(8)), 3.0)
    with pytest.raises(DataError, match=r"no prototype for \['site'\]"):
        prototypes_figure(POINTS, {"person": PROTOTYPES["person"]}, 3.0)


def test_the_spans_of_an_episode_are_those_of_the_model(eager_model: SpanProto) -> None:
    episode = synthetic.varied_episode(3)
    points = span_points(eager_model, episode)
    kinds = Counter(point.kind for point in points)
    assert kinds["example"] == sum(len(sentence.spans) for sentence in episode.support)
    assert kinds["query mention"] == sum(len(sentence.spans) for sentence in episode.query)
    (judged,) = judge(eager_model, [episode])
    wrong = [
        candidate
        for sentence, candidates in zip(episode.query, judged, strict=True)
        for candidate in candidates
        if candidate.outcome == "kept" and candidate.span not in sentence.spans
    ]
    found = [point for point in points if point.kind == "false positive"]
    assert [point.label for point in found] == [candidate.label for candidate in wrong]
    centres = support_prototypes(eager_model, [episode]).centres.numpy()
    for point, candidate in zip(found, wrong, strict=True):
        distances = np.linalg.norm(point.vector - centres, axis=1)
        assert distances == pytest.approx(candidate.distances, abs=1e-3)


def test_an_episode_without_query_sentences_shows_its_examples(eager_model: SpanProto) -> None:
    episode = replace(synthetic.varied_episode(3), query=())
    left, right = draw_prototypes(eager_model, episode).axes
    drawn = {line.get_gid() for line in right.get_lines() if line.get_gid()}
    assert drawn == {"example", "prototype", "radius"}
    (radius,) = [line for line in right.get_lines() if line.get_gid() == "radius"]
    assert set(radius.get_xdata()) == {eager_model.config.classifier.margin}
    assert sum(isinstance(patch, Circle) for patch in left.patches) == len(
        episode.supported_types()
    )
