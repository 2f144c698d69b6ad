"""What a data file holds and what is wrong with it: the work behind `spanproto data check`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from spanproto.data.formats import (
    FORMATS,
    detect_format,
    open_episodes,
    open_sentences,
    refuse_idle_options,
)
from spanproto.data.formats.base import Located, Problem
from spanproto.data.types import Episode, Sentence, Span

_SHOWN_PROBLEMS = 20


@dataclass
class Range:
    """The least and the greatest of some numbers; both None while there are none."""

    least: int | None = None
    greatest: int | None = None

    def add(self, numbers: Iterable[int]) -> None:
        """Widen the range to take in the numbers."""
        known = [n for n in (self.least, self.greatest) if n is not None]
        known.extend(numbers)
        if known:
            self.least, self.greatest = min(known), max(known)

    def __str__(self) -> str:
        return str(self.least) if self.least == self.greatest else f"{self.least}-{self.greatest}"


@dataclass
class EpisodeCounts:
    """How large the episodes of a file are."""

    episodes: int = 0
    types_per_episode: Range = field(default_factory=Range)
    support_entities_per_type: Range = field(default_factory=Range)
    support_sentences: Range = field(default_factory=Range)
    query_sentences: Range = field(default_factory=Range)
    types_without_support: int = 0
    query_sentences_also_in_support: int = 0

    def add(self, episode: Episode) -> None:
        """Count an episode in; types without support are counted apart from the range."""
        shots = Counter(span.label for sentence in episode.support for span in sentence.spans)
        seen = {sentence.words for sentence in episode.support}
        self.episodes += 1
        self.types_per_episode.add([len(episode.types)])
        self.support_entities_per_type.add(shots.values())
        self.support_sentences.add([len(episode.support)])
        self.query_sentences.add([len(episode.query)])
        self.types_without_support += len(episode.types) - len(shots)
        self.query_sentences_also_in_support += sum(
            sentence.words in seen for sentence in episode.query
        )


@dataclass
class Report:
    """Counts of a data file and the problems in it.

    A problem drops its sentence or episode from the counts; a warning does not. A sentence is a
    duplicate when an earlier one has the same words (in episode files this is usual), and it
    conflicts when that one has other entities. An entity is nested when it shares a word.
    """

    path: str
    format: str
    scheme: str | None = None
    sentences: int = 0
    words: int = 0
    entities: int = 0
    nested_entities: int = 0
    nested_sentences: int = 0
    duplicate_sentences: int = 0
    conflicting_duplicates: int = 0
    entities_of_type: Counter[str] = field(default_factory=Counter)
    sentences_with_type: Counter[str] = field(default_factory=Counter)
    episodes: EpisodeCounts | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def on_problem(self, problem: Problem) -> None:
        """Keep a problem or warning."""
        (self.problems if problem.is_error else self.warnings).append(problem)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values for JSON; types come most frequent first."""
        plain = {
            name: value
            for name, value in vars(self).items()
            if name not in ("entities_of_type", "sentences_with_type")
        }
        plain["episodes"] = asdict(self.episodes) if self.episodes else None
        plain["types"] = {
            label: {
                "entities": self.entities_of_type[label],
                "sentences": self.sentences_with_type[label],
            }
            for label in _by_frequency(self.entities_of_type)
        }
        for name in ("problems", "warnings"):
            plain[name] = [{"line": line, "message": message} for line, message, _ in plain[name]]
        return plain


def check(
    path: Path,
    format: str | None = None,
    *,
    label_column: int | None = None,
    scheme: str | None = None,
    boundaries: str = "refuse",
) -> Report:
    """Read the whole file, counting what is good and keeping what is wrong."""
    format = format or detect_format(path)
    report = Report(str(path), format)
    form = FORMATS.get(format)
    if form is not None and form.holds == "episodes":
        refuse_idle_options(path, form, label_column=label_column, scheme=scheme)
        episodes = open_episodes(path, format, on_problem=report.on_problem)
        report.scheme = episodes.scheme
        report.episodes = EpisodeCounts()
        _count(report, _sentences_of(report, report.episodes, episodes.items))
    else:
        sentences = open_sentences(
            path,
            format,
            label_column=label_column,
            scheme=scheme,
            boundaries=boundaries,
            on_problem=report.on_problem,
        )
        report.scheme = sentences.scheme
        _count(report, (located.item for located in sentences.items))
    return report


