import json
import os
from pathlib import Path
from typing import Any

import pytest
from format_files import ANNA, NESTED, TOUCHING, episode_line, put, refusal

from spanproto.data.formats import (
    FORMATS,
    Problem,
    detect_format,
    format_for_name,
    open_sentences,
    read_sentences,
    write_episodes,
    write_sentences,
)
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError


class TestConll:
    @pytest.mark.parametrize(
        "text",
        [
            "Anna\tB-PER\nsleeps\tO\n",
            "Anna B-PER\r\nsleeps   O\r\n\r\n",
            "\ufeffAnna\tB-PER\t\nsleeps\tO\t\n \t\n",
            "-DOCSTART- -X- -X- O\n\nAnna NNP B-NP B-PER\nsleeps VBZ B-VP O",
            "-DOCSTART- (1 news)\nAnna NNP B-PER\nsleeps VBZ O",
            "word pos label chunk\nAnna NNP B-PER B-NP\nsleeps VBZ O B-VP",
            "# global.columns = ID FORM NER MISC\n# id = 1\n1\tAnna\tB-PER\t_\n2\tsleeps\tO\t_",
            "#\thttp://example.org\t[2009]\n1\tAnna\tB-PER\tO\n2\tsleeps\tO\tO",
            "# id 7 domain=en\nAnna _ _ B-PER\nsleeps _ _ O",
            "Anna I-PER\nsleeps O",
            "Anna U-PER\nsleeps O",
            "Anna PER\nsleeps O",
        ],
    )
    def test_one_sentence_in_many_dresses(self, file: Path, text: str) -> None:
        column = 2 if "http" in text else None
        assert read_sentences(put(file, text), "conll", label_column=column) == [ANNA]

    def test_words_may_hold_any_unicode(self, file: Path) -> None:
        put(file, "10\u00a0000\tB-Q\n\u2028\tO\n👩‍👧\tO\n#\tO\n\n#\tB-Q\n")
        first, second = read_sentences(file)
        assert first.words == ("10\u00a0000", "\u2028", "👩‍👧", "#")
        assert second == Sentence(("#",), (Span(0, 1, "Q"),))

    @pytest.mark.parametrize(("column", "label"), [(1, "NP"), (-2, "NP"), (2, "PER"), (-1, "PER")])
    def test_label_column(self, file: Path, column: int, label: str) -> None:
        (sentence,) = read_sentences(put(file, "Anna B-NP B-PER\n"), label_column=column)
        assert sentence.spans == (Span(0, 1, label),)

    def test_only_o_is_fine(self, file: Path) -> None:
        assert read_sentences(put(file, "It\tO\nrains\tO\n")) == [Sentence(("It", "rains"))]

    def test_a_given_scheme_is_not_doubted(self, file: Path) -> None:
        put(file, "x\tB-cell\ny\tB-cell\n")
        assert read_sentences(file)[0].spans == (Span(0, 1, "cell"), Span(1, 2, "cell"))
        assert read_sentences(file, scheme="IO")[0].spans == (Span(0, 2, "B-cell"),)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a\tO\nb\tO\n\nc\tO\td\n", ":4: the line has 3 column(s) where others have 2"),
            ("a\tO\nb\nc\tO\n", ":2: the line has 1 column(s)"),
            ("a\tO\nb\tB_PER\n", ":2: tag 'B_PER' is of no known scheme"),
            ("a\tX-PER\nb\tQ-PER\n", ":1: tag 'X-PER' is of no known scheme"),
            ("a\tBEGIN-PER\nb\tEND-PER\n", ":1: tag 'BEGIN-PER' is of no known scheme"),
            ("a\tPER-B\nb\tO\n", ":1: tag 'PER-B' is of no known scheme"),
            ("a\tB-PER\nb\tO\nc\tI-PER\nd\tPER\n", ":4: tag 'PER' is not of the scheme bio"),
            ("a\nb\n", ":1: the lines have one column"),
            ("1\ta\tO\n2\t\tO\n3\tb\tO\n", ":2: the word is empty"),
            ("-DOCSTART- O\n\n-DOCSTART- O\n", ": the file has no words"),
            ("# a b\n# c d\n", ": the file holds no sentences"),
        ],
    )
    def test_bad_files(self, file: Path, text: str, message: str) -> None:
        assert refusal(put(file, text), "conll").startswith(message)

    def test_label_column_must_exist_and_not_hold_the_words(self, file: Path) -> None:
        put(file, "a\tO\n")
        assert "column 2 cannot be" in refusal(file, "conll", label_column=2)
        assert "column -2 cannot be" in refusal(file, "conll", label_column=-2)

    def test_iobes_is_written(self, file: Path) -> None:
        write_sentences(file, [ANNA, TOUCHING], "conll", scheme="bioes")
        assert file.read_text() == "Anna\tS-PER\nsleeps\tO\n\nAnna\tS-PER\nBob\tS-PER\n"


