"""How much faster many support sets are adapted side by side than one by one.

    python benchmarks/adaptation_throughput.py MODEL EPISODES -o results/adaptation-throughput.json

MODEL is a trained model, EPISODES a file of episodes. Both ways fine-tune a copy of the model to
each support set and predict the query set, with the same settings; the file also holds both
scores, which should differ by no more than noise.
"""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from spanproto.adaptation import AdaptationConfig
from spanproto.benchmark import evaluate
from spanproto.checkpoint import load_model
from spanproto.cli.main import in_one_sentence
from spanproto.config import apply_overrides, build, to_dict
from spanproto.data.episodes import read_supported_episodes
from spanproto.data.files import atomic_writer
from spanproto.provenance import provenance
from spanproto.training.distributed import choose_device


def main(
    model: Annotated[Path, typer.Argument(help="A trained model.")],
    episodes: Annotated[Path, typer.Argument(help="File of episodes.")],
    protocol: str = "crossdomain",
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("adaptation-throughput.json"),
    limit: int = 64,
    device: str = "auto",
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value")] = None,
) -> None:
    """Time both ways on the same episodes."""
    config = build(AdaptationConfig, apply_overrides({}, settings or []), "adaptation")
    loaded = load_model(model).to(choose_device(device))
    loaded.use_mixed_precision(loaded.device.type == "cuda")
    chosen = read_supported_episodes(episodes)[:limit]
    warm_up = replace(config, steps=2)
    measured: dict[str, Any] = {}
    for name, at_once in (("one_by_one", 1), ("side_by_side", config.episodes_at_once)):
        evaluate(
            loaded, chosen[:at_once], protocol, "model", replace(warm_up, episodes_at_once=at_once)
        )
        began = time.perf_counter()
        report = evaluate(
            loaded, chosen, protocol, "model", replace(config, episodes_at_once=at_once)
        )
        if loaded.device.type == "cuda":
            torch.cuda.synchronize()
        spent = time.perf_counter() - began
        measured[name] = {
            "episodes_at_once": at_once,
            "seconds": spent,
            "episodes_per_second": len(chosen) / spent,
            "f1": report.micro.f1,
        }
    speedup = measured["one_by_one"]["seconds"] / measured["side_by_side"]["seconds"]
    result = {
        "speedup": speedup,
        **measured,
        "episodes": len(chosen),
        "adaptation": to_dict(config),
        "model": {"config": to_dict(loaded.config), "origin": loaded.origin},
        "provenance": provenance(config.seed, [episodes]),
    }
    with atomic_writer(output) as stream:
        json.dump(result, stream, indent=2)
        stream.write("\n")
    scores = " and ".join(f"{way['f1']:.2f}" for way in measured.values())
    print(f"{speedup:.1f} times as many episodes a second, F1 {scores}")


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
