"""The figures that docs/choices.md and docs/adaptation.md type are those of the score files."""

import json
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from statistics import fmean

import pytest
from scripts import ROOT

from spanproto.experiments.systems import SEEDS

ONTONOTES, FEWNERD = "choices/news-1-valid", "choices/inter-5w1-valid"
DOMAINS = ("ai", "literature", "music", "politics", "science", "flat-genia")
INTER = ("inter-5w1", "inter-10w1", "inter-5w5", "inter-10w5")
TRIED_WITH = (12, 21)


def figure(
    place: str, name: str, seed: int | str = 12, part: str = "micro", key: str = "f1"
) -> float:
    """One figure of a score file."""
    path = ROOT / "results" / place / f"{name}.{seed}.json"
    found: float = json.loads(path.read_text("utf-8"))[part][key]
    return found


def gain(place: str, name: str, over: str) -> float:
    """How far one choice is above another."""
    return figure(place, name) - figure(place, over)


def on_both(name: str, over: str) -> tuple[str, str]:
    """The same on OntoNotes and on Few-NERD, or how far below, to one decimal."""
    first, second = (abs(gain(place, name, over)) for place in (ONTONOTES, FEWNERD))
    return f"{first:.1f}", f"{second:.1f}"


def in_domains(shots: int, name: str, over: str = "carried-as-fitted") -> list[float]:
    """How far a choice is above another in each of the domains that both were run on."""
    places = [f"choices/wiki-{shots}-{domain}" for domain in DOMAINS]
    return [
        gain(place, name, over)
        for place in places
        if (ROOT / "results" / place / f"{name}.12.json").exists()
    ]


def mean_over_domains(name: str) -> str:
    found = fmean(figure(f"choices/wiki-5-{domain}", name) for domain in DOMAINS)
    return f"{found:.1f}"


def trained(name: str, part: str = "micro") -> list[float]:
    """What a training on INTER has with each seed."""
    return [figure("trainings/inter-5w1-valid", name, seed, part) for seed in TRIED_WITH]


def on_test_episodes(column: str, scoring: str, folder: str = "fewnerd", commit: str = "") -> float:
    """The mean over the seeds on the test episodes of a column."""
    paths = list((ROOT / "results" / folder / column).glob(f"{scoring}.*{commit}.json"))
    assert paths, (column, scoring)
    return fmean(json.loads(path.read_text("utf-8"))["micro"]["f1"] for path in paths)


def each(values: list[float]) -> list[str]:
    return [f"{abs(value):.1f}" for value in values]


