"""One model of several trainings: the mean of their weights, if they began alike."""

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from command import refused, spanproto

from spanproto.averaging import averaged
from spanproto.checkpoint import load_model, save_model
from spanproto.data.formats import write_episodes
from spanproto.errors import CheckpointError
from spanproto.training.loop import train
from spanproto.training.settings import RunConfig


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> list[Path]:
    """Three trainings that begin alike, two of them the same, and one that begins otherwise."""
    folder = tmp_path_factory.mktemp("runs")
    write_episodes(
        folder / "train.jsonl", [synthetic.episode(n) for n in range(8)], "fewnerd-episodes"
    )
    run = RunConfig.of(
        {
            "model": {"encoder": {"name": str(tiny_encoder)}, "objective": {"extractor_steps": 1}},
            "data": {"train": ["train.jsonl"], "root": str(folder)},
            "training": {"steps": 3, "episodes_per_step": 1, "learning_rate": 1e-3, "seed": 7},
        }
    )
    settings = [{}, {"order_seed": 1}, {"order_seed": 7}, {"seed": 1}]
    return [
        train(
            replace(
                run, training=replace(run.training, output=str(folder / str(number)), **changed)
            )
        )
        for number, changed in enumerate(settings)
    ]


def test_an_order_of_its_own_is_all_that_differs(runs: list[Path]) -> None:
    own, other, same, apart = (load_model(folder).state_dict() for folder in runs)
    assert all(torch.equal(own[name], same[name]) for name in own)  # the seed's own order
    name = "extractor.head.query.weight"
    moved = (own[name] - other[name]).abs().max()
    assert 0 < moved < 0.02 < (own[name] - apart[name]).abs().max()  # which began elsewhere


def test_weights_are_the_means(runs: list[Path]) -> None:
    mean = averaged(runs[:2])
    one, other = (load_model(folder).state_dict() for folder in runs[:2])
    for name, tensor in mean.state_dict().items():
        torch.testing.assert_close(tensor, (one[name] + other[name]) / 2)
    assert mean.origin["averaged"] == 2
    assert mean.origin["seed"] == 7


def test_the_mean_names_the_data_and_settings_of_all(runs: list[Path], tmp_path: Path) -> None:
    other = load_model(runs[1])
    (file,) = other.origin["data"]
    other.origin["data"] = [file, {**file, "name": "more.jsonl", "sha256": "5ca1ab1e" * 8}]
    save_model(other, tmp_path / "other")
    mean = averaged([runs[0], tmp_path / "other"])
    assert mean.origin["data"] == other.origin["data"]
    orders = [each["training_config"]["order_seed"] for each in mean.origin["trainings"]]
    assert orders == [None, 1]
    save_model(mean, tmp_path / "mean")
    card = (tmp_path / "mean" / "README.md").read_text("utf-8")
    assert "- train.jsonl (SHA-256" in card
    assert "- more.jsonl (SHA-256 `5ca1ab1e5ca1`)" in card


def test_what_began_otherwise_is_not_averaged(runs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"trained with seed 1, and .* with 7"):
        averaged([runs[0], runs[3]])
    with pytest.raises(CheckpointError, match=r"1 model\(s\) to average; name two or more"):
        averaged(runs[:1])
    model = load_model(runs[1])
    model.config = replace(model.config, extractor=replace(model.config.extractor, threshold=0.9))
    save_model(model, tmp_path / "other")
    with pytest.raises(CheckpointError, match="another method or other settings"):
        averaged([runs[0], tmp_path / "other"])
    unknown = load_model(runs[0])
    unknown.origin = {}
    save_model(unknown, tmp_path / "unknown")
    with pytest.raises(CheckpointError, match="unknown: no seed is recorded"):
        averaged([tmp_path / "unknown"] * 2)


def test_the_command_writes_a_model_that_predicts(runs: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "mean"
    done = spanproto("average", *runs[:2], "-o", output)
    assert done.returncode == 0, done.stderr
    assert "the mean of 2 trainings" in done.stdout
    episodes = [synthetic.episode(99)]
    assert load_model(output).predict(episodes) == averaged(runs[:2]).predict(episodes)
    refused(spanproto("average", runs[0], runs[3], "-o", tmp_path / "none"))
    assert not (tmp_path / "none").exists()