class TestFewNerd:
    def test_bare_types(self, file: Path) -> None:
        put(file, "Jim\tperson-athlete\nMcMahon\tperson-athlete\n#\tO\n\nBYU\torg\n")
        assert detect_format(file) == "fewnerd"
        assert read_sentences(file) == [
            Sentence(("Jim", "McMahon", "#"), (Span(0, 2, "person-athlete"),)),
            Sentence(("BYU",), (Span(0, 1, "org"),)),
        ]

    def test_touching_entities_are_refused_or_merged(self, file: Path) -> None:
        with pytest.raises(DataError, match="sentence 1: two entities of type 'PER' touch"):
            write_sentences(file, [ANNA, TOUCHING], "fewnerd")
        assert not file.exists()
        write_sentences(file, [TOUCHING], "fewnerd", merge=True)
        assert read_sentences(file)[0].spans == (Span(0, 2, "PER"),)


class TestCharJsonl:
    def test_characters_become_words(self, file: Path) -> None:
        text = "👩‍👧 Zoë O'Neill\r\nvisits 東京, l\u2019Europe"
        entities = [
            {"start": text.index(name), "end": text.index(name) + len(name), "label": label}
            for name, label in [("Zoë O'Neill", "PER"), ("東京", "LOC"), ("Europe", "LOC")]
        ]
        (sentence,) = read_sentences(put(file, {"text": text, "entities": entities, "id": 3}))
        assert sentence.text == text
        assert [sentence.words[span.start : span.end] for span in sentence.spans] == [
            ("Zoë", "O'", "Neill"),
            ("東", "京"),
            ("Europe",),
        ]

    @pytest.mark.parametrize(
        ("record", "message"),
        [
            ({"text": "Anna sleeps", "entities": [[0, 4]]}, "entity 0 is not a JSON object"),
            ({"text": "Anna sleeps"}, "'entities' is not a list"),
            ({"entities": []}, "'text' is None"),
            ({"text": " \n", "entities": []}, "the sentence has no words"),
            ({"text": "\ud800", "entities": []}, "'text' holds half of a surrogate pair"),
            (
                {"text": "Anna sleeps", "entities": [{"start": 0, "end": 3, "label": "PER"}]},
                "entity [0, 3) 'Ann' of type 'PER' does not begin and end at a word; the words "
                "that it touches are [0, 4) 'Anna'",
            ),
            (
                {"text": "Anna  sleeps", "entities": [{"start": 5, "end": 6, "label": "PER"}]},
                "entity [5, 6) ' ' of type 'PER' does not begin and end at a word; it covers none",
            ),
            (
                {"text": "Anna", "entities": [{"start": 0, "end": 5, "label": "PER"}]},
                "entity 0, [0, 5) 'PER', does not lie within the 4 characters of the text",
            ),
            (
                {"text": "Anna", "entities": [{"start": 0, "end": True, "label": "PER"}]},
                "entity 0 needs whole numbers",
            ),
            (
                {"text": "Anna", "entities": [{"start": 0, "end": 4, "label": ""}]},
                "'label' of entity 0 is ''",
            ),
        ],
    )
    def test_bad_records(self, file: Path, record: dict[str, Any], message: str) -> None:
        put(file, '\n{"text": "fine", "entities": []}\n' + json.dumps(record))
        assert refusal(file).startswith(f":3: {message}")

    def test_invisible_characters_at_the_ends_of_words(self, file: Path) -> None:
        write_sentences(
            file, [Sentence(("\ufeffAnna\u200e", "x"), (Span(0, 1, "PER"),))], "char-jsonl"
        )
        (sentence,) = read_sentences(file)
        assert sentence.text == "\ufeffAnna\u200e x"
        assert sentence.words == ("Anna", "x")
        assert sentence.spans == (Span(0, 1, "PER"),)

    def test_entities_of_invisible_words_cannot_be_written(self, file: Path) -> None:
        sentence = Sentence(("\u200b", "x"), (Span(0, 1, "PER"),))
        with pytest.raises(DataError, match="sentence 0: entity"):
            write_sentences(file, [sentence], "char-jsonl")


