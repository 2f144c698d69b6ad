"""Uploading: what the hub is handed, and what is said when it cannot be."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

from spanproto import hub
from spanproto.checkpoint import save_model
from spanproto.errors import SpanProtoError
from spanproto.model import SpanProto


@pytest.fixture
def saved(tiny_model: SpanProto, tmp_path: Path) -> Path:
    save_model(tiny_model, tmp_path)
    return tmp_path


class FakeApi:
    """The calls that would have gone to the hub, or the error that they end with."""

    calls: list[tuple[str, dict[str, Any]]]
    error: Exception | None

    def __init__(self, token: str) -> None:
        self.calls.append(("token", {"token": token}))

    def create_repo(self, repo_id: str, **options: Any) -> huggingface_hub.RepoUrl:
        if self.error is not None:
            raise self.error
        self.calls.append(("create", {"repo_id": repo_id, **options}))
        return huggingface_hub.RepoUrl(f"https://huggingface.co/{repo_id}")

    def upload_folder(self, **options: Any) -> None:
        self.calls.append(("upload", options))


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> type[FakeApi]:
    FakeApi.calls, FakeApi.error = [], None
    monkeypatch.setattr(huggingface_hub, "HfApi", FakeApi)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    return FakeApi


def test_the_directory_goes_up(saved: Path, api: type[FakeApi]) -> None:
    address = hub.push(saved, "me/ner", token="secret", private=True)
    assert address == "https://huggingface.co/me/ner"
    made, uploaded = api.calls[1][1], api.calls[2][1]
    assert made == {"repo_id": "me/ner", "private": True, "exist_ok": True}
    assert uploaded["folder_path"] == saved
    assert uploaded["repo_id"] == "me/ner"


def test_a_token_is_needed(saved: Path, api: type[FakeApi]) -> None:
    with pytest.raises(SpanProtoError, match="no token for the model hub; run `hf auth login`"):
        hub.push(saved, "me/ner")
    assert not api.calls


def test_only_models_go_up(tmp_path: Path, api: type[FakeApi]) -> None:
    with pytest.raises(SpanProtoError, match="not a spanproto model"):
        hub.push(tmp_path, "me/ner", token="secret")


REFUSED: Any = SimpleNamespace(headers={}, request=None, status_code=403)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RuntimeError("no route"), "cannot be reached"),
        (OfflineModeIsEnabled("offline"), "cannot be reached"),
        (OSError("no disk"), "cannot be reached"),
        (HfHubHTTPError("403 Forbidden", response=REFUSED), "refused the upload"),
        (HFValidationError("bad"), "no name for a repository"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    saved: Path, api: type[FakeApi], error: Exception, sentence: str
) -> None:
    api.error = error
    with pytest.raises(SpanProtoError, match=sentence) as caught:
        hub.push(saved, "me/ner", token="secret")
    assert "\n" not in str(caught.value)
