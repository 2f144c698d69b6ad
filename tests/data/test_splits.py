from pathlib import Path

import pytest

from spanproto.data.splits import names, read_types, sentences_of_split, type_split
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError


def test_every_split_has_a_name() -> None:
    parts = ("train", "dev", "test")
    assert names() == tuple(f"{name}/{part}" for name in ("inter", "intra") for part in parts)


@pytest.mark.parametrize(("benchmark", "sizes"), [("inter", (36, 13, 17)), ("intra", (35, 14, 17))])
def test_each_benchmark_splits_all_66_types(benchmark: str, sizes: tuple[int, ...]) -> None:
    parts = [type_split(benchmark, part) for part in ("train", "dev", "test")]
    assert tuple(map(len, parts)) == sizes
    assert len({label for part in parts for label in part}) == 66


def test_intra_splits_by_coarse_type() -> None:
    coarse = {label.split("-")[0] for label in type_split("intra", "test")}
    assert coarse == {"location", "organization"}


def test_both_benchmarks_split_the_same_types() -> None:
    inter, intra = (
        {label for part in ("train", "dev", "test") for label in type_split(benchmark, part)}
        for benchmark in ("inter", "intra")
    )
    assert inter == intra


def test_unknown_names_get_the_nearest_one() -> None:
    with pytest.raises(DataError, match="'inte' of type splits; did you mean 'inter'"):
        type_split("inte", "test")
    with pytest.raises(DataError, match="inter has no part 'tests'; did you mean 'test'"):
        type_split("inter", "tests")


def test_a_sentence_belongs_to_a_split_only_with_all_its_types() -> None:
    inside = Sentence(("a", "b"), (Span(0, 1, "x"), Span(1, 2, "y")))
    outside = Sentence(("a", "b"), (Span(0, 1, "x"), Span(1, 2, "z")))
    empty = Sentence(("a",))
    assert sentences_of_split([inside, outside, empty], ["x", "y"]) == [inside, empty]


def test_types_are_read_from_a_split_a_file_or_a_list(tmp_path: Path) -> None:
    file = tmp_path / "types.txt"
    file.write_text("b\n\na \nb\n")
    assert read_types(str(file)) == ("b", "a")
    assert read_types("location-road/railway, x") == ("location-road/railway", "x")
    assert read_types("inter/dev") == type_split("inter", "dev")


def test_a_misspelt_split_is_not_taken_for_a_type() -> None:
    with pytest.raises(DataError, match="did you mean 'test'"):
        read_types("inter/tset")


def test_no_types_are_refused() -> None:
    with pytest.raises(DataError, match="names no types"):
        read_types(" , ")
