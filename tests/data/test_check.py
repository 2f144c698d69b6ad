import json
from pathlib import Path

import pytest

from spanproto.data.check import as_text, check
from spanproto.data.formats import write_episodes, write_sentences
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError

ANNA = Sentence(("Anna", "met", "Bob"), (Span(0, 1, "PER"), Span(2, 3, "PER")))
UNLABELLED = ANNA.unlabelled()
NESTED = Sentence(("Bank", "of", "Spain", "Inc"), (Span(0, 3, "ORG"), Span(2, 3, "LOC")))


def test_counts_of_sentences(file: Path) -> None:
    write_sentences(file, [ANNA, NESTED, ANNA, UNLABELLED], "token-json")
    report = check(file).to_dict()
    assert report.pop("types") == {
        "PER": {"entities": 4, "sentences": 2},
        "LOC": {"entities": 1, "sentences": 1},
        "ORG": {"entities": 1, "sentences": 1},
    }
    assert report == {
        "path": str(file),
        "format": "token-json",
        "scheme": None,
        "sentences": 4,
        "words": 13,
        "entities": 6,
        "nested_entities": 2,
        "nested_sentences": 1,
        "duplicate_sentences": 2,
        "conflicting_duplicates": 1,
        "episodes": None,
        "problems": [],
        "warnings": [],
    }


def test_counts_of_episodes(file: Path) -> None:
    place = Sentence(("to", "Rome"), (Span(1, 2, "LOC"),))
    episodes = [
        Episode(("PER", "LOC"), (ANNA, place), (UNLABELLED,)),
        Episode(("PER", "LOC", "ORG"), (ANNA, ANNA), (place, place)),
    ]
    write_episodes(file, episodes, "fewnerd-episodes")
    report = check(file).to_dict()
    assert report["scheme"] == "io"
    assert report["sentences"] == 7
    assert report["episodes"] == {
        "episodes": 2,
        "types_per_episode": {"least": 2, "greatest": 3},
        "support_entities_per_type": {"least": 1, "greatest": 4},
        "support_sentences": {"least": 2, "greatest": 2},
        "query_sentences": {"least": 1, "greatest": 2},
        "types_without_support": 2,
        "query_sentences_also_in_support": 1,
    }
    assert [warning["line"] for warning in report["warnings"]] == [2, 2]
    assert "'LOC' has no support entity" in report["warnings"][0]["message"]
    text = as_text(check(file))
    assert "types an episode (N)             2-3" in text
    assert "support sentences                2\n" in text


def test_problems_have_lines_and_drop_their_sentence(file: Path) -> None:
    file.write_text("a\tB-X\nb\tI-X\n\nc\tO\nd\n\ne\tI-X\n")
    report = check(file)
    assert (report.scheme, report.sentences, report.entities) == ("bio", 2, 2)
    assert [problem.line for problem in report.problems] == [5]
    assert [warning.line for warning in report.warnings] == [7]
    text = as_text(report)
    assert "line 5: the line has 1 column(s) where others have 2" in text
    assert "line 7: tag 'I-X' breaks the rules of bio" in text


def test_long_lists_are_cut_in_the_text_alone(file: Path) -> None:
    file.write_text("a\tB-X\n\nb\tO\n\n" + "c\tX\n\n" + "d\tB-X\n\n" * 30 + "e\n\n" * 25)
    report = check(file)
    assert "and 6 more" in as_text(report)
    assert len(report.to_dict()["problems"]) == 26
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


def test_options_reach_the_reader(file: Path) -> None:
    file.write_text("Anna B-NP B-PER\n")
    assert check(file, label_column=1).to_dict()["types"] == {"NP": {"entities": 1, "sentences": 1}}
    assert check(file, scheme="io").to_dict()["types"] == {"B-PER": {"entities": 1, "sentences": 1}}


def test_options_are_refused_for_episodes(file: Path) -> None:
    write_episodes(file, [Episode(("PER",), (ANNA,), (ANNA,))], "crossdomain")
    with pytest.raises(DataError, match="no tag scheme"):
        check(file, scheme="bio")
    with pytest.raises(DataError, match="no label column"):
        check(file, label_column=1)


def test_unknown_format(file: Path) -> None:
    file.write_text("a\tO\n")
    with pytest.raises(DataError, match="did you mean 'crossdomain'"):
        check(file, "crossdomains")
