"""The files of `configs/` that repeat what is in the tables."""

from pathlib import Path

import pytest

from spanproto.config import read_yaml
from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import SEEDS, spanproto_cell, words_cell
from spanproto.training.settings import RunConfig

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("crossdomain-words", words_cell("wiki-1", SEEDS[0])),
        ("fewnerd-words", words_cell("inter-5w1", SEEDS[0])),
        ("fewnerd", spanproto_cell("inter-5w1", SEEDS[0])),
    ],
)
def test_a_file_says_what_the_tables_train_with(name: str, cell: Cell) -> None:
    found = RunConfig.of(read_yaml(CONFIGS / f"{name}.yaml"))
    model = {**cell.run["model"]}
    model["encoder"] = {"name": found.model.encoder.name, **model.get("encoder", {})}
    data = cell.data if COLUMNS[cell.column].setting else {"protocol": "crossdomain"}
    training = {**cell.run["training"], "seed": SEEDS[0], "output": found.training.output}
    assert found == RunConfig.of({"model": model, "data": data, "training": training})
