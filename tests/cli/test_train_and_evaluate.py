"""`spanproto train` and `spanproto evaluate` as a user types them, and what bad input gets."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import synthetic
from command import refused, spanproto

from spanproto.data.formats import write_episodes
from spanproto.data.types import Episode, Sentence


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """A trained run, made by the command itself."""
    folder = tmp_path_factory.mktemp("run")
    for name, seeds in (("train", range(10)), ("test", range(20, 24)), ("valid", range(30, 34))):
        episodes = [synthetic.episode(seed) for seed in seeds]
        write_episodes(folder / f"{name}.json", episodes, "crossdomain")
    (folder / "run.yaml").write_text(
        f"""
        model:
          encoder: {{name: {tiny_encoder}}}
          classifier: {{reject: false}}
          objective: {{extractor_steps: 1}}
        data: {{train: {folder}/train.json, valid: {folder}/test.json, protocol: crossdomain}}
        training: {{steps: 3, device: cpu}}
        """
    )
    done = spanproto("train", folder / "run.yaml", f"training.output={folder}/out")
    assert done.returncode == 0, done.stderr
    assert str(folder / "out" / "model") in done.stdout
    return folder


def evaluate(folder: Path, *arguments: object) -> "CompletedProcess[str]":
    return spanproto(
        "evaluate", folder / "out", folder / "test.json", "--protocol", "crossdomain", *arguments
    )


def test_scores_as_table_and_as_json(folder: Path, tmp_path: Path) -> None:
    table = evaluate(folder, "--output", tmp_path / "scores.json")
    assert table.returncode == 0, table.stderr
    assert "entities" in table.stdout
    assert "ORACLE" not in table.stdout
    written = json.loads((tmp_path / "scores.json").read_text())
    printed = json.loads(evaluate(folder, "--json").stdout)
    assert written["micro"] == printed["micro"]
    assert written["episodes"] == 4
    for part in ("micro", "episode_f1", "span", "extraction", "false_positives", "types"):
        assert part in written
    assert written["provenance"]["seed"] == 42
    assert written["model"]["origin"]["data"][0]["name"] == "train.json"


def test_the_released_rule_says_that_it_is_an_oracle(folder: Path) -> None:
    done = evaluate(folder, "--candidates", "released")
    assert "ORACLE" in done.stdout
    content = json.loads(evaluate(folder, "--candidates", "released", "--json").stdout)
    assert "gold spans" in content["oracle"]
    assert content["extraction"]["recall"] == 100
    assert json.loads(evaluate(folder, "--json").stdout)["oracle"] is None


def test_scores_with_names_say_so(folder: Path) -> None:
    done = evaluate(folder, "--configure", "classifier.names_weight=0.5")
    assert "NAMES" in done.stdout
    with_names = ("--configure", "classifier.names_weight=0.5", "--json")
    assert "support set" in json.loads(evaluate(folder, *with_names).stdout)["names"]
    assert json.loads(evaluate(folder, "--json").stdout)["names"] is None


def test_copies_are_adapted_on_request(folder: Path) -> None:
    plain = json.loads(evaluate(folder, "--json").stdout)
    adapted = json.loads(
        evaluate(
            folder, "--json", "--adapt", "--set", "steps=3", "--set", "learning_rate=0.01"
        ).stdout
    )
    assert plain["adaptation"] is None
    assert adapted["adaptation"]["steps"] == 3
    assert adapted["extraction"] != plain["extraction"]
    line = refused(evaluate(folder, "--adapt", "--set", "step=3"))
    assert "'adaptation.step'; did you mean 'steps'?" in line
    assert "give --adapt" in refused(evaluate(folder, "--set", "steps=3"))


def test_the_decision_is_fitted_on_request(folder: Path) -> None:
    fitted = json.loads(evaluate(folder, "--fit-decision", folder / "valid.json", "--json").stdout)
    assert fitted["model"]["config"]["decision"]["rule"] == "joint"
    assert len(fitted["provenance"]["data"]) == 2
    line = refused(evaluate(folder, "--fit-decision", folder / "none.json"))
    assert "none.json: no such file" in line


def test_nothing_is_fitted_to_what_is_scored(folder: Path, tiny_encoder: Path) -> None:
    for option in ("--fit-decision", "--fit-margin"):
        line = refused(evaluate(folder, option, folder / "test.json"))
        assert f"{option} {folder}/test.json: 4 of its episodes are among those" in line
    line = refused(
        evaluate(folder, "--meaning", tiny_encoder, "--meaning-from", folder / "test.json")
    )
    assert "query sentences of" in line
    assert "whose labels would be learned; give others" in line


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_scored(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file" / "scores.json", tmp_path):
        done = evaluate(folder, "-o", place)
        assert "cannot be written" in refused(done)
        assert not done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_evidence_of_a_decision_is_named(folder: Path) -> None:
    fitting = ("--fit-decision", folder / "valid.json", "--json")
    plain = json.loads(evaluate(folder, *fitting).stdout)
    assert plain["evidence"] == ["boundary", "type", "distance", "before", "length"]
    few = json.loads(evaluate(folder, *fitting, "--evidence", "boundary, type").stdout)
    assert few["evidence"] == ["boundary", "type"]
    decision = few["model"]["config"]["decision"]
    assert decision["distance_weight"] == decision["length_weight"] == 0
    line = refused(evaluate(folder, *fitting, "--evidence", "boundary,typ"))
    assert "there is no evidence 'typ'; did you mean 'type'?" in line
    line = refused(evaluate(folder, *fitting, "--evidence", "boundary,meaning"))
    assert "let the model ask it (--meaning ENCODER)" in line
    assert "give --fit-decision with it" in refused(evaluate(folder, "--evidence", "boundary"))


def test_what_tells_types_apart_in_meanings_is_learned_on_request(
    folder: Path, tiny_encoder: Path
) -> None:
    asking = ("--meaning", tiny_encoder, "--fit-decision", folder / "valid.json", "--json")
    plain = json.loads(evaluate(folder, *asking).stdout)
    assert plain["meaning_from"] is None
    learned = json.loads(evaluate(folder, *asking, "--meaning-from", folder / "train.json").stdout)
    assert learned["meaning_from"] == str(folder / "train.json")
    assert [file["name"] for file in learned["provenance"]["data"]][1] == "train.json"
    weights = [one["model"]["config"]["decision"]["meaning_weight"] for one in (plain, learned)]
    assert weights[0] != weights[1]
    assert plain["seen"] is None
    assert learned["seen"].startswith("SEEN: what spans mean was learned from labelled examples of")
    others = [synthetic.episode(seed, synthetic.TYPES[3:5]) for seed in range(4)]
    write_episodes(folder / "others.jsonl", others, "token-episodes")
    unseen = evaluate(folder, *asking, "--meaning-from", folder / "others.jsonl")
    assert json.loads(unseen.stdout)["seen"] is None
    line = refused(evaluate(folder, "--meaning-from", folder / "train.json"))
    assert "give --meaning with it" in line
    line = refused(evaluate(folder, *asking, "--meaning-from", folder / "none.json"))
    assert "none.json: no such file" in line


def test_spans_are_centred_on_request(folder: Path) -> None:
    centred = json.loads(evaluate(folder, "--centre-on", folder / "test.json", "--json").stdout)
    assert centred["model"]["config"]["classifier"]["sphere"] == 3.0
    assert len(centred["provenance"]["data"]) == 2


def test_a_setting_that_does_not_exist_is_named_with_the_nearest(folder: Path) -> None:
    line = refused(spanproto("train", folder / "run.yaml", "training.step=5"))
    assert "'training.step'" in line
    assert "did you mean 'steps'?" in line


def test_a_missing_or_empty_configuration_is_said(folder: Path, tmp_path: Path) -> None:
    assert "no such file" in refused(spanproto("train", tmp_path / "none.yaml"))
    (tmp_path / "empty.yaml").write_text("")
    assert "empty" in refused(spanproto("train", tmp_path / "empty.yaml"))


def test_an_episode_without_support_spans_is_located(folder: Path, tmp_path: Path) -> None:
    bare = Episode(("river",), (Sentence(("the",)),), (Sentence(("the",)),))
    path = tmp_path / "bare.jsonl"
    write_episodes(path, [synthetic.episode(), bare], "token-episodes")
    line = refused(spanproto("evaluate", folder / "out", path, "--protocol", "fewnerd"))
    assert f"{path}:2: " in line
    assert "no support span at all" in line
    refused(spanproto("train", folder / "run.yaml", f"data.train={path}", "--restart"))


@pytest.mark.parametrize("damage", ["truncated", "version", "nothing"])
def test_a_damaged_checkpoint_is_refused(folder: Path, tmp_path: Path, damage: str) -> None:
    model = tmp_path / "model"
    model.mkdir()
    if damage != "nothing":
        for path in (folder / "out" / "model").iterdir():
            (model / path.name).write_bytes(path.read_bytes())
    if damage == "truncated":
        weights = (model / "model.safetensors").read_bytes()
        (model / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    elif damage == "version":
        content = json.loads((model / "spanproto.json").read_text())
        (model / "spanproto.json").write_text(json.dumps(content | {"format_version": 0}))
    line = refused(spanproto("evaluate", model, folder / "test.json", "--protocol", "crossdomain"))
    words = {"truncated": "truncated", "version": "format 0", "nothing": "not a spanproto model"}
    assert words[damage] in line


def test_a_file_that_is_missing_or_holds_sentences_is_refused(folder: Path) -> None:
    none = folder / "none.json"
    done = spanproto("evaluate", folder / "out", none, "--protocol", "fewnerd")
    assert "no such file" in refused(done)
    wrong = folder / "sentences.txt"
    wrong.write_text("Ada\tperson\nwrote\tO\n")
    done = spanproto("evaluate", folder / "out", wrong, "--protocol", "fewnerd")
    assert "holds sentences and episodes are needed" in refused(done)
