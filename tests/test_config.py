"""Configuration: YAML in, dataclasses out, and clear words for what does not fit."""

from pathlib import Path

import pytest

from spanproto.config import apply_overrides, read_yaml, to_dict, to_yaml
from spanproto.errors import ConfigError, DataError
from spanproto.training.settings import RunConfig


def test_yaml_goes_round(tmp_path: Path) -> None:
    run = RunConfig.of({"model": {"classifier": {"margin": 6}}, "training": {"steps": 300}})
    (tmp_path / "run.yaml").write_text(to_yaml(run))
    assert RunConfig.of(read_yaml(tmp_path / "run.yaml")) == run
    assert to_dict(run)["model"]["classifier"]["margin"] == 6.0


def test_overrides_win_and_leave_the_rest() -> None:
    content = {"training": {"steps": 300, "seed": 1}}
    changed = apply_overrides(
        content, ["training.seed=7", "data.train=[a, b]", "model.encoder.name=x"]
    )
    run = RunConfig.of(changed)
    assert (run.training.steps, run.training.seed) == (300, 7)
    assert run.data.train == ["a", "b"]
    assert run.model.encoder.name == "x"
    assert content == {"training": {"steps": 300, "seed": 1}}


def test_a_section_without_content_can_be_filled() -> None:
    run = RunConfig.of(apply_overrides({"model": None}, ["model.encoder.name=x"]))
    assert run.model.encoder.name == "x"


def test_numbers_in_scientific_notation_and_single_files_are_understood() -> None:
    run = RunConfig.of(apply_overrides({}, ["training.learning_rate=1e-5", "data.train=a"]))
    assert run.training.learning_rate == 1e-5
    assert run.data.train == ["a"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("training.learnin_rate=1", "did you mean 'learning_rate'"),
        ("trainin.steps=1", "did you mean 'training'"),
        ("training.steps=many", "training.steps='many' is not a whole number"),
        ("training.steps=0", "training.steps must be positive"),
        ("training.steps=true", "not a whole number"),
        ("training.tensorboard=1", "not a true or false"),
        ("training.learning_rate=fast", "not a number"),
        ("model.extractor.head=papr", "did you mean 'paper'"),
        ("model.extractor=3", "is a section of settings"),
        ("model.classifier.margin=-1", "classifier.margin must be positive"),
        ("model.objective.extractor_steps=-1", "extractor_steps must not be negative"),
        ("training.extractor_steps=1", "there is no setting 'training.extractor_steps'"),
        ("method=spanprot", "there is no method 'spanprot'; did you mean 'spanproto'?"),
        ("method=3", "method=3 is not the name of a method"),
        ("training=3", "training is a section of settings"),
        ("training.steps.more=1", "is a value, not a section"),
        ("model.objective.joint_weight=-1", "objective.joint_weight must not be negative"),
        ("training.head_learning_rate=-1", "training.head_learning_rate must not be negative"),
        ("steps", "is written key=value"),
        ("training.output=[", "not valid YAML"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(override: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RunConfig.of(apply_overrides({"training": {"steps": 5}}, [override]))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_configuration_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    with pytest.raises(DataError, match="no such file"):
        read_yaml(path)
    for text, words in (("a: [", "not valid YAML"), ("- a", "mapping of keys to values")):
        path.write_text(text)
        with pytest.raises(ConfigError, match=words):
            read_yaml(path)
