"""Columns whose test episodes have all types of a domain, drawn from a file that is labelled."""

from dataclasses import dataclass
from pathlib import Path

from spanproto.data.formats import read_sentences
from spanproto.data.types import Episode
from spanproto.evaluation.by_nesting import outermost_mentions
from spanproto.experiments.columns import Column
from spanproto.experiments.domains import domain_episode


@dataclass(frozen=True, kw_only=True)
class DomainColumn(Column):
    """A column of one domain, whose mentions that lie in others are left out."""

    shots: int  # examples of each type, or more
    queries: int  # sentences to find mentions in
    episodes: int

    def test_episodes(self, folder: Path, limit: int | None = None) -> list[Episode]:
        """The episodes to test on, each drawn by its number."""
        sentences = [
            sentence.with_spans(outermost_mentions(sentence.spans))
            for sentence in read_sentences(folder / self.test_file)
        ]
        return [
            domain_episode(sentences, self.shots, self.queries, seed, self.name)
            for seed in range(self.episodes)[:limit]
        ]
