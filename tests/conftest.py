"""A tiny encoder built on the spot: no test ever touches a network."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from pathlib import Path

import pytest
import synthetic
import torch
from hypothesis import settings

from spanproto.encoder import EncoderConfig
from spanproto.model import ModelConfig, SpanProto
from spanproto.tiny_encoder import build_tiny_encoder

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")
torch.set_num_threads(1)  # tiny models gain nothing from more, and lose on a busy machine


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    return build_tiny_encoder(synthetic.vocabulary() * 3, folder, vocabulary=300)


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
