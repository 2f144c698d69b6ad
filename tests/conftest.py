"""A tiny encoder built on the spot: no test ever touches a network."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from hypothesis import settings
from tiny_encoder import build_tiny_encoder

from spanproto import ner
from spanproto.classifier import ClassifierConfig
from spanproto.data.formats import write_episodes
from spanproto.decision import DecisionConfig
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.extractor import ExtractorConfig
from spanproto.model import ModelConfig, SpanProto
from spanproto.objective import ObjectiveConfig
from spanproto.training.loop import train
from spanproto.training.settings import DataConfig, RunConfig, TrainingConfig

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")
torch.set_num_threads(1)  # tiny models gain nothing from more, and lose on a busy machine


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    return build_tiny_encoder(synthetic.vocabulary() * 3, folder, vocabulary=300)


@pytest.fixture
def pretrained(tiny_encoder: Path) -> Encoder:
    """The encoder as it was, an object of its own."""
    return Encoder.from_pretrained(EncoderConfig(name=str(tiny_encoder)))


@pytest.fixture
def model_config(tiny_encoder: Path) -> ModelConfig:
    return ModelConfig(encoder=EncoderConfig(name=str(tiny_encoder), dropout=0.0))


@pytest.fixture
def tiny_model(model_config: ModelConfig) -> SpanProto:
    torch.manual_seed(0)
    return SpanProto.from_config(model_config).eval()


@pytest.fixture(scope="session")
def shared_model(tiny_encoder: Path) -> SpanProto:
    """For property tests, which read it and leave it as it is."""
    torch.manual_seed(0)
    config = ModelConfig(encoder=EncoderConfig(name=str(tiny_encoder), dropout=0.0))
    return SpanProto.from_config(config).eval()


@pytest.fixture(scope="session")
def eager_model(tiny_encoder: Path) -> SpanProto:
    """Takes any span for an entity, so that there is always something to find."""
    torch.manual_seed(0)
    config = ModelConfig(
        encoder=EncoderConfig(name=str(tiny_encoder), dropout=0.0),
        decision=DecisionConfig(rule="joint", floor=0.0, bias=5.0),
    )
    return SpanProto.from_config(config).eval()


@pytest.fixture(scope="session")
def trained_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a model that finds the made-up entities, trained in a few seconds."""
    folder = tmp_path_factory.mktemp("trained")
    encoder = build_tiny_encoder(
        synthetic.vocabulary() * 3, folder / "encoder", vocabulary=300, rotary=True
    )
    episodes = [synthetic.varied_episode(seed) for seed in range(300)]
    write_episodes(folder / "train.jsonl", episodes, "token-episodes")
    return train(
        RunConfig(
            model=ModelConfig(
                encoder=EncoderConfig(name=str(encoder), dropout=0.0),
                classifier=ClassifierConfig(margin=6.0),
                extractor=ExtractorConfig(head="rotary"),
                decision=DecisionConfig(rule="joint", floor=0.0),
                objective=ObjectiveConfig(extractor_steps=30, extractor_data="support+query"),
            ),
            data=DataConfig(train=[str(folder / "train.jsonl")]),
            training=TrainingConfig(
                output=str(folder / "run"),
                steps=250,
                learning_rate=3e-3,
                device="cpu",
            ),
        )
    )


@pytest.fixture(scope="module")
def quick_fitting() -> Iterator[None]:
    """Recognisers are fitted at the rate that suits the tiny model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ner, "FITTING", replace(ner.FITTING, steps=15, learning_rate=1e-3))
        yield
