"""The demonstration, cut short: it writes where it is told, repeats itself, and tells the truth."""

import shlex
from functools import partial
from pathlib import Path

import pytest
import torch
from command import spanproto

from spanproto.checkpoint import load_model
from spanproto.data.formats import read_episodes
from spanproto.data.types import Episode, Sentence, Span
from spanproto.demo import DemoConfig, DemoScores, next_commands, run_demo
from spanproto.demo_text import rejections, sentence
from spanproto.display import Annotator
from spanproto.prediction import Mention, SentencePrediction
from spanproto.samples import TRAINING_DOMAINS

SHORT = partial(DemoConfig, steps=10, training_episodes=2, held_out_episodes=2, adaptation_steps=2)


def short(output: Path, seed: int = 3) -> tuple[str, DemoScores]:
    """What a demonstration of a few steps says, and its scores."""
    config = SHORT(output, seed)
    said: list[str] = []
    scores = run_demo(config, said.append)
    return "\n".join(said), scores


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, DemoScores]:
    output = tmp_path_factory.mktemp("work") / "demo"
    return output, *short(output)


def test_it_leaves_a_model_and_its_episodes_behind(demo: tuple[Path, str, DemoScores]) -> None:
    output, _, scores = demo
    model = load_model(output)
    assert model.origin["seed"] == 3
    held_out = read_episodes(output / "politics.jsonl")
    assert len(held_out) == scores.trained.episodes == scores.adapted.episodes == 2
    trained_types = {t for e in read_episodes(output / "train.jsonl") for t in e.types}
    assert len(read_episodes(output / "train.jsonl")) == 2 * len(TRAINING_DOMAINS)
    assert trained_types.isdisjoint(held_out[0].types)
    assert sorted(path.name for path in output.parent.iterdir()) == ["demo"]


def test_it_says_what_it_found_and_what_that_is_worth(demo: tuple[Path, str, DemoScores]) -> None:
    output, said, scores = demo
    query = read_episodes(output / "politics.jsonl")[0].query
    assert said.count("\n\n1. ") == 1
    assert f"{len(query) if len(query) < 5 else 5}. " in said
    assert f"{scores.trained.micro.f1:.1f}" in said
    assert "knows nothing of language" in said
    for command in next_commands(SHORT(output), "spanproto"):
        assert command in said


def test_a_seed_decides_the_result(demo: tuple[Path, str, DemoScores], tmp_path: Path) -> None:
    output, _, scores = demo
    threads = torch.get_num_threads()
    _, scores_again = short(tmp_path / "demo")
    assert scores_again == scores
    for name in (
        "train.jsonl",
        "politics.jsonl",
        "encoder/tokenizer.json",
        "model/model.safetensors",
    ):
        assert (tmp_path / "demo" / name).read_bytes() == (output / name).read_bytes()
    assert torch.get_num_threads() == threads


def test_the_commands_to_try_next_work(demo: tuple[Path, str, DemoScores]) -> None:
    adapted, released, longer = next_commands(DemoConfig(demo[0]), "spanproto")
    assert "entities" in ran(f"{adapted} --set steps=1 --limit 1")
    assert "ORACLE" in ran(released)
    assert f"{demo[0]}-longer/model" in ran(f"{longer} training.steps=4")


def ran(command: str) -> str:
    """What a command prints that must work."""
    done = spanproto(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[DemoConfig, bool]] = []
    monkeypatch.setattr(
        "spanproto.demo.run_demo",
        lambda config, say, colour, program: calls.append((config, colour)),
    )
    ran("spanproto demo --output here --seed 5 --steps 50")
    assert calls == [(DemoConfig(Path("here"), 5, 50), False)]


def test_rejections_are_counted_and_judged() -> None:
    gold = Sentence(("Ada", "met", "Bob"), (Span(0, 1, "person"), Span(2, 3, "person")))
    episode = Episode(("person",), (gold,), (gold,))
    mention = Mention(0, 1, "person", 0.75, 0.9, 1.5)
    found = SentencePrediction([mention], [(0, 1), (1, 2), (2, 3)])
    text = rejections([episode], [[found]], margin=3.0)
    assert "of the 3 spans" in text
    assert "rejected 2, since" in text
    assert "r = 3 " in text
    assert text.splitlines()[-2:] == ["  met (rightly)", "  Bob (wrongly, an entity)"]


def test_each_candidate_gets_its_verdict() -> None:
    gold = Sentence(
        ("Ada", "met", "Bob", "Lee", "in", "York", "today", "at", "Kew"),
        (Span(0, 1, "person"), Span(2, 4, "person"), Span(5, 6, "place"), Span(8, 9, "place")),
    )
    spans = [(5, 6, "person"), (0, 1, "person"), (2, 3, "person"), (6, 7, "place")]
    mentions = [Mention(*span, 0.75, 0.9, 1.5) for span in spans]
    found = SentencePrediction(mentions, [*(span[:2] for span in spans), (1, 2)])
    assert sentence(7, gold, found, Annotator((), colour=False)).splitlines() == [
        "",
        "7. [Ada | person] met [Bob | person] Lee in [York | person] [today | place] at Kew",
        "",
        "   entity  type    boundary  distance  the annotators say",
        "   Ada     person      0.75      1.50  right",
        "   Bob     person      0.75      1.50  wrong: other words",
        "   York    person      0.75      1.50  wrong: place",
        "   today   place       0.75      1.50  wrong: no entity",
        "   rejected: met",
        "   not proposed: Bob Lee; Kew",
    ]
