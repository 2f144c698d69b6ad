"""Fitted recognisers on disk: what is refused, what is kept, and what a card may say."""

import json
from pathlib import Path

import pytest
import synthetic
import torch

from spanproto import FewShotNER, ner
from spanproto.checkpoint import load_spanproto, save_model
from spanproto.data.types import Sentence
from spanproto.encoder import SETTINGS
from spanproto.errors import CheckpointError, DataError
from spanproto.model_card import model_card
from spanproto.saving import PROTOTYPES
from spanproto.tensor_file import load_tensors, save_tensors

TYPES = ("animal", "fruit")
TEXT = "the animala seen near old fruitb fruitc and coloura today"


@pytest.fixture
def fitted(trained_model: Path) -> FewShotNER:
    shown: list[Sentence] = synthetic.corpus(1, 8, TYPES)
    return FewShotNER(load_spanproto(trained_model)).fit(shown, adapt=False)


@pytest.fixture
def fresh(trained_model: Path, quick_fitting: None) -> FewShotNER:
    return FewShotNER(load_spanproto(trained_model))


def test_a_folder_of_other_things_is_left_alone(fitted: FewShotNER, tmp_path: Path) -> None:
    (tmp_path / "examples.jsonl").write_text("mine")
    (tmp_path / "model_old.safetensors").write_text("mine too")
    with pytest.raises(DataError, match="holds other files and no model; choose a new"):
        fitted.save(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "examples.jsonl": "mine",
        "model_old.safetensors": "mine too",
    }


def test_an_empty_folder_is_filled_and_a_saved_one_replaced(
    fitted: FewShotNER, tmp_path: Path
) -> None:
    folder = tmp_path / "ner"
    folder.mkdir()
    fitted.save(folder)
    (folder / "notes").mkdir()
    (folder / "notes" / "one.txt").write_text("mine")
    fitted.save(folder)
    assert (folder / "notes" / "one.txt").read_text() == "mine"
    assert FewShotNER.load(folder).labels == fitted.labels
    assert [path.name for path in tmp_path.iterdir()] == ["ner"]


def test_a_model_without_its_vocabulary_is_refused(fitted: FewShotNER, tmp_path: Path) -> None:
    fitted.save(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match="tokenizer is missing or damaged"):
        FewShotNER.load(tmp_path)


def test_one_from_before_settings_went_comes_back_unless_it_decided_by_them(
    fitted: FewShotNER, tmp_path: Path
) -> None:
    fitted.save(tmp_path)
    expected = fitted.predict(TEXT)
    tensors, about = load_tensors(tmp_path / PROTOTYPES)
    tensors["shots"] = torch.ones(len(TYPES))
    save_tensors(tmp_path / PROTOTYPES, tensors, about)
    settings = json.loads((tmp_path / SETTINGS).read_text())
    decision = settings["model"]["decision"]
    decision |= {"pairs": {}, "nearest_in_meaning": 0.0, "shots_in_type": 0.0}
    (tmp_path / SETTINGS).write_text(json.dumps(settings))
    assert FewShotNER.load(tmp_path).predict(TEXT) == expected
    decision["shots_in_type"] = 0.5
    (tmp_path / SETTINGS).write_text(json.dumps(settings))
    with pytest.raises(CheckpointError, match=r"no setting 'model\.decision\.shots_in_type'"):
        FewShotNER.load(tmp_path)


def test_labels_and_prototypes_must_agree(fitted: FewShotNER, tmp_path: Path) -> None:
    fitted.save(tmp_path)
    content = json.loads((tmp_path / "ner.json").read_text())
    content["labels"].append("one more")
    (tmp_path / "ner.json").write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="3 labels for 2 prototypes"):
        FewShotNER.load(tmp_path)


def test_a_fitted_model_is_not_given_the_figures_of_the_one_it_came_from() -> None:
    origin = {
        "title": "The first",
        "summary": "Weights in half precision.",
        "quality": [{"F1": "99"}],
        "quality_note": "Of a twin.",
        "license": "cc-by-sa-4.0",
        "data": [{"name": "A corpus"}],
    }
    own = model_card(encoder="e", parameters=1, origin=origin)
    assert all(text in own for text in ("The first", "half precision", "Of a twin.", "| 99 |"))
    fitted = model_card(encoder="e", parameters=1, labels=["river"], origin=origin)
    assert not any(text in fitted for text in ("The first", "half precision", "twin", "99"))
    assert all(text in fitted for text in ("cc-by-sa-4.0", "A corpus", "`river`"))