class TestTokenJson:
    def test_nested_and_other_keys(self, file: Path) -> None:
        entities = [
            {"start": 0, "end": 3, "type": "ORG", "id": 1},
            {"start": 2, "end": 3, "type": "LOC"},
        ]
        put(file, [{"doc": "x", "tokens": ["Bank", "of", "Spain"], "entities": entities}])
        assert read_sentences(file) == [NESTED]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                '[\n{"tokens": ["a"], "entities": []},\n{"tokens": []}\n]',
                ":3: sentence 1: the sent",
            ),
            ('[\n{"tokens": ["a", 3], "entities": []}]', ":2: sentence 0: word 1 is 3"),
            ('[\n{"tokens": ["a"], "entities": []},\n{"tok]', ":3: expected valid JSON"),
            ('[\n{"tokens": ["a"], "entities": []}\n', ":3: expected ','"),
            ('[\n{"tokens": ["a"], "entities": []}\n] x', ":3: expected the end of the file"),
            ("[\n]", ": the file holds no sentences"),
            (
                '[{"tokens": ["a"], "entities": [{"start": 0, "end": 2, "type": "X"}]}]',
                ":1: sentence 0: entity 0, [0, 2) 'X', does not lie within the 1 words",
            ),
            ("[" * 100_000, ":1: expected JSON that can be read"),
        ],
    )
    def test_bad_files(self, file: Path, text: str, message: str) -> None:
        assert refusal(put(file, text), "token-json").startswith(message)


