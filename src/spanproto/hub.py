"""Model directories to the model hub, for those who have an account there."""

from pathlib import Path

from spanproto.encoder import SETTINGS
from spanproto.errors import CheckpointError, SpanProtoError


class HubError(SpanProtoError):
    """The model hub could not be reached, or did not do what it was asked."""


def push(
    directory: Path | str, repo_id: str, token: str | None = None, private: bool = False
) -> str:
    """Upload a model directory as the repository `repo_id`, made if need be; its address.

    Without `token` the one that `hf auth login` or the variable HF_TOKEN left is used.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    directory = Path(directory)
    if not (directory / SETTINGS).exists():
        raise CheckpointError(
            f"{directory}: not a spanproto model, {SETTINGS} is missing; save the model first"
        )
    token = token or get_token()
    if token is None:
        raise HubError(
            f"{repo_id}: there is no token for the model hub; run `hf auth login`, set HF_TOKEN, "
            "or give token="
        )
    api = HfApi(token=token)
    try:
        made = api.create_repo(repo_id, private=private, exist_ok=True)
        api.upload_folder(
            repo_id=made.repo_id,
            folder_path=directory,
            commit_message="A model of spanproto",
            ignore_patterns=[".*"],
        )
    except HFValidationError:
        raise HubError(f"{repo_id!r} is no name for a repository; write it as USER/NAME") from None
    except HfHubHTTPError as error:
        raise HubError(
            f"{repo_id}: the model hub refused the upload ({_first_line(error)}); check the name "
            "and that the token may write"
        ) from None
    except Exception as error:  # of whatever library the hub's client is built on
        raise HubError(
            f"{repo_id}: the model hub cannot be reached ({_first_line(error)}); try again online"
        ) from None
    return str(made)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
