"""Training a method: T steps over its episodes or sentences.

A run lives in one folder: `config.yaml`, `log.jsonl`, `last.safetensors` (the state to resume
from) and `model/` (the best model on the validation episodes, or the last one without any or
with `training.keep=last`).
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from spanproto import bars, config
from spanproto.batch import TensorBatch
from spanproto.benchmark import evaluate
from spanproto.checkpoint import save_model
from spanproto.data.files import atomic_writer
from spanproto.data.types import Episode, Sentence
from spanproto.evaluation.report import Report
from spanproto.methods import method_named
from spanproto.methods.base import Method
from spanproto.provenance import provenance
from spanproto.training.distributed import World, in_bf16, join_world
from spanproto.training.log import RunLog
from spanproto.training.optimization import make_optimizer, rate_factor, set_rate
from spanproto.training.settings import RunConfig, TrainingConfig
from spanproto.training.source import (
    Shuffled,
    Source,
    TrainingData,
    data_files,
    validation_episodes,
)
from spanproto.training.state import FILE, resume_state, save_state, saved_state


def train(run: RunConfig, *, restart: bool = False) -> Path:
    """Train, or go on with a run that was stopped; returns the folder of the trained model.

    A method that learns from support sets alone needs no data: its model is there at once.
    """
    settings, folder = run.training, Path(run.training.output)
    method = method_named(run.method)
    if method.trains_on is None:
        return _save_untrained(run, restart)
    data, valid = TrainingData(run.data), validation_episodes(run.data)
    per_step = settings.per_step(method.trains_on)
    source: Source[Any] = (
        data.episodes(settings.order)
        if method.trains_on == "episodes"
        else _shuffled_sentences(data, settings, per_step)
    )
    with join_world(settings.device, per_step, f"{method.trains_on}_per_step") as world:
        torch.manual_seed(settings.seed)
        model = method.from_config(run.model).to(world.device)
        model.use_mixed_precision(in_bf16(settings.precision, world.device))
        if restart and world.leads:
            (folder / FILE).unlink(missing_ok=True)
        world.wait()
        model.begin_training(data.sentences(), settings.steps)
        Trainer(run, world, model, source, per_step, valid).run()
    return folder / "model"


def _shuffled_sentences(
    data: TrainingData, settings: TrainingConfig, per_step: int
) -> Shuffled[Sentence]:
    """The labelled sentences to train on; complains if they teach nothing or fill no step."""
    sentences = list(data.sentences())
    config.require(
        any(sentence.spans for sentence in sentences),
        f"{', '.join(data.config.train_files)}: no sentence has an entity, so there is nothing to "
        "learn; give labelled ones",
    )
    config.require(
        per_step <= len(sentences),
        f"training.sentences_per_step={per_step} is more than the {len(sentences)} sentences of "
        "data.train; choose fewer",
    )
    return Shuffled(sentences, settings.order, per_step)


def _save_untrained(run: RunConfig, restart: bool) -> Path:
    """Write the model of a method that is not trained, which is its encoder."""
    folder = Path(run.training.output)
    if restart:
        (folder / FILE).unlink(missing_ok=True)
    saved_state(folder, run)  # that of another run is refused, so that its model is not lost
    model = method_named(run.method).from_config(run.model)
    _write_config(run)
    save_model(model, folder / "model")
    return folder / "model"


def _write_config(run: RunConfig) -> None:
    """The run's settings for its folder."""
    with atomic_writer(Path(run.training.output) / "config.yaml") as stream:
        stream.write(config.to_yaml(run))