def single_choices() -> Iterator[str]:
    yield "gives {} points on OntoNotes and {} on Few-NERD".format(*on_both("chosen", "two-stage"))
    yield "longer training ({} and {} points worse)".format(*on_both("longer", "chosen"))
    yield "meta-learning ({} and {} worse)".format(*on_both("meta", "chosen"))
    (shorter, less), (rotary, far_less) = (on_both(one, "chosen") for one in ("shorter", "rotary"))
    yield (
        f"boundary score give {shorter} and {rotary} points on OntoNotes, and cost {less} and "
        f"{far_less} on Few-NERD"
    )
    yield "costs the decision {} and {} points by itself".format(*on_both("tables-words", "tables"))
    yield "it gives {} and {} points, and without".format(
        *on_both("tables-words-learned", "tables")
    )
    learned = on_both("tables-fitted-words-learned", "tables-fitted")
    yield "without fine-tuning {} and {}.".format(*learned)
    dropout = gain(ONTONOTES, "tables-words-dropout", "tables-words-learned")
    yield f"(`model.encoder.dropout`) gives {dropout:.1f} more"
    genia = "choices/wiki-5-genia"
    yield (
        f"dropout give {gain(genia, 'dense-words', 'dense'):.1f} points, and 8 layers cost "
        f"{gain(genia, 'dense-words', 'dense-layers'):.1f}"
    )
    case = gain(FEWNERD, "tables-words-case", "tables-words-learned")
    yield f"gives {case:.1f} points on Few-NERD. An uncased"
    asked = on_both("final", "final-no-meaning")
    yield "gives {} points on OntoNotes and {} on Few-NERD; **correcting".format(*asked)
    around = (
        gain(ONTONOTES, "final-no-meaning", "tables-words-all-layers"),
        gain(FEWNERD, "final-no-meaning", "tables-words-case"),
    )
    yield "(`model.extractor.neighbours=true`) {:.1f} and {:.1f}".format(*around)
    tuned = on_both("final", "final-not-tuned")
    yield "gives {} points on OntoNotes, and on Few-NERD nothing with one shot (-{})".format(*tuned)
    yield f"gives {gain(FEWNERD, 'final-partly', 'final'):.1f} points on Few-NERD where it is known"
    yield f"and {gain(FEWNERD, 'final-doubts', 'final'):.1f}, which may be chance, where"
    named, even = (
        (gain(FEWNERD, name, "final"), gain(ONTONOTES, "final-fewer", name))
        for name in ("final-named", "final-even")
    )
    yield "gives {:.1f} points on Few-NERD and costs {:.1f} on OntoNotes".format(*named)
    yield "gives {:.1f} on Few-NERD, where it is true, and costs {:.1f} on".format(*even)
    yield "cost {} points on OntoNotes beside tuning".format(*on_both("low-rank", "chosen"))
    both = figure(ONTONOTES, "final"), figure(ONTONOTES, "final-fewer")
    yield f"costs {both[0] - both[1]:.1f} points ({both[0]:.1f} → {both[1]:.1f})"


def other_domains() -> Iterator[str]:
    longer, by_number = (
        in_domains(5, name, "foreign-fewer") for name in ("foreign-longer", "foreign-shots")
    )
    low, high = min(each(longer)), max(each(longer))
    yield f"1.6 times the steps cost {low} to {high} points in each"
    yield "that costs {} and {} points in two domains".format(*sorted(each(sorted(by_number)[:2])))
    half, whole, quarter, higher = (
        in_domains(1, f"carried-{cut}")
        for cut in ("lower-0.5", "lower-1", "lower-0.25", "higher-0.5")
    )
    yield f"costs {-max(half):.1f} to {-min(half):.1f} points in each ({-fmean(half):.1f} on"
    yield f"lower by 1 {-max(whole):.1f} to {-min(whole):.1f} ({-fmean(whole):.1f})"
    yield f"more than {max(quarter):.1f} and costs {-fmean(quarter):.1f} on average"
    yield f"between {-min(higher):.1f} points less on GENIA and {max(higher):.1f} more on music"
    half, whole, higher = (
        in_domains(5, f"carried-{cut}") for cut in ("lower-0.5", "lower-1", "higher-0.5")
    )
    yield f"by 0.5 costs {-fmean(half):.1f} on average, by 1 {-fmean(whole):.1f}, and higher"
    yield f"gives {fmean(higher):.1f}, between {-min(higher):.1f} less and {max(higher):.1f} more"
    shares = [
        fmean(figure("crossdomain/wiki-5", "words-adapted", seed, key=key) for seed in SEEDS)
        for key in ("precision", "recall")
    ]
    yield "recall ({:.0f} and {:.0f} with five shots)".format(*shares)
    apart = [
        abs(figure(place, name, key="precision") - figure(place, name, key="recall"))
        for domain in DOMAINS
        for place, name in [(f"choices/wiki-5-{domain}", "carried-as-fitted")]
    ]
    yield f"the two are within {ceil(max(apart))} points"
    more = in_domains(5, "carried-merged")
    as_fitted = mean_over_domains("carried-as-fitted")
    yield f"{fmean(more):.1f} points on average over six other domains ({as_fitted} →"
    yield f"→ {mean_over_domains('carried-merged')}), more in four of them"
    yield f"nothing in one and {-min(more):.1f} less in one"
    nearest, shorter, both = (
        mean_over_domains(f"carried-{name}") for name in ("nearest", "shorter", "nearest-shorter")
    )
    yield f"fine-tuning ({shorter}), how alike the nearest example is"
    yield f"beside the mean of all ({nearest}, out of the code again) and both ({both})"


