"""`spanproto methods`, and `--method` as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import synthetic
from command import refused, spanproto

from spanproto.data.formats import write_episodes, write_sentences
from spanproto.methods import METHODS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """ProtoBERT trained without any configuration file."""
    folder = tmp_path_factory.mktemp("methods")
    for name, seeds in (("train", range(10)), ("test", range(20, 23))):
        episodes = [synthetic.episode(seed) for seed in seeds]
        write_episodes(folder / f"{name}.json", episodes, "crossdomain")
    done = spanproto(
        "train",
        "--method",
        "protobert",
        f"data.train={folder}/train.json",
        f"model.encoder.name={tiny_encoder}",
        "training.steps=3",
        "training.device=cpu",
        f"training.output={folder}/out",
    )
    assert done.returncode == 0, done.stderr
    return folder


def evaluate(model: Path, folder: Path, *arguments: object):
    return spanproto(
        "evaluate", model, folder / "test.json", "--protocol", "crossdomain", *arguments
    )


def test_the_list_names_everyone() -> None:
    listed = json.loads(spanproto("methods", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(METHODS)
    table = spanproto("methods").stdout
    for entry in listed:
        assert all(entry[part] in table for part in ("name", "citation", "idea"))


def test_the_list_needs_no_torch() -> None:
    program = (
        "import sys; sys.argv = ['spanproto', 'methods']; from spanproto.cli.main import app; "
        "app(standalone_mode=False); import spanproto; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0


def test_the_settings_of_the_method_are_kept(folder: Path) -> None:
    written = (folder / "out" / "config.yaml").read_text()
    assert written.startswith("method: protobert\nmodel:\n")
    assert "learning_rate: 0.0001\n" in written
    assert json.loads((folder / "out" / "model" / "spanproto.json").read_text())["format_version"]


@pytest.mark.parametrize("method", [None, "nnshot", "structshot"])
def test_one_training_serves_three_methods(folder: Path, method: str | None) -> None:
    chosen = [] if method is None else ["--method", method]
    content = json.loads(evaluate(folder / "out", folder, *chosen, "--json").stdout)
    assert content["method"] == (method or "protobert")
    assert content["extraction"] is None
    assert content["adaptation"] is None
    assert "entities" in evaluate(folder / "out", folder, *chosen).stdout


def test_settings_of_the_method_can_be_changed(folder: Path) -> None:
    done = evaluate(
        folder / "out", folder, "--method", "structshot", "--configure", "temperature=0.4", "--json"
    )
    assert json.loads(done.stdout)["model"]["config"]["temperature"] == 0.4


def test_a_method_without_training_takes_an_encoder(folder: Path, tiny_encoder: Path) -> None:
    arguments = ("--method", "token-classifier", "--set", "steps=2", "--json")
    content = json.loads(evaluate(tiny_encoder, folder, *arguments).stdout)
    assert content["adaptation"]["steps"] == 2
    assert content["adaptation"]["head_learning_rate"] == 1e-3
    for source in (tiny_encoder, folder / "out"):  # bare, or that of any saved model
        assert evaluate(source, folder, *arguments).returncode == 0


def test_a_method_without_training_is_written_at_once(
    folder: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    settings = (f"model.encoder.name={tiny_encoder}", f"training.output={tmp_path}/out")
    done = spanproto("train", "--method", "token-classifier", *settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "token-classifier: nothing to train, it learns from each support set alone",
        f"model: {tmp_path}/out/model",
    ]
    content = json.loads(evaluate(tmp_path / "out", folder, "--set", "steps=2", "--json").stdout)
    assert content["method"] == "token-classifier"
    command = ("train", "--method", "token-classifier")
    again = spanproto(*command, *settings, "data.train=any", "--restart")
    assert "nothing to train, it learns from each support set alone, so data.train" in again.stdout
    settings = ("model.encoder.name=nowhere/at/all", f"training.output={tmp_path}/none")
    assert "nowhere/at/all" in refused(spanproto(*command, *settings))
    assert not (tmp_path / "none").exists()


def test_what_sentences_cannot_teach_is_refused(tiny_encoder: Path, tmp_path: Path) -> None:
    plain, labelled = tmp_path / "plain.txt", tmp_path / "labelled.txt"
    write_sentences(plain, [s.unlabelled() for s in synthetic.corpus(1, 40)], "fewnerd")
    write_sentences(labelled, synthetic.corpus(1, 8), "fewnerd")
    command = ("train", "--method", "container", f"model.encoder.name={tiny_encoder}")
    command += (f"training.output={tmp_path}/out",)
    line = refused(spanproto(*command, f"data.train={plain}"))
    assert "plain.txt: no sentence has an entity, so there is nothing to learn" in line
    line = refused(spanproto(*command, f"data.train={labelled}"))
    assert "training.sentences_per_step=32 is more than the 8 sentences" in line
    assert not (tmp_path / "out").exists()


def test_settings_that_only_spanproto_heeds_are_refused(folder: Path, tiny_encoder: Path) -> None:
    for setting in ("leave_one_out=true", "negatives=0.1", "joint_weight=9"):
        arguments = ("--method", "token-classifier", "--set", setting)
        line = refused(evaluate(tiny_encoder, folder, *arguments))
        assert f"adaptation.{setting.partition('=')[0]} says how spanproto learns" in line
        assert "token classifier has no use for it; drop it" in line


def test_what_does_not_fit_is_said(folder: Path, tmp_path: Path) -> None:
    assert "name a configuration file, or a method" in refused(spanproto("train"))
    assert "data.train names no file" in refused(spanproto("train", "--method", "nnshot"))
    line = refused(spanproto("train", "--method", "protobrt", "data.train=x"))
    assert "did you mean 'protobert'?" in line
    line = refused(spanproto("train", "--method", "protobert", "model.classifier.margin=3"))
    assert "there is no setting 'model.classifier'" in line
    line = refused(evaluate(folder / "out", folder, "--method", "spanproto"))
    assert "the weights of ProtoBERT do not serve SpanProto" in line
    line = refused(evaluate(folder / "out", folder, "--candidates", "released"))
    assert "ProtoBERT has no candidate rule 'released'" in line
    (tmp_path / "run.yaml").write_text("method: nnshot\ndata: {train: x}\n")
    assert "x: no such file" in refused(spanproto("train", tmp_path / "run.yaml"))
