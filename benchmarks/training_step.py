"""How much a SpanProto training step costs over the bare encoder, and what shared rows save.

    python benchmarks/training_step.py ENCODER EPISODES -o results/training-step.json

ENCODER is a directory with a transformers encoder (its architecture and tokenizer are enough:
speed does not depend on the weights), EPISODES a file of episodes. For each batch of four
episodes, in turn, it times the forward pass, losses and backward pass of the training step, and
the forward and backward pass of the encoder alone on the same sub-tokens, and the training step
with a row for each sentence. Collation, copies and the optimiser are left out of all.
"""

import json
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import torch
import typer

from spanproto.batch import EpisodeBatch, collate
from spanproto.cli.main import in_one_sentence
from spanproto.config import to_dict
from spanproto.data.files import atomic_writer
from spanproto.data.formats import read_episodes
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.model import ModelConfig, SpanProto
from spanproto.objective import losses
from spanproto.provenance import provenance
from spanproto.tokenization import WordTokenizer
from spanproto.training.distributed import choose_device


def milliseconds(work: Callable[[], None], device: torch.device) -> float:
    """The time from the first launch to the end of the last kernel."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - start)


def bare_step(model: SpanProto, batch: EpisodeBatch) -> None:
    """Forward and backward pass of the encoder alone."""
    words = batch.words
    with torch.autocast(batch.types.device.type, torch.bfloat16, enabled=model.bf16):
        states = model.encoder.run(words)
    states.sum().backward()


def training_step(model: SpanProto, batch: EpisodeBatch) -> None:
    """Forward pass, the three losses and backward pass of a joint training step."""
    losses(model, batch).total(joint_weight=1.0).backward()


def waits_for_device(model: SpanProto, batch: EpisodeBatch) -> list[str]:
    """The operations of a training step that make the host wait for the GPU, if any."""
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        training_step(model, batch)
    torch.cuda.set_sync_debug_mode("default")
    return [
        f"{'/'.join(Path(warning.filename).parts[-3:])}:{warning.lineno}"
        for warning in caught
        if "called a synchronizing" in str(warning.message)
    ]


def main(
    encoder: Annotated[Path, typer.Argument(help="Directory of the encoder.")],
    episodes: Annotated[Path, typer.Argument(help="File of episodes.")],
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("training-step.json"),
    episodes_per_step: int = 4,
    batches: int = 8,
    rounds: int = 30,
    device: str = "auto",
    head: str = "paper",
    seed: int = 42,
) -> None:
    """Time them, in turn, on the same batches."""
    place = choose_device(device)
    torch.manual_seed(seed)
    config = ModelConfig(encoder=EncoderConfig(name=encoder.name))
    config = ModelConfig(config.encoder, type(config.extractor)(head=head), config.classifier)
    model = SpanProto(Encoder.from_architecture(encoder, config.encoder), config).to(place).train()
    model.use_mixed_precision(place.type == "cuda")
    chosen = read_episodes(episodes)[: batches * episodes_per_step]
    groups = [
        chosen[at : at + episodes_per_step] for at in range(0, len(chosen), episodes_per_step)
    ]
    words = model.encoder.words
    apart = WordTokenizer(words.tokenizer, words.max_length, words.overlap)
    prepared = [collate(group, words).to(place) for group in groups]
    padded = [collate(group, apart).to(place) for group in groups]
    timed = {
        "training_step": (training_step, prepared),
        "bare_encoder": (bare_step, prepared),
        "a_row_each": (training_step, padded),
    }
    times: dict[str, list[float]] = {name: [] for name in timed}
    for number in range(rounds + 3):
        for at in range(len(groups)):
            for name, (step, batches_of) in timed.items():
                model.zero_grad(set_to_none=True)
                batch = batches_of[at]
                spent = milliseconds(lambda step=step, batch=batch: step(model, batch), place)
                if number >= 3:  # the first rounds warm up
                    times[name].append(spent)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratios = sorted(
        full / bare
        for full, bare in zip(times["training_step"], times["bare_encoder"], strict=True)
    )
    result = {
        "ratio": medians["training_step"] / medians["bare_encoder"],
        "ratio_quartiles": statistics.quantiles(ratios, n=4),
        "saved_by_shared_rows": medians["a_row_each"] / medians["training_step"],
        "milliseconds": medians,
        "waits_for_device": waits_for_device(model, prepared[0]) if place.type == "cuda" else [],
        "precision": "bf16" if model.bf16 else "fp32",
        "episodes_per_step": episodes_per_step,
        "sentences": [int(batch.words.word_mask.shape[0]) for batch in prepared],
        "rows_by_subtokens": [list(batch.words.input_ids.shape) for batch in prepared],
        "rows_by_subtokens_a_row_each": [list(batch.words.input_ids.shape) for batch in padded],
        "measurements": len(ratios),
        "model": to_dict(config),
        "provenance": provenance(seed, [episodes]),
    }
    with atomic_writer(output) as stream:
        json.dump(result, stream, indent=2)
        stream.write("\n")
    print(f"training step {medians['training_step']:.2f} ms, bare encoder "
          f"{medians['bare_encoder']:.2f} ms, ratio {result['ratio']:.3f}; with a row for each "
          f"sentence {medians['a_row_each']:.2f} ms")  # fmt: skip


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
