"""The figures of the paper agree with each other where it prints them twice."""

from statistics import fmean

import pytest

from spanproto.paper import published

DETAIL = {
    "intra": (published.ABLATION_FEWNERD, published.FEWNERD[:4]),
    "inter": (published.ABLATION_FEWNERD, published.FEWNERD[4:]),
    "1-shot": (published.ABLATION_CROSSDOMAIN, published.CROSSDOMAIN[:4]),
    "5-shot": (published.ABLATION_CROSSDOMAIN, published.CROSSDOMAIN[4:]),
}


@pytest.mark.parametrize("group", published.GROUPS)
@pytest.mark.parametrize("name", published.ABLATION)
def test_averages_are_those_of_the_appendix(name: str, group: str) -> None:
    table, columns = DETAIL[group]
    mean = fmean(table[name][column] for column in columns)
    assert published.ABLATION[name][group] == pytest.approx(mean, abs=0.0051)


AVERAGES = {  # as the main tables print them beside their columns
    "protobert": "29.94 49.08 13.43 22.61",
    "nnshot": "29.08 50.46",
    "structshot": "31.63 53.34",
    "container": "43.87 55.81",
    "esd": "41.83 67.12",
    "decommeta": "53.90 67.99 30.73 41.53",
    "spanproto": "56.29 71.30 33.09 44.79",
    "matching-network": "14.13 10.03",
    "l-tapnet-cdt": "23.08 25.31",
}
HALVES = [
    (published.MAIN_FEWNERD, published.FEWNERD[:4]),
    (published.MAIN_FEWNERD, published.FEWNERD[4:]),
    (published.MAIN_CROSSDOMAIN, published.CROSSDOMAIN[:4]),
    (published.MAIN_CROSSDOMAIN, published.CROSSDOMAIN[4:]),
]


@pytest.mark.parametrize("name", AVERAGES)
def test_the_main_tables_have_their_averages(name: str) -> None:
    halves = [(table[name], columns) for table, columns in HALVES if name in table]
    printed = map(float, AVERAGES[name].split())
    for (row, columns), average in zip(halves, printed, strict=True):
        assert fmean(row[column] for column in columns) == pytest.approx(average, abs=0.0051)


def test_every_row_but_one_has_its_deviations() -> None:
    for table in (
        published.MAIN_FEWNERD,
        published.MAIN_CROSSDOMAIN,
        published.ABLATION_FEWNERD,
        published.ABLATION_CROSSDOMAIN,
    ):
        for name in table.keys() - {"container"}:
            assert table[name].keys() <= published.DEVIATIONS[name].keys()


def test_the_full_model_is_the_same_everywhere() -> None:
    assert published.ABLATION_FEWNERD["spanproto"] == published.MAIN_FEWNERD["spanproto"]
    assert published.ABLATION_CROSSDOMAIN["spanproto"] == published.MAIN_CROSSDOMAIN["spanproto"]
    assert published.MARGIN["3"] == published.ABLATION["spanproto"]
    for name in ("protobert", "nnshot", "structshot", "esd", "spanproto"):
        assert published.ERRORS[name]["f1"] == published.MAIN_FEWNERD[name]["inter-5w1"]
