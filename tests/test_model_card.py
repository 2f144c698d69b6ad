"""The model card: what it says, and that a person's words are never overwritten."""

from pathlib import Path

import pytest
import yaml

from spanproto.checkpoint import save_model
from spanproto.model import SpanProto
from spanproto.model_card import CARD, is_signed, model_card

ORIGIN = {
    "license": "cc-by-sa-4.0",
    "data": [{"name": "corpus.conll", "license": "MIT", "sha256": "ab" * 32}],
    "quality": [{"data": "News", "F1": 61.2}, {"data": "Wiki", "F1": 40.1}],
    "command": "spanproto train run.yaml",
    "seed": 0,
    "hardware": {"gpu": None, "cpu": "a processor"},
}


def header(card: str) -> dict[str, object]:
    return dict(yaml.safe_load(card.split("---\n")[1]))


def test_the_hub_finds_what_it_looks_for() -> None:
    found = header(model_card(encoder="x", parameters=1))
    assert found["library_name"] == "spanproto"
    assert found["pipeline_tag"] == "token-classification"
    assert found["license"] == "unknown"
    assert "few-shot" in found["tags"]  # type: ignore[operator]


def test_another_method_is_called_by_its_name() -> None:
    card = model_card(encoder="x", parameters=1_500_000, method="structshot")
    assert "StructShot (Yang and Katiyar, EMNLP 2020) over the encoder x, 1.5M parameters" in card
    assert "FewShotNER" not in card
    assert "spanproto evaluate" in card


def test_what_is_known_is_told() -> None:
    card = model_card(
        encoder="/home/someone/gte-small",
        parameters=33_400_000,
        origin=ORIGIN,
    )
    assert header(card)["license"] == "cc-by-sa-4.0"
    for line in (
        "| data | F1 |",
        "| News | 61.2 |",
        "- corpus.conll, MIT (SHA-256 `abababababab`)",
        "- seed: 0",
        "- hardware: a processor",
    ):
        assert f"\n{line}\n" in card
    assert "33.4M parameters" in card
    assert "/home" not in card


def test_what_is_not_known_has_no_heading() -> None:
    card = model_card(encoder="gte-small", parameters=1)
    assert [line for line in card.splitlines() if line.startswith("## ")] == ["## How to use it"]


def test_saving_again_brings_the_card_up_to_date(tiny_model: SpanProto, tmp_path: Path) -> None:
    save_model(tiny_model, tmp_path)
    save_model(tiny_model, tmp_path, labels=("person",))
    assert "- `person`" in (tmp_path / CARD).read_text("utf-8")


@pytest.mark.parametrize("edit", [lambda card: card + "\nMine.\n", lambda card: "Mine.\n"])
def test_a_persons_card_is_kept(tiny_model: SpanProto, tmp_path: Path, edit: object) -> None:
    save_model(tiny_model, tmp_path)
    card = tmp_path / CARD
    assert is_signed(card.read_text("utf-8"))
    card.write_text(edit(card.read_text("utf-8")), "utf-8")  # type: ignore[operator]
    before = card.read_bytes()
    save_model(tiny_model, tmp_path, labels=("person",))
    assert card.read_bytes() == before
