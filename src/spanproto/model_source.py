"""Where a model comes from: the one that is built in, a directory, or the model hub."""

from pathlib import Path

from spanproto.errors import CheckpointError

BUILT_IN = Path(__file__).parent / "pretrained" / "default"


def model_directory(name: str | Path | None) -> Path:
    """The directory of the model that `name` stands for; None is the one that is built in."""
    if name is None:
        if not BUILT_IN.is_dir():
            raise CheckpointError(
                "this copy of spanproto has no model built in; give the directory of a model, or "
                "install spanproto again"
            )
        return BUILT_IN
    if isinstance(name, Path) or _looks_local(name):
        return Path(name).expanduser()
    return _from_hub(name)


def _looks_local(name: str) -> bool:
    """Whether a name is a path; the hub is not asked about what cannot be a name there."""
    return Path(name).exists() or name.startswith((".", "/", "~")) or name.count("/") != 1


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name))
    except Exception as error:  # of whatever library the hub's client is built on
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise CheckpointError(
            f"{name!r} is no directory here, and the model hub does not give it ({reason}); give "
            "the directory of a model, or a hub name while online"
        ) from None
