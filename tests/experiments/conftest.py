"""A small cell, data of foreign domains, made up, and what is trained and fine-tuned in a test."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import synthetic

from spanproto.data.formats import write_episodes, write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.foreign_choices import foreign_column
from spanproto.experiments.scoring import Scoring
from spanproto.model import SpanProto
from spanproto.training import loop
from spanproto.training.settings import RunConfig


def nesting(sentence: Sentence) -> Sentence:
    """The sentence with the first word of each longer mention as one of its own, too."""
    longer = [span for span in sentence.spans if span.end - span.start > 1]
    inner = [Span(span.start, span.start + 1, "inner") for span in longer]
    return sentence.with_spans((*sentence.spans, *inner))


def put(folder: Path, name: str, sentences: Sequence[Sentence], form: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    write_sentences(folder / name, sentences, form)


@pytest.fixture
def grid(tmp_path: Path, tiny_encoder: Path) -> Grid:
    column = COLUMNS["news-1"]
    episodes = [synthetic.episode(seed) for seed in range(4)]
    for name in (*column.data["train"], column.test_file):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_episodes(path, episodes, "crossdomain")
    return Grid(
        tmp_path / "data",
        str(tiny_encoder),
        tmp_path / "results",
        tmp_path / "runs",
        limit=2,
        device="cpu",
    )


@pytest.fixture
def cell() -> Cell:
    run = {
        "method": "spanproto",
        "model": {"objective": {"extractor_steps": 1}},
        "training": {"steps": 3, "episodes_per_step": 1},
    }
    scorings = (
        Scoring("plain", configure=("extractor.threshold=0.0",)),
        Scoring("adapted", adaptation={"steps": 1}),
        Scoring("oracle", candidates="released"),
    )
    return Cell("spanproto", "news-1", 12, run, scorings)


@pytest.fixture
def foreign_data(tmp_path: Path) -> Path:
    """Of two domains, one of them with nested mentions, and what one shot trains on."""
    music, genia = (foreign_column("wiki-1", domain) for domain in ("music", "flat-genia"))
    put(tmp_path, music.test_file, synthetic.corpus(1), "conll")
    put(tmp_path, genia.test_file, [nesting(one) for one in synthetic.corpus(2)], "token-json")
    for name in (*music.data["train"], *music.validation["valid"]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        episodes = [synthetic.episode(seed) for seed in range(4)]
        write_episodes(tmp_path / name, episodes, "crossdomain")
    return tmp_path


@pytest.fixture
def fine_tuned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of episodes of each fine-tuning that a test comes to."""
    counts: list[int] = []
    adapted = SpanProto.adapted

    def counting(self, episodes, config):
        counts.append(len(episodes))
        return adapted(self, episodes, config)

    monkeypatch.setattr(SpanProto, "adapted", counting)
    return counts


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[RunConfig]:
    """The settings of each training that a test comes to in its own process."""
    runs: list[RunConfig] = []
    train = loop.train

    def noting(run):
        runs.append(run)
        return train(run)

    monkeypatch.setattr(loop, "train", noting)
    return runs
