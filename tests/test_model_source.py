"""Where models come from."""

from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from spanproto import model_source
from spanproto.errors import CheckpointError
from spanproto.model_source import model_directory


def test_the_built_in_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_source, "BUILT_IN", tmp_path)
    assert model_directory(None) == tmp_path
    monkeypatch.setattr(model_source, "BUILT_IN", tmp_path / "none")
    with pytest.raises(CheckpointError, match="no model built in"):
        model_directory(None)


def test_paths_are_not_asked_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(name: str) -> str:
        raise AssertionError(name)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", never)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my" / "ner").mkdir(parents=True)
    names = ["my/ner", "./x/y", "/x/y", "a/b/c", "typo", str(tmp_path / "x")]
    assert [model_directory(name) for name in names] == [Path(name) for name in names]
    assert model_directory(Path("x/y")) == Path("x/y")
    assert model_directory("~/ner") == Path.home() / "ner"


def test_a_hub_name_is_fetched_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name: str(tmp_path / name))
    assert model_directory("me/ner") == tmp_path / "me" / "ner"
    for error in (LocalEntryNotFoundError("offline"), RuntimeError("no route")):

        def fail(name: str, error: Exception = error) -> str:
            raise error

        monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
        with pytest.raises(CheckpointError, match=r"'me/ner' is no directory here.*while online"):
            model_directory("me/ner")
