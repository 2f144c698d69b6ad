"""Folders of score files with just what the pages of systems read of them."""

import json
from pathlib import Path
from typing import Any

from spanproto.paper.scores import Scores


def write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    provenance = {"seed": 12, "hardware": {"gpu": "a GPU"}}
    path.write_text(json.dumps({**content, "provenance": provenance}), "utf-8")


def score(f1: float, std: float = 10.0, episodes: int = 100, steps: int = 300) -> dict[str, Any]:
    training = {"steps": steps, "episodes_per_step": 4, "learning_rate": 1.5e-4}
    config = {"encoder": {"name": "some-encoder"}}
    return {
        "micro": {"f1": f1},
        "episode_f1": {"mean": f1, "std": std},
        "episodes": episodes,
        "protocol": "crossdomain",
        "model": {"config": config, "origin": {"training_config": training}},
        "adaptation": None,
    }


def run(scores: Scores, system: str, by_column: dict[str, float], **rest: Any) -> None:
    for column, f1 in by_column.items():
        write(scores.results / "baselines" / column / f"{system}.12.json", score(f1, **rest))


def judge(scores: Scores, column: str, scoring: str, f1: float, std: float = 10.0) -> None:
    path = scores.results / "schedules" / f"{column}-valid" / f"{scoring}.12.json"
    write(path, score(f1, std))
