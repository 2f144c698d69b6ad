import json
from pathlib import Path
from typing import Any

import pytest
from format_files import ANNA, NESTED, episode_line, put, refusal

from spanproto.data.formats import Problem, open_episodes, read_episodes, write_episodes
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError


class TestFewNerdEpisodes:
    def test_official_line(self, file: Path) -> None:
        put(file, episode_line() + "\n\n" + episode_line(types=["PER", "LOC"]) + "\n")
        assert read_episodes(file) == [
            Episode(("PER",), (ANNA,), (ANNA,)),
            Episode(("PER", "LOC"), (ANNA,), (ANNA,)),
        ]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (episode_line(types=["LOC"]), "support sentence 0 has a span of type 'PER'"),
            (episode_line(types=[]), "the episode has no types"),
            (episode_line(types="PER"), "'types' is not a list"),
            (episode_line(query=[]), "'query' is not a JSON object"),
            (episode_line(query={"word": [], "label": []}), "the episode has no query sentences"),
            (episode_line(query={"word": [["a"]], "label": []}), "'query' has 1 lists of words"),
            (
                episode_line(query={"word": [["a"], ["b"]], "label": [["O"], ["O", "O"]]}),
                "query sentence 1: needs a list of words",
            ),
            (episode_line()[:-1], "not valid JSON"),
            ("[1]", "the line is not a JSON object"),
            ("[" * 100_000, "not valid JSON (brackets nested too deeply)"),
        ],
    )
    def test_bad_lines(self, file: Path, line: str, message: str) -> None:
        put(file, episode_line() + "\n" + line + "\n")
        assert refusal(file, "fewnerd-episodes").startswith(f":2: {message}")


class TestCrossDomain:
    @staticmethod
    def part(words: str, tags: str) -> dict[str, Any]:
        return {"seq_ins": [words.split()], "seq_outs": [tags.split()], "labels": ["News"]}

    def test_domains_and_both_names_of_the_query(self, file: Path) -> None:
        support = self.part("Anna sleeps", "B-PER O")
        query = self.part("to Rome", "O I-LOC")
        put(
            file,
            {
                "News": [{"support": support, "query": query}],
                "Wiki": [{"support": support, "batch": support}],
            },
        )
        rome = Sentence(("to", "Rome"), (Span(1, 2, "LOC"),))
        assert read_episodes(file) == [
            Episode(("LOC", "PER"), (ANNA,), (rome,)),
            Episode(("PER",), (ANNA,), (ANNA,)),
        ]

    def test_bad_tag_has_its_place(self, file: Path) -> None:
        good = {"support": self.part("a", "O"), "query": self.part("a", "O")}
        bad = good | {"query": self.part("a b", "O PER")}
        file.write_text(json.dumps({"News": [good, bad]}, indent=1))
        assert (
            refusal(file, "crossdomain")
            .partition(": ")[2]
            .startswith(
                "episode 1 of 'News': query sentence 0: word 1: tag 'PER' is not of the scheme bio"
            )
        )
        line = file.read_text().split("\n")[int(refusal(file, "crossdomain").split(":")[1]) - 1]
        assert line.strip() == "{"

    def test_types_without_entities_cannot_be_written(self, file: Path) -> None:
        with pytest.raises(DataError, match=r"episode 0: the types \['LOC'\] have no entity"):
            write_episodes(file, [Episode(("PER", "LOC"), (ANNA,), (ANNA,))], "crossdomain")


@pytest.mark.parametrize("format", ["fewnerd-episodes", "crossdomain"])
def test_flat_episode_files_refuse_nested_spans(file: Path, format: str) -> None:
    with pytest.raises(DataError, match=r"episode 0: query sentence 0: spans .* share a word"):
        write_episodes(file, [Episode(("PER", "ORG", "LOC"), (ANNA,), (NESTED,))], format)


def test_episodes_that_are_wrong_are_left_out(file: Path) -> None:
    put(file, episode_line() + "\n{}\n" + episode_line())
    problems: list[Problem] = []
    reading = open_episodes(file, on_problem=problems.append)
    assert [line for line, _ in reading.items] == [1, 3]
    assert [problem.line for problem in problems] == [2]
