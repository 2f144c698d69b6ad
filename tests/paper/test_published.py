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