@pytest.mark.parametrize("format", ["conll", "fewnerd"])
@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (NESTED, "share a word"),
        (Sentence(()), "no words"),
        (Sentence(("a\tb",)), "columns cannot keep"),
        (Sentence(("",)), "columns cannot keep"),
        (Sentence(("\ud800",)), "surrogate"),
    ],
)
def test_what_columns_cannot_hold(
    file: Path, format: str, sentence: Sentence, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        write_sentences(file, [ANNA, sentence], format)
    assert list(file.parent.iterdir()) == []


def test_a_word_that_would_be_read_as_a_document_start_is_refused(file: Path) -> None:
    with pytest.raises(DataError, match="line between documents"):
        write_sentences(file, [Sentence(("-DOCSTART-",))], "conll")


def test_sentences_and_episodes_are_not_mixed_up(file: Path) -> None:
    put(file, episode_line())
    assert "holds episodes and sentences are needed" in refusal(file)
    with pytest.raises(DataError, match="holds sentences and episodes are needed"):
        write_episodes(file, [], "conll")


def test_options_that_a_format_would_ignore_are_refused(file: Path) -> None:
    put(file, '{"text": "Anna", "entities": []}')
    assert "no label column" in refusal(file, label_column=1)
    assert "no tag scheme" in refusal(file, scheme="bio")
    with pytest.raises(DataError, match="no tag scheme"):
        write_sentences(file, [ANNA], "fewnerd", scheme="io")


def test_unknown_names(file: Path) -> None:
    put(file, "Anna\tB-PER\n")
    assert "did you mean 'conll'?" in refusal(file, "conl")
    assert "did you mean 'iobes'?" in refusal(file, "conll", scheme="iobess")
    assert "in no known format" in refusal(
        put(file, "Just some prose.\nIn lines, of any length.\n")
    )


def test_file_names_say_what_to_write() -> None:
    assert format_for_name("OUT.CONLL", "sentences") == "conll"
    assert format_for_name("x.jsonl", "sentences") == "char-jsonl"
    assert format_for_name("x.json", "episodes") == "crossdomain"
    with pytest.raises(DataError, match="one of fewnerd, conll"):
        format_for_name("x.txt", "sentences")
    with pytest.raises(DataError, match="one of crossdomain, fewnerd-episodes, token-episodes"):
        format_for_name("x.xyz", "episodes")


def test_nothing_to_write_is_an_error(file: Path) -> None:
    with pytest.raises(DataError, match="no sentences to write"):
        write_sentences(file, [], "conll")
    assert not file.exists()


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_sentences(tmp_path, [ANNA], "conll")


def test_every_problem_is_heard_and_the_rest_is_read(file: Path) -> None:
    put(file, "a\tB-X\n\nb\n\nc\tO\nd\tX\n\ne\tO\nf\tI-Y\n")
    problems: list[Problem] = []
    reading = open_sentences(file, on_problem=problems.append)
    assert [(line, sentence.words) for line, sentence in reading.items] == [
        (1, ("a",)),
        (8, ("e", "f")),
    ]
    assert [(problem.line, problem.is_error) for problem in problems] == [
        (3, True),
        (6, True),
        (9, False),
    ]


def test_the_table_of_formats_is_complete() -> None:
    assert set(FORMATS) == {
        "conll",
        "fewnerd",
        "fewnerd-episodes",
        "crossdomain",
        "char-jsonl",
        "token-json",
        "token-episodes",
        "doccano",
        "label-studio",
        "prodigy",
        "spacy",
        "seq-in-out",
    }
    assert all(name == form.name and form.description for name, form in FORMATS.items())


def test_a_name_stands_for_a_format_whose_rules_the_content_breaks(tmp_path: Path) -> None:
    path = tmp_path / "short.conll"
    path.write_text("Ada\tB-PER\nwrote\n")
    assert detect_format(path) == "conll"
    with pytest.raises(DataError, match=r"short\.conll:2: the line has 1 column"):
        read_sentences(path)
    (tmp_path / "prose.txt").write_text("Ada wrote.\nOnce upon a time there was more.\n")
    with pytest.raises(DataError, match="in no known format"):
        detect_format(tmp_path / "prose.txt")


def test_a_link_is_followed_and_a_pipe_left_alone(tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text("old")
    (tmp_path / "link.json").symlink_to("there.json")
    write_sentences(tmp_path / "link.json", [Sentence(("Ada",))], "token-json")
    assert (tmp_path / "link.json").is_symlink()
    assert read_sentences(tmp_path / "there.json") == [Sentence(("Ada",))]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a plain file"):
        write_sentences(tmp_path / "pipe", [Sentence(("Ada",))], "token-json")
    assert (tmp_path / "pipe").is_fifo()


def test_a_number_too_long_to_read_is_located(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text('{"text": "a", "entities": [{"start": ' + "1" * 5000 + "}]}")
    with pytest.raises(DataError, match=r"long\.jsonl:1: not valid JSON"):
        read_sentences(path, "char-jsonl")
