"""Training end to end: it logs, resumes to the bit, and trains data-parallel."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch

from spanproto.checkpoint import load_model, load_tensors, save_tensors
from spanproto.config import to_yaml
from spanproto.data.formats import write_episodes, write_sentences
from spanproto.errors import CheckpointError, ConfigError, DataError, SpanProtoError
from spanproto.meta import MetaConfig
from spanproto.training.loop import train
from spanproto.training.optimization import rate_factor
from spanproto.training.settings import RunConfig
from spanproto.training.source import TrainingData, validation_episodes

# As in this process: sums of floats depend on the number of threads.
ONE_THREAD = os.environ | {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_sentences(folder / "corpus.json", synthetic.corpus(1, 120), "token-json")
    write_episodes(
        folder / "valid.jsonl", [synthetic.episode(seed) for seed in range(6)], "fewnerd-episodes",
        merge=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def run(files: Path, tiny_encoder: Path, tmp_path: Path) -> RunConfig:
    return RunConfig.of(
        {
            "model": {
                "encoder": {"name": str(tiny_encoder)},
                "objective": {"extractor_steps": 4},
            },
            "data": {
                "train": str(files / "corpus.json"),
                "valid": str(files / "valid.jsonl"),
                "ways": 3,
                "protocol": "crossdomain",
            },
            "training": {
                "output": str(tmp_path / "run"),
                "steps": 12,
                "episodes_per_step": 2,
                "validate_every": 6,
                "checkpoint_every": 3,
                "learning_rate": 1e-3,
                "device": "cpu",
            },
        }
    )


def changed(run: RunConfig, **training: object) -> RunConfig:
    return replace(run, training=replace(run.training, **training))


def with_objective(run: RunConfig, **objective: object) -> RunConfig:
    changed = replace(run.model.objective, **objective)
    return replace(run, model=replace(run.model, objective=changed))


def records(folder: Path | str) -> list[dict]:
    return [json.loads(line) for line in (Path(folder) / "log.jsonl").read_text().splitlines()]


def test_every_loss_term_is_logged_and_lambda_starts_after_t_prime(run: RunConfig) -> None:
    train(run)
    log = records(run.training.output)
    steps = [record for record in log if "loss" in record]
    assert [record["step"] for record in steps] == list(range(1, 13))
    for record in steps:
        joint = record["step"] >= 4  # lambda = 0 if st < T' else 1
        assert record["lambda"] == float(joint)
        assert (record["proto"] > 0) is joint
        total = record["span"] + record["lambda"] * (record["proto"] + record["margin"])
        assert record["loss"] == pytest.approx(total, rel=1e-6)
        assert record["gradient"] > 0
    assert [record["step"] for record in log if "valid_f1" in record] == [6, 12]
    assert (Path(run.training.output) / "config.yaml").read_text() == to_yaml(run)


def test_the_best_model_on_validation_is_kept(run: RunConfig, monkeypatch) -> None:
    scores = iter([50.0, 20.0])

    class Report:
        def __init__(self) -> None:
            f1 = next(scores)
            counts = type("C", (), {"f1": f1, "precision": f1, "recall": f1})()
            self.micro = self.span = counts

    monkeypatch.setattr("spanproto.training.loop.evaluate", lambda *_: Report())
    best = load_model(train(run))
    state, about = load_tensors(Path(run.training.output) / "last.safetensors")
    assert about["progress"] == {"step": 12, "best_f1": 50.0, "best_step": 6}
    name = "extractor.head.query.weight"
    assert not torch.equal(best.state_dict()[name], state[f"model/{name}"])


@pytest.mark.parametrize(
    "without",
    [
        lambda run: replace(run, data=replace(run.data, valid=[])),
        lambda run: replace(run, training=replace(run.training, keep="last")),
    ],
    ids=["no validation", "asked for"],
)
def test_without_validation_or_if_asked_for_the_last_model_is_kept(run: RunConfig, without) -> None:
    run = without(run)
    model = load_model(train(run))
    state, _ = load_tensors(Path(run.training.output) / "last.safetensors")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, state[f"model/{name}"])
    assert model.origin["seed"] == 42


def command(run: RunConfig, folder: Path, *launcher: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    (folder / "run.yaml").write_text(to_yaml(run))
    return [sys.executable, "-m", *launcher, "spanproto", "train", str(folder / "run.yaml")]


def test_a_killed_run_resumes_to_the_same_losses_to_the_bit(run: RunConfig, tmp_path: Path) -> None:
    run = changed(run, steps=40, checkpoint_every=5, log_every=1)
    train(run)
    whole = records(run.training.output)

    killed = changed(run, output=str(tmp_path / "killed"))
    log = tmp_path / "killed" / "log.jsonl"
    process = subprocess.Popen(command(killed, tmp_path), stderr=subprocess.PIPE, env=ONE_THREAD)
    deadline = time.monotonic() + 120
    while process.poll() is None and not (log.exists() and len(log.read_text().splitlines()) > 12):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert len(records(log.parent)) < len(whole)
    _, about = load_tensors(log.parent / "last.safetensors")
    assert 5 <= about["progress"]["step"] < 40

    train(killed)
    assert records(log.parent) == whole
    one, other = (load_model(Path(folder)) for folder in (run.training.output, log.parent))
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name])


def test_a_finished_run_is_left_as_it_is(run: RunConfig) -> None:
    train(run)
    before = records(run.training.output)
    train(run)
    assert records(run.training.output) == before


def test_other_settings_do_not_resume_but_restart(run: RunConfig) -> None:
    train(run)
    other = changed(run, seed=1)
    with pytest.raises(CheckpointError, match=r"another training\.seed"):
        train(other)
    train(other, restart=True)
    assert records(run.training.output)[0]["step"] == 1


def test_a_run_goes_on_that_began_before_a_setting_was_there(run: RunConfig) -> None:
    train(run)
    state = Path(run.training.output) / "last.safetensors"
    tensors, about = load_tensors(state)
    del about["run"]["model"]["objective"]["doubtful"]
    save_tensors(state, tensors, about)
    before = records(run.training.output)
    train(run)
    assert records(run.training.output) == before
    with pytest.raises(CheckpointError, match=r"another model\.objective\.doubtful;"):
        train(with_objective(run, doubtful="skip"))
    about["run"]["model"]["objective"]["gone"] = 1
    save_tensors(state, tensors, about)
    with pytest.raises(CheckpointError, match=r"another model\.objective\.doubtful, .*\.gone;"):
        train(run)


def test_two_processes_train_the_same_model_as_one(run: RunConfig, tmp_path: Path) -> None:
    encoder = replace(run.model.encoder, dropout=0.0)
    run = with_objective(changed(run, episodes_per_step=4, steps=8), extractor_steps=3)
    run = replace(run, model=replace(run.model, encoder=encoder))
    train(run)
    shared = changed(run, output=str(tmp_path / "shared"))
    launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    done = subprocess.run(
        command(shared, tmp_path, *launcher),
        capture_output=True,
        text=True,
        check=False,
        env=ONE_THREAD,
    )
    assert done.returncode == 0, done.stderr
    for alone, together in zip(
        records(run.training.output), records(tmp_path / "shared"), strict=True
    ):
        assert together == pytest.approx(alone, rel=2e-3, abs=2e-3)
    folders = (Path(run.training.output), tmp_path / "shared")
    one, other = (load_tensors(folder / "last.safetensors")[0] for folder in folders)
    for name, tensor in one.items():
        if name.startswith("model/"):
            torch.testing.assert_close(other[name], tensor, rtol=1e-3, atol=1e-3)


def test_episodes_that_processes_cannot_share_are_refused(run: RunConfig, monkeypatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ConfigError, match="cannot be shared evenly by 3"):
        train(run)


def test_a_loss_that_is_not_finite_stops_the_run(run: RunConfig) -> None:
    with pytest.raises(SpanProtoError, match="lower the learning rate"):
        train(changed(run, learning_rate=1e30, clip=1e30, steps=40))


def test_tensorboard_gets_the_losses(run: RunConfig) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(changed(run, tensorboard=True))
    events = EventAccumulator(str(Path(run.training.output) / "tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("span")] == list(range(1, 13))
    assert "valid_f1" in events.Tags()["scalars"]


def test_what_cannot_be_trained_on_is_said(run: RunConfig, files: Path) -> None:
    data = run.data
    with pytest.raises(ConfigError, match="train names no file"):
        TrainingData(replace(data, train=[]))
    with pytest.raises(DataError, match="give one kind"):
        TrainingData(replace(data, train=[*data.train, *data.valid]))
    assert len(validation_episodes(replace(data, valid_episodes=2))) == 2
    assert len(validation_episodes(replace(data, valid=data.train, valid_episodes=4))) == 4
    assert validation_episodes(replace(data, valid=[])) == []


def test_the_rate_rises_then_falls_to_nothing() -> None:
    factors = [rate_factor(step, 10, 0.2) for step in range(1, 11)]
    assert factors == pytest.approx([1 / 2, 1, *(k / 9 for k in range(8, 0, -1))])
    assert rate_factor(1, 10, 0.0) == 1


def test_a_run_that_would_never_train_the_classifier_is_refused(run: RunConfig) -> None:
    with pytest.raises(ConfigError, match=r"extractor_steps=13 must lie .*=12: set it to 12 or"):
        train(with_objective(run, extractor_steps=13))


def test_meta_steps_follow_ordinary_ones(run: RunConfig) -> None:
    train(with_objective(run, meta=MetaConfig(after=6, steps=1, learning_rate=1e-3)))
    steps = [record for record in records(run.training.output) if "loss" in record]
    assert len(steps) == 12
    assert all(record["gradient"] > 0 for record in steps)