def _sentences_of(
    report: Report, counts: EpisodeCounts, episodes: Iterable[Located[Episode]]
) -> Iterator[Sentence]:
    """The sentences of all episodes, once each episode has been counted."""
    for line, episode in episodes:
        counts.add(episode)
        if not episode.has_support():
            message = "the episode has no support entity at all; label one or remove the episode"
            report.on_problem(Problem(line, message, is_error=True))
        absent = set(episode.types).difference(episode.supported_types())
        for label in sorted(absent):
            message = f"type {label!r} has no support entity and can never be predicted"
            report.on_problem(Problem(line, message, is_error=False))
        yield from chain(episode.support, episode.query)


def _count(report: Report, sentences: Iterable[Sentence]) -> None:
    first_spans: dict[tuple[str, ...], frozenset[Span]] = {}
    for sentence in sentences:
        types = sentence.type_counts()
        nested = _nested_entities(sentence)
        spans = frozenset(sentence.spans)
        report.sentences += 1
        report.words += len(sentence.words)
        report.entities += len(sentence.spans)
        report.nested_entities += nested
        report.nested_sentences += nested > 0
        report.duplicate_sentences += sentence.words in first_spans
        report.conflicting_duplicates += first_spans.setdefault(sentence.words, spans) != spans
        report.entities_of_type.update(types)
        report.sentences_with_type.update(types.keys())


def _nested_entities(sentence: Sentence) -> int:
    """How many of the spans share a word with another."""
    covered = Counter(at for span in sentence.spans for at in range(span.start, span.end))
    return sum(
        any(covered[at] > 1 for at in range(span.start, span.end)) for span in sentence.spans
    )


def _by_frequency(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda label: (-counts[label], label))


def as_text(report: Report) -> str:
    """The report as tables for a terminal."""
    facts: list[tuple[str, object]] = [("format", report.format)]
    if report.scheme:
        facts.append(("tag scheme", report.scheme))
    if report.episodes is not None:
        facts += _episode_facts(report.episodes)
    facts += [
        ("sentences", report.sentences),
        ("words", report.words),
        ("entities", report.entities),
        ("types", len(report.entities_of_type)),
        ("nested entities", f"{report.nested_entities} in {report.nested_sentences} sentences"),
        (
            "duplicate sentences",
            f"{report.duplicate_sentences}, {report.conflicting_duplicates} with other entities",
        ),
        ("problems", len(report.problems)),
        ("warnings", len(report.warnings)),
    ]
    width = max(len(name) for name, _ in facts)
    lines = [report.path, "", *(f"{name.ljust(width)}  {value}" for name, value in facts)]
    if report.entities_of_type:
        rows = [
            (label, report.entities_of_type[label], report.sentences_with_type[label])
            for label in _by_frequency(report.entities_of_type)
        ]
        lines += ["", *_table([("type", "entities", "sentences"), *rows])]
    for title, problems in (("problems", report.problems), ("warnings", report.warnings)):
        lines += _listed(title, problems)
    return "\n".join(lines)


def _episode_facts(counts: EpisodeCounts) -> list[tuple[str, object]]:
    return [
        ("episodes", counts.episodes),
        ("types an episode (N)", counts.types_per_episode),
        ("support entities a type (K)", counts.support_entities_per_type),
        ("support sentences", counts.support_sentences),
        ("query sentences", counts.query_sentences),
        ("types without support", counts.types_without_support),
        ("query sentences also in support", counts.query_sentences_also_in_support),
    ]


def _table(rows: Sequence[tuple[object, ...]]) -> list[str]:
    """The rows with columns aligned: the first to the left, numbers to the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in texts
    ]


def _listed(title: str, problems: Sequence[Problem]) -> list[str]:
    if not problems:
        return []
    more = len(problems) - _SHOWN_PROBLEMS
    lines = [
        problem.message if problem.line is None else f"line {problem.line}: {problem.message}"
        for problem in problems[:_SHOWN_PROBLEMS]
    ]
    if more > 0:
        lines.append(f"and {more} more")
    return ["", f"{title}:", *(f"  {line}" for line in lines)]
