"""Episodes that can be used: each has at least one support span."""

from collections.abc import Iterable
from pathlib import Path

from spanproto.data.formats import open_episodes
from spanproto.data.types import Episode
from spanproto.errors import DataError


def read_supported_episodes(path: Path | str, format: str | None = None) -> list[Episode]:
    """The episodes of a file; one without any support span is an error."""
    located = list(open_episodes(path, format).items)
    for item in located:
        require_support([item.item], f"{path}:{item.line}: ")
    return [item.item for item in located]


def require_support(episodes: Iterable[Episode], where: str = "") -> None:
    """Refuse an episode without any support span: nothing could be learnt or predicted from it."""
    for episode in episodes:
        if not episode.has_support():
            raise DataError(
                f"{where}an episode of types {list(episode.types)} has no support span at all; "
                "label at least one support entity, or remove the episode"
            )
