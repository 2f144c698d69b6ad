"""The model that comes with the package: it is there, it is small, and it does what it is for."""

import subprocess
from pathlib import Path

import pytest
import yaml

from spanproto import FewShotNER
from spanproto.model_source import BUILT_IN
from spanproto.samples import EXAMPLES

MB = 1_000_000
ROOT = Path(__file__).parents[1]
HELD_OUT = {
    "Dorothy Garrod dug on Mount Carmel before she taught in Cambridge.": {
        "Dorothy Garrod": "person",
    },
    "The Hittites kept an archive of clay, which Hugo Winckler found in 1906.": {
        "Hittites": "people",
        "Hugo Winckler": "person",
    },
    "The Acropolis Museum would like to have the Elgin Marbles back.": {
        "Acropolis Museum": "museum",
        "Elgin Marbles": "artefact",
    },
    "Austen Henry Layard left Nimrud with a cart full of letters.": {
        "Austen Henry Layard": "person",
        "Nimrud": "site",
    },
    "In Cairo the Egyptian Museum shows the Narmer Palette behind thick glass.": {
        "Egyptian Museum": "museum",
        "Narmer Palette": "artefact",
    },
    "The Phoenicians sold purple cloth from one end of the sea to the other.": {
        "Phoenicians": "people",
    },
}


@pytest.fixture(scope="module")
def fitted() -> FewShotNER:
    return FewShotNER.from_pretrained().fit(EXAMPLES)


def test_it_finds_most_of_what_it_was_shown_a_handful_of(fitted: FewShotNER) -> None:
    found = fitted.predict(list(HELD_OUT))
    right = predicted = 0
    for entities, gold in zip(found, HELD_OUT.values(), strict=True):
        right += sum(gold.get(entity.text) == entity.label for entity in entities)
        predicted += len(entities)
    assert right >= 0.6 * sum(map(len, HELD_OUT.values()))
    assert right >= 0.5 * predicted


def test_it_finds_nothing_where_there_is_nothing(fitted: FewShotNER) -> None:
    text = "It rained for a week, and the roof of the hut began to leak."
    assert fitted.predict(text) == []


def test_its_files_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in BUILT_IN.iterdir()}
    assert all(size < 16 * MB for size in sizes.values()), sizes
    assert sum(sizes.values()) < 70 * MB


def test_its_card_says_what_a_user_must_know() -> None:
    card = (BUILT_IN / "README.md").read_text("utf-8")
    assert yaml.safe_load(card.split("---\n")[1])["license"] == "cc-by-sa-4.0"
    for name in ("Few-NERD", "WNUT-17", "GUM", "CrossNER", "BC5CDR", "NCBI"):
        assert f"\n- {name}" in card
    assert "- command: `" in card
    assert "train configs/default.yaml" in card
    headings = ("How to use it", "Measured quality", "Training data", "Training", "Limits")
    assert all(f"\n## {heading}\n" in card for heading in headings)


def test_git_keeps_the_model_and_the_wheel_is_made_of_what_git_keeps() -> None:
    listed = subprocess.run(
        ["git", "check-ignore", "--no-index", *map(str, BUILT_IN.iterdir())],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.stdout == ""
    assert BUILT_IN.is_relative_to(ROOT / "src" / "spanproto")
    assert 'packages = ["src/spanproto"]' in (ROOT / "pyproject.toml").read_text("utf-8")
