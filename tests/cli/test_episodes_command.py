import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from spanproto.cli.main import app, main
from spanproto.data.formats import read_episodes
from spanproto.errors import DataError


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Thirty sentences of each of three types, and one of a fourth."""
    labels = [label for label in ("ant", "bee", "cat") for _ in range(30)] + ["emu"]
    file = tmp_path / "corpus.txt"
    file.write_text(
        "\n".join(
            f"Number\tO\n{index}\tB-{label}\n{label}\tI-{label}\n.\tO\n"
            for index, label in enumerate(labels)
        )
    )
    return file


def run(corpus: Path, out: Path, *options: str) -> Result:
    size = ["--ways", "2", "--shots", "2", "--count", "5"]
    return CliRunner().invoke(app, ["episodes", str(corpus), str(out), *size, *options])


def written(corpus: Path, out: Path, *options: str) -> bytes:
    result = run(corpus, out, *options)
    assert result.exit_code == 0, result.exception
    return out.read_bytes()


@pytest.mark.parametrize("format", ["fewnerd-episodes", "crossdomain", "token-episodes"])
def test_episodes_are_written_in_the_format_asked_for(
    corpus: Path, tmp_path: Path, format: str
) -> None:
    out = tmp_path / "episodes"
    assert written(corpus, out, "--skip-rare", "--to", format)
    episodes = read_episodes(out, format)
    assert len(episodes) == 5
    for episode in episodes:
        assert len(episode.types) == 2
        assert len(episode.support) == len(episode.query) == 4


def test_one_line_says_what_was_written(corpus: Path, tmp_path: Path) -> None:
    result = run(corpus, tmp_path / "out.jsonl", "--skip-rare", "--query-shots", "1")
    assert result.stdout.splitlines() == [
        f"{tmp_path / 'out.jsonl'}: 5 episodes, 2-way, 2~4 support and 1~2 query entities of each "
        "type, drawn from 3 types with seed 0"
    ]
    assert result.stderr == ""  # no progress bar where nobody watches


def test_the_seed_decides_every_byte(corpus: Path, tmp_path: Path) -> None:
    first, again, other = (tmp_path / name for name in ("first", "again", "other"))
    bytes_of_first = written(corpus, first, "--skip-rare", "--seed", "7")
    assert written(corpus, again, "--skip-rare", "--seed", "7") == bytes_of_first
    assert written(corpus, other, "--skip-rare", "--seed", "8") != bytes_of_first


def test_types_limit_the_draw(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    written(corpus, out, "--types", "ant,cat")
    assert {episode.types for episode in read_episodes(out)} == {("ant", "cat")}


def test_labels_are_taken_from_the_column_and_scheme_asked_for(tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out"
    rows = [(index, label) for label in ("ant", "bee") for index in range(20)]
    corpus.write_text(
        "".join(f"{label}{i}\tI-{label}\tB-x\nv\tI-{label}\tO\n\n" for i, label in rows)
    )
    written(corpus, out, "--label-column", "1", "--scheme", "io")
    for episode in read_episodes(out):
        assert episode.types == ("ant", "bee")
        assert {span[:2] for each in episode.support for span in each.spans} == {(0, 2)}


def test_query_shots_differ_from_shots(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    written(corpus, out, "--skip-rare", "--query-shots", "1")
    assert {len(episode.query) for episode in read_episodes(out)} == {2}


def test_a_rare_type_is_named_and_nothing_is_written(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(corpus, out)
    assert isinstance(result.exception, DataError)
    assert "emu (1 entities in 1 usable sentences)" in str(result.exception)
    assert not out.exists()


def test_bad_input_is_one_sentence_and_exit_code_2(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--ways", "9", "--shots", "1", "--count", "1", "--skip-rare"]
    monkeypatch.setattr(sys, "argv", ["spanproto", "episodes", str(corpus), "out", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("error: 3 types can fill an episode")
