"""Which episodes are fine-tuned side by side."""

import pytest
from tqdm import tqdm

from spanproto.adaptation import AdaptationConfig, _groups, ask_adapted
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import ConfigError
from spanproto.model import SpanProto


def episode(*lengths: int) -> Episode:
    """With support sentences of such lengths."""
    support = tuple(Sentence(("word",) * size, (Span(0, 1, "a"),)) for size in lengths)
    return Episode(("a",), support, ())


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(1000, [[1, 3, 0], [2]]), (45, [[1], [3], [0, 2]]), (1, [[1], [3], [0], [2]])],
)
def test_sentences_of_similar_length_go_together(
    tiny_model: SpanProto, tokens: int, expected: list[list[int]]
) -> None:
    episodes = [episode(5, 5), episode(20), episode(3, 3, 3), episode(9, 9)]
    # By the longest sentence 20, 9, 5 and 3; by words, of two sub-tokens each, 20, 18, 10 and 9.
    config = AdaptationConfig(episodes_at_once=3, tokens_at_once=tokens)
    assert list(_groups(tiny_model, episodes, config)) == expected


def test_early_stopping_goes_one_by_one(tiny_model: SpanProto) -> None:
    config = AdaptationConfig(early_stopping=True)
    assert list(_groups(tiny_model, [episode(2), episode(3)], config)) == [[1], [0]]


def test_a_bar_moves_as_groups_are_done(
    tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []

    class Noted(tqdm):  # type: ignore[type-arg]
        def update(self, n: float | None = 1) -> bool | None:
            moved.append(f"{n} of {self.total}")
            return super().update(n)

    def ask(_: SpanProto, group: list[Episode]) -> list[int]:
        moved.append(f"asked {len(group)}")
        return [len(episode.support) for episode in group]

    monkeypatch.setattr("spanproto.adaptation.tqdm", Noted)
    episodes = [episode(5, 5), episode(20), episode(3, 3, 3)]
    config = AdaptationConfig(steps=1, episodes_at_once=2)
    assert list(ask_adapted(tiny_model, episodes, config, ask)) == [2, 1, 3]
    assert moved == ["asked 2", "2 of 3", "asked 1", "1 of 3"]


def test_a_batch_of_no_tokens_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"adaptation\.tokens_at_once must be positive"):
        AdaptationConfig(tokens_at_once=0)