def a_map(where: str) -> str:
    """What a learned map gives on INTER, in words."""
    both = [
        [figure("maps/inter-5w1-valid", name, seed) for name in ("complete", "complete-learned")]
        for seed in TRIED_WITH
    ]
    gained = fmean(learned - plain for plain, learned in both)
    shown = " and ".join(f"{plain:.1f} → {learned:.1f}" for plain, learned in both)
    return f"gives {gained:.1f} points {where} ({shown}, two seeds)"


def trainings() -> Iterator[str]:
    few, everything, complete = map(trained, ("few", "all", "complete"))
    better = [one - other for one, other in zip(complete, few, strict=True)]
    yield f"gives {fmean(better):.1f} points more on 400"
    yield "({} and {} → {} and {}, not".format(*each(few), *each(complete))
    yield "({} and {}), it is {:.1f}".format(*each(everything), fmean(complete) - fmean(everything))
    mean, pairs = trained("all-settings"), trained("all-settings-pairs")
    yield "has {} and {} with the two seeds, where one alone has {} and {}".format(
        *each(mean), *each(complete)
    )
    spans = (fmean(trained(name, "span")) for name in ("all-settings", "complete"))
    yield "({:.1f} against {:.1f})".format(*spans)
    yield "10-way episodes, {} and {}".format(*each(trained("ways")))
    yield f"weighed together, cost {fmean(mean) - fmean(pairs):.1f} beside that"
    yield a_map("there")
    now, before = (
        [on_test_episodes(column, "words-adapted", folder, commit) for column in INTER]
        for folder, commit in (("fewnerd", ""), ("given-up", ".6843406"))
    )
    yield "adapted {:.2f}, {:.2f}, {:.2f} and {:.2f} →".format(*before)
    yield "→ {:.2f}, {:.2f}, {:.2f} and {:.2f}, means".format(*now)
    grown = [one - other for one, other in zip(now, before, strict=True)]
    yield f"so {min(grown):.2f} to {max(grown):.2f} in each column"
    less = [
        figure(f"fewnerd/{column}", "words-adapted", seed)
        - figure(f"given-up/{column}", "words-adapted", f"{seed}.f265e0a")
        for column in INTER
        for seed in TRIED_WITH
    ]
    yield f"adapted, {min(less):.1f} to {max(less):.1f} points more than where the model itself"


def adapted() -> Iterator[str]:
    even = [
        on_test_episodes(column, "words-even") - on_test_episodes(column, "words-adapted")
        for column in INTER
    ]
    yield "{:.1f} and {:.1f} points on INTER with one example".format(*even[:2])
    yield "examples {:.1f} and {:.1f} (`results/spanproto.md`)".format(*even[2:])
    yield a_map("on validation episodes")
    for name, words in (
        ("rejection", "from {:.1f} to {:.1f} and recall falls from {:.1f} to {:.1f}, and after"),
        ("rejection-adapt", "{:.1f} to {:.1f} and from {:.1f} to {:.1f} ([measured]"),
    ):
        content = json.loads((ROOT / "results" / f"{name}.json").read_text("utf-8"))
        everything, kept = content["nothing_rejected"], content["fitted"]
        yield words.format(
            *(one[part] for part in ("precision", "recall") for one in (everything, kept))
        )


@pytest.mark.parametrize(
    ("page", "claims"),
    [
        ("choices", single_choices),
        ("choices", other_domains),
        ("choices", trainings),
        ("adaptation", adapted),
    ],
)
def test_typed_figures_are_those_of_the_files(page: str, claims) -> None:
    typed = " ".join(Path(ROOT / "docs" / f"{page}.md").read_text("utf-8").split())
    assert [claim for claim in claims() if claim not in typed] == []