class Trainer:
    """One process's part in a run."""

    def __init__(
        self,
        run: RunConfig,
        world: World,
        model: Method,
        source: Source[Any],
        per_step: int,
        valid: list[Episode],
    ) -> None:
        self.config, self.world, self.model = run, world, model
        self.settings: TrainingConfig = run.training
        self.folder = Path(self.settings.output)
        self.source, self.per_step, self.valid = source, per_step, valid
        self.optimizer = make_optimizer(model, self.settings)
        self.progress = resume_state(self.folder, run, model, self.optimizer)

    def run(self) -> None:
        """All steps that are still to do."""
        settings, first = self.settings, self.progress.step + 1
        log = None
        if self.world.leads:
            self._write_start()
            log = RunLog(self.folder / "log.jsonl", self.progress.step, settings.tensorboard)
        bar = tqdm(
            total=settings.steps,
            initial=first - 1,
            unit="step",
            disable=bars.hidden() if self.world.leads else True,
        )
        with bar:
            for step, batch in zip(
                range(first, settings.steps + 1), self._batches(first), strict=True
            ):
                record = self.step(step, batch)
                self.progress.step = step
                bar.update()
                if log is not None:
                    log.add(*record)
                    last = step == settings.steps
                    validates = bool(self.valid) and (last or step % settings.validate_every == 0)
                    saves = last or step % settings.checkpoint_every == 0
                    if validates or saves or step % settings.log_every == 0:
                        log.flush()  # also stops a run whose loss is no number any more
                    if validates:
                        log.write([self._validate(step, bar)])
                    if saves:
                        self._save()
                if step % settings.validate_every == 0 or step % settings.checkpoint_every == 0:
                    self.world.wait()

    def step(self, step: int, batch: TensorBatch) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """One step of the optimiser; returns what there is to log, tensors apart."""
        settings = self.settings
        seed = step_seed(settings.order, step, self.world.rank)
        torch.manual_seed(seed)
        self.optimizer.zero_grad(set_to_none=True)
        self.model.train()
        terms = self.model.gradients(batch.to(self.world.device), step, seed)
        self.world.average_gradients(self.model)
        norm = clip_grad_norm_(self.model.parameters(), settings.clip)
        factor = rate_factor(step, settings.steps, settings.warmup)
        set_rate(self.optimizer, factor)
        self.optimizer.step()
        terms = {name: term.detach().clone() for name, term in terms.items()}
        self.world.average(terms.values())
        rate = settings.learning_rate * factor
        return {"step": step, "learning_rate": rate}, terms | {"gradient": norm}

    def _batches(self, first_step: int) -> Iterator[TensorBatch]:
        """This process's batches, the next one prepared while the current one is used."""
        on_gpu = self.world.device.type == "cuda"

        def make(step: int) -> TensorBatch:
            numbers = self.world.share((step - 1) * self.per_step, self.per_step)
            batch = self.model.prepare([self.source[number] for number in numbers], step)
            return batch.pinned() if on_gpu else batch

        with ExitStack() as stack:
            worker = ThreadPoolExecutor(1)
            stack.callback(worker.shutdown, cancel_futures=True)
            coming = worker.submit(make, first_step)
            for step in range(first_step, self.settings.steps + 1):
                batch = coming.result()
                if step < self.settings.steps:
                    coming = worker.submit(make, step + 1)
                yield batch

    def _validate(self, step: int, bar: Any) -> dict[str, Any]:
        """Score the validation episodes; the model that is the best so far is kept, if wanted."""
        report: Report = evaluate(self.model, self.valid, self.config.data.protocol)
        f1 = report.micro.f1
        if f1 > self.progress.best_f1:
            self.progress.best_f1, self.progress.best_step = f1, step
            if self.settings.keep == "best":
                save_model(self.model, self.folder / "model")
        best = f"best {self.progress.best_f1:.2f} at step {self.progress.best_step}"
        bar.write(f"step {step}: validation F1 {f1:.2f} ({best})")
        return {
            "step": step,
            "valid_f1": f1,
            "valid_precision": report.micro.precision,
            "valid_recall": report.micro.recall,
            "valid_span_f1": report.span.f1,
        }

    def _save(self) -> None:
        if not self.valid or self.settings.keep == "last":
            save_model(self.model, self.folder / "model")
        save_state(self.folder, self.config, self.progress, self.model, self.optimizer)

    def _write_start(self) -> None:
        """The run's settings for its folder, and its origin for the model."""
        _write_config(self.config)
        self.model.origin = {
            **provenance(self.settings.seed, data_files(self.config.data)),
            "data_config": config.to_dict(self.config.data),
            "training_config": config.to_dict(self.settings),
        }


def step_seed(seed: int, step: int, rank: int) -> int:
    """The seed of one process's dropout in one step."""
    return (seed * 1_000_003 + step) * 1_009 + rank
