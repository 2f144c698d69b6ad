"""How probable types are in a query set that is seen as a whole."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from asking import everything, weighing
from command import spanproto

from spanproto import FewShotNER
from spanproto.data.formats import write_episodes
from spanproto.data.types import Sentence
from spanproto.errors import ConfigError
from spanproto.judging import judge
from spanproto.model import SpanProto


def test_a_query_set_is_evened_by_itself(eager_model: SpanProto) -> None:
    model = weighing(eager_model, even_types=1)
    episodes = [synthetic.episode(seed) for seed in range(3)]
    together = judge(model, episodes)
    for episode, found in zip(episodes, together, strict=True):
        alone = everything(judge(model, [episode]))
        for one, other in zip(everything([found]), alone, strict=True):
            assert one.type_probabilities == pytest.approx(other.type_probabilities, abs=1e-3)
    plain = everything(judge(weighing(eager_model), episodes))
    assert [c.type_probabilities for c in plain] != [
        c.type_probabilities for c in everything(together)
    ]


def test_types_come_out_nearer_to_even(eager_model: SpanProto) -> None:
    episodes = [synthetic.episode(seed, query=8) for seed in range(4)]

    def uneven(even: int) -> float:
        spreads = []
        for sentences in judge(weighing(eager_model, even_types=even), episodes):
            found = everything([sentences])
            counts = torch.tensor([c.type_probabilities for c in found])
            weight = torch.tensor([c.boundary_probability for c in found])
            spreads.append((weight @ counts).std().item())
        return sum(spreads)

    assert uneven(1) < uneven(0) / 2


def test_a_type_without_examples_has_no_part_in_it(eager_model: SpanProto) -> None:
    episode = synthetic.episode(0)
    lacking = replace(episode, types=(*episode.types, "nothing"))
    empty = replace(episode, query=(Sentence(()),))
    for given in (lacking, empty):
        for found in everything(judge(weighing(eager_model, even_types=1), [given])):
            assert all(math.isfinite(p) for p in found.type_probabilities)
            assert sum(found.type_probabilities[:3]) == pytest.approx(1, abs=1e-4)


def test_texts_are_no_query_sets(trained_model: Path) -> None:
    ner = FewShotNER.from_pretrained(trained_model)
    ner.fit([synthetic.episode(0).support[0]])
    decision = replace(ner.model.config.decision, even_types=True)
    ner.model.config = replace(ner.model.config, decision=decision)
    with pytest.raises(ConfigError, match="texts are not"):
        ner.predict("the animala")


def test_a_score_says_that_types_were_taken_to_be_even(trained_model: Path, tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    write_episodes(file, [synthetic.episode(seed) for seed in range(2)], "token-episodes")
    arguments = ("evaluate", trained_model, file, "--protocol", "crossdomain")
    told = spanproto(*arguments, "--configure", "decision.even_types=true")
    assert "EVEN: the model is told" in told.stdout
    assert "EVEN" not in spanproto(*arguments).stdout