@pytest.mark.parametrize("inputs", [5, None, Path("x"), {"text": "the animala"}])
def test_what_holds_no_text_is_refused(fitted: FewShotNER, inputs: object) -> None:
    with pytest.raises(DataError, match="entities cannot be found in a"):
        fitted.predict(inputs)


def test_numbers_must_be_numbers(fitted: FewShotNER) -> None:
    with pytest.raises(DataError, match="top_k=-1 is not a number of types"):
        fitted.predict("the animala", top_k=-1)
    with pytest.raises(DataError, match="must be a number in"):
        fitted.predict("the animala", threshold="0.5")


def test_one_label_may_be_named_without_a_list(trained_model: Path) -> None:
    ner = FewShotNER(load_spanproto(trained_model))
    ner.fit(synthetic.corpus(1, 8, TYPES), labels="fruit", adapt=False)
    assert ner.labels == ("fruit",)


def test_what_is_saved_comes_back(fresh: FewShotNER, tmp_path: Path) -> None:
    shown = [
        *synthetic.corpus(1, 12, (*TYPES, "colour")),
        {"text": "Ünï 👍 rivera\u2028here", "entities": [(6, 12, "river")]},
    ]
    fresh.fit(shown, descriptions={"river": "rivera"}).remove("colour")
    fresh.save(tmp_path / "one")
    loaded = FewShotNER.load(tmp_path / "one")
    assert loaded.labels == fresh.labels
    assert loaded.predict(TEXT, top_k=3) == fresh.predict(TEXT, top_k=3)
    assert loaded.explain(TEXT) == fresh.explain(TEXT)
    assert FewShotNER.from_pretrained(tmp_path / "one").predict(TEXT) == fresh.predict(TEXT)
    loaded.save(tmp_path / "two")
    for name in ("ner.json", "examples.jsonl", "model.safetensors", "prototypes.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    more = synthetic.corpus(5, 5, ("metal",))
    assert loaded.add(more).predict(TEXT) == fresh.add(more).predict(TEXT)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["one", "two"]


def test_saving_over_another_leaves_one(
    fresh: FewShotNER, fitted: FewShotNER, tmp_path: Path, monkeypatch
) -> None:
    folder = tmp_path / "ner"
    save_model(fitted.model, folder, shard_bytes=5000)
    (folder / "notes.txt").write_text("mine")
    (folder / "README.md").write_text("my card")
    fresh.fit(synthetic.corpus(1, 12, ("fruit",)), adapt=False).save(folder)
    assert FewShotNER.load(folder).predict(TEXT) == fresh.predict(TEXT)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "README.md").read_text() == "my card"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spanproto.saving.save_tensors", full)
    with pytest.raises(DataError, match="No space left"):
        fitted.save(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert list(tmp_path.iterdir()) == [folder]
    with pytest.raises(DataError, match="not a folder"):
        fitted.save(folder / "notes.txt")


def test_it_goes_to_the_hub_as_it_is_saved(fitted: FewShotNER, monkeypatch) -> None:
    def push(directory: str, repo_id: str, token: str | None, private: bool) -> str:
        assert FewShotNER.load(directory).predict(TEXT) == fitted.predict(TEXT)
        return f"{repo_id} {token} {private}"

    monkeypatch.setattr(ner, "push", push)
    assert fitted.push_to_hub("me/ner", token="secret", private=True) == "me/ner secret True"


def test_what_cannot_be_loaded_is_said(
    trained_model: Path, fitted: FewShotNER, tmp_path: Path
) -> None:
    with pytest.raises(CheckpointError, match=r"not fitted, ner.json is missing"):
        FewShotNER.load(trained_model)
    for load in (FewShotNER.load, FewShotNER.from_pretrained):
        with pytest.raises(CheckpointError, match="not a spanproto model"):
            load(tmp_path)
    with pytest.raises(CheckpointError, match="not a spanproto model"):
        FewShotNER.from_pretrained("./nowhere")
    with pytest.raises(CheckpointError, match="the model hub does not give it"):
        FewShotNER.from_pretrained("nobody/nothing")
    fitted.save(tmp_path)
    content = json.loads((tmp_path / "ner.json").read_text())
    for damage in ("{", "[]", "{}", json.dumps(content | {"format_version": 9})):
        (tmp_path / "ner.json").write_text(damage)
        with pytest.raises(CheckpointError):
            FewShotNER.load(tmp_path)
    fitted.save(tmp_path)
    (tmp_path / "examples.jsonl").unlink()
    with pytest.raises(CheckpointError, match="no such file"):
        FewShotNER.load(tmp_path)
