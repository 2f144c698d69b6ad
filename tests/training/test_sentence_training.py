"""A method that trains on sentences: one file, one line in the table, and all of training works."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import synthetic
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.batch import TensorBatch
from spanproto.checkpoint import load_model
from spanproto.data.formats import write_episodes
from spanproto.data.types import Episode, Sentence
from spanproto.errors import ConfigError
from spanproto.methods import METHODS, MethodEntry
from spanproto.methods.base import FoundSpans, Method
from spanproto.tokenization import WordBatch
from spanproto.training.loop import train
from spanproto.training.settings import RunConfig


@dataclass(frozen=True)
class Counted(TensorBatch):
    words: WordBatch
    entities: Tensor  # (S,)


class EntityCounter(Method):
    """Learns how many entities a sentence has, and finds none."""

    name = "counter"
    trains_on = "sentences"

    def __init__(self, encoder, config) -> None:
        super().__init__(encoder, config)
        self.head = nn.Linear(encoder.hidden_size, 1)
        self.seen: list[tuple[str, ...]] = []

    def prepare(self, items: Sequence[Sentence], step: int) -> Counted:
        self.seen += [sentence.words for sentence in items]
        count = torch.tensor([float(len(sentence.spans)) for sentence in items])
        return Counted(self.encoder.words.batch([s.words for s in items]), count)

    def loss(self, batch: Counted) -> Tensor:
        states = self.encoder.first_states(batch.words)[:, 0]
        return F.mse_loss(self.head(states)[:, 0], batch.entities)

    def predict(self, episodes: Sequence[Episode]) -> list[list[FoundSpans]]:
        return [[FoundSpans([]) for _ in episode.query] for episode in episodes]


@pytest.fixture
def run(tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunConfig:
    entry = MethodEntry(f"{__name__}:EntityCounter", "Counter", "nobody", "counts")
    monkeypatch.setitem(METHODS, "counter", entry)
    episodes = [synthetic.episode(seed) for seed in range(4)]
    file = str(tmp_path / "train.jsonl")
    write_episodes(file, episodes, "token-episodes")
    return RunConfig.of(
        {
            "method": "counter",
            "model": {"encoder": {"name": str(tiny_encoder), "dropout": 0.0}},
            "data": {"train": file, "valid": file},
            "training": {
                "output": str(tmp_path / "run"),
                "steps": 30,
                "sentences_per_step": 8,
                "learning_rate": 3e-3,
                "validate_every": 10,
                "device": "cpu",
            },
        }
    )


def test_it_is_trained_logged_validated_and_saved(run: RunConfig) -> None:
    model = load_model(train(run))
    log = Path(run.training.output, "log.jsonl").read_text().splitlines()
    losses = [record["loss"] for record in map(json.loads, log) if "loss" in record]
    assert len(losses) == 30
    assert losses[-1] < 0.1 * losses[0]
    assert isinstance(model, EntityCounter)
    assert model.origin["seed"] == 42


def test_processes_must_share_the_sentences_evenly(run: RunConfig, monkeypatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ConfigError, match=r"training\.sentences_per_step=8 cannot be shared"):
        train(run)


def test_it_cannot_be_adapted(run: RunConfig) -> None:
    model = EntityCounter.from_config(run.model)
    with pytest.raises(ConfigError, match="Counter is not fine-tuned to support sets"):
        model.adapted([synthetic.episode(1)], model.adaptation({}))


def test_there_is_one_candidate_rule(run: RunConfig) -> None:
    with pytest.raises(ConfigError, match="Counter has no candidate rule 'released'"):
        EntityCounter.from_config(run.model).with_candidates("released")
