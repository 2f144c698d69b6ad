"""What is noted of a model for a picture is what the model says."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import synthetic

from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError
from spanproto.model import SpanProto
from spanproto.paper.boundary_case import NestedLook, look_at_boundaries
from spanproto.paper.datasets import counts
from spanproto.paper.span_map import in_own_axes, look_at_spans
from spanproto.plots.boundary_matrix import boundary_probabilities
from spanproto.plots.prototypes import distances, placed_spans


def test_the_boundaries_of_a_sentence_are_the_models(eager_model: SpanProto) -> None:
    episodes = [synthetic.varied_episode(seed) for seed in range(3)]
    noted = look_at_boundaries(eager_model, episodes)
    sentences = [sentence for episode in episodes for sentence in episode.query]
    sentence = next(one for one in sentences if list(one.words) == noted["words"])
    matrix = np.array(noted["probabilities"], dtype=float)
    expected = boundary_probabilities(eager_model, sentence)
    np.testing.assert_allclose(matrix, expected, atol=1e-4)
    assert [Span(*span) for span in noted["labelled"]] == list(sentence.spans)
    assert noted["found"]


def test_no_sentence_of_another_length_is_taken(eager_model: SpanProto) -> None:
    episode = synthetic.episode(0)
    short, long = (Sentence(("the", *["animala"] * more), ()) for more in (1, 70))
    fitting = Sentence(("the", *["animala"] * 9), ())
    queried = [replace(episode, query=(short, long)), replace(episode, query=(short, fitting))]
    assert look_at_boundaries(eager_model, queried)["words"] == list(fitting.words)
    with pytest.raises(DataError, match="no query sentence of 8 to 24 words"):
        look_at_boundaries(eager_model, queried[:1])


def test_the_sentence_with_the_most_nesting_is_looked_at_after_fine_tuning(
    eager_model: SpanProto,
) -> None:
    episode = synthetic.episode(0)
    label, words = episode.types[0], ("the", *["animala"] * 9)
    flat = Sentence(words, (Span(1, 3, label), Span(4, 6, label)))
    nested = Sentence(words[::-1], (Span(0, 4, label), Span(1, 2, label), Span(2, 3, label)))
    queried = [replace(episode, query=(flat,)), replace(episode, query=(flat, nested))]
    tuned = NestedLook(12, {"steps": 3, "learning_rate": 1e-2})(eager_model, queried)
    assert tuned["words"] == list(nested.words)
    assert [Span(*span) for span in tuned["labelled"]] == list(nested.spans)
    assert tuned["episodes"] == 2
    before = boundary_probabilities(eager_model, nested)
    after = np.array(tuned["probabilities"], dtype=float)
    assert np.nanmax(abs(after - before)) > 0.01
    with pytest.raises(DataError, match="no query sentence of 8 to 24 words"):
        NestedLook(12, {})(eager_model, [replace(episode, query=())])


def test_spans_are_noted_with_their_distances(eager_model: SpanProto) -> None:
    episode = synthetic.episode(1)
    noted, placed = look_at_spans(eager_model, [episode]), placed_spans(eager_model, episode)
    places, number = np.array(noted["places"]), len(placed.points)
    real = distances(
        np.stack([point.vector for point in placed.points]),
        np.stack(list(placed.prototypes.values())),
    )
    np.testing.assert_allclose(distances(places[:number], places[number:]), real, atol=1e-2)
    assert noted["types"] == list(placed.prototypes)
    assert noted["radius"] == placed.radius
    assert Counter(noted["kinds"]) == Counter(point.kind for point in placed.points)


def test_turning_keeps_distances() -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 40))
    turned = in_own_axes(vectors)
    assert turned.shape == (5, 5)
    np.testing.assert_allclose(distances(turned, turned), distances(vectors, vectors), atol=1e-9)


def test_a_sentence_counts_once(tmp_path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("Paris\tcity\nis\tO\n\nParis\tcity\nis\tO\n\nhere\tO\n", "utf-8")
    assert counts([path, path]) == {"types": 1, "sentences": 2, "entities": 1}


def test_a_sentence_counts_where_most_of_it_is_labelled(tmp_path) -> None:
    labels = {"some": ("O", "city"), "all": ("person", "city"), "none": ("O", "O")}
    for name, (first, second) in labels.items():
        (tmp_path / name).with_suffix(".txt").write_text(f"Ann\t{first}\nin\tO\nRome\t{second}\n")
    for order in permutations(labels):
        found = counts([(tmp_path / name).with_suffix(".txt") for name in order])
        assert found == {"types": 2, "sentences": 1, "entities": 2}
