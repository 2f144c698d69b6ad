"""Fine-tuning to a support set, for one episode or for many side by side.

For each episode a copy of the model learns from the support set alone; the query sentences are not
looked at until the copy predicts them.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from tqdm import tqdm

from spanproto import bars
from spanproto.batch import TensorBatch
from spanproto.config import require
from spanproto.data.episodes import require_support
from spanproto.data.types import Episode
from spanproto.errors import ConfigError
from spanproto.evaluation import Counts
from spanproto.remembering import frozen_layers_remembered
from spanproto.stacking import Model, TuningConfig, can_stack, encoder_prefixes, stack

if TYPE_CHECKING:
    from spanproto.methods.base import Method, Prediction
    from spanproto.observation import CandidateRule

AfterStep = Callable[[int, Model], bool]
Answer = TypeVar("Answer")
_AT_LEAST_NONE = ("head_learning_rate", "weight_decay", "joint_weight", "seconds")


@dataclass(frozen=True)
class AdaptationConfig:
    """How a copy of the model is fine-tuned to a support set."""

    steps: int = 40
    seconds: float | None = None  # stop after so long, if that is earlier
    early_stopping: bool = False  # stop where held-out support sentences are found best
    check_every: int = 5  # steps between two looks at them
    folds: int = 8  # at most so many sentences are held out, each in turn, side by side
    learning_rate: float = 3e-5
    decay: bool = True  # the rate falls from step to step, to 0 after the last
    head_learning_rate: float | None = None  # None: as the encoder's
    weight_decay: float = 0.01
    joint_weight: float = 1.0  # lambda of Algorithm 1
    negatives: float = 1.0  # share of the spans apart from all entities that a step looks at
    leave_one_out: bool = False  # keep a support span out of its own prototype
    recall: bool = False  # in the decision, also ask the weights before the fine-tuning
    dropout: bool = True
    seed: int = 42
    tuning: TuningConfig = field(default_factory=TuningConfig)
    sentences_per_step: int = 64  # a larger support set is seen a random part at a time
    episodes_at_once: int = 8  # copies of the weights that are tuned, and of their optimiser
    tokens_at_once: int = 12_000  # sub-tokens of support sentences in a batch

    def __post_init__(self) -> None:
        for name in (
            "steps",
            "check_every",
            "folds",
            "sentences_per_step",
            "episodes_at_once",
            "tokens_at_once",
        ):
            require(getattr(self, name) > 0, f"adaptation.{name} must be positive")
        for name in ("learning_rate", *_AT_LEAST_NONE):
            value = getattr(self, name)
            require(value is None or math.isfinite(value), f"adaptation.{name} must be finite")
        require(abs(self.seed) < 2**63, "adaptation.seed must be less than 2^63")
        require(self.learning_rate > 0, "adaptation.learning_rate must be positive")
        require(0 <= self.negatives <= 1, "adaptation.negatives is a share, between 0 and 1")
        for name in _AT_LEAST_NONE:
            value = getattr(self, name)
            require(value is None or value >= 0, f"adaptation.{name} must not be negative")


def adapt(
    model: Model,
    episodes: Sequence[Episode],
    config: AdaptationConfig,
    after_step: AfterStep[Model] | None = None,
    batch: TensorBatch | None = None,
) -> Model:
    """A copy of the model for each episode, fine-tuned to its support set, stacked into one.

    The same seed gives the same copies. `after_step` is shown the copies after each step, and
    ends the fine-tuning by returning False. `batch` is that of the support sets, if it is made
    already.
    """
    require_support(episodes)
    began = time.monotonic()
    with torch.random.fork_rng(devices=_gpus(model)):
        torch.manual_seed(config.seed)
        adapted = stack(model.for_episodes(episodes), len(episodes), config.tuning)
        if config.recall:
            adapted.recall(model)
        optimizer = _optimizer(adapted, config)
        batches = _batches(adapted, episodes, config, batch)
        with frozen_layers_remembered(adapted.encoder):
            steps = config.steps
            for step, support in zip(range(config.steps), batches, strict=False):
                if config.seconds is not None:
                    elapsed = time.monotonic() - began
                    steps = _steps_in_time(config.steps, config.seconds, step, elapsed)
                    if step >= steps:
                        break
                adapted.train(config.dropout)
                factor = 1 - step / steps if config.decay else 1.0
                for group in optimizer.param_groups:
                    group["lr"] = group["base_lr"] * factor
                optimizer.zero_grad(set_to_none=True)
                # The sum over the episodes, so that none is scaled by the others.
                loss = len(episodes) * adapted.support_loss(support, config)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                if after_step is not None and not after_step(step + 1, adapted):
                    break
    return adapted.eval()


def _steps_in_time(steps: int, seconds: float, done: int, elapsed: float) -> int:
    """How many of the steps there will be in time, if those to come take as long as so far.

    However few these are, one step is done, unless there are no seconds at all.
    """
    if elapsed > seconds:
        return max(done, 1 if seconds else 0)
    if done < 2:  # the first is slower than the others
        return steps
    return min(steps, max(done + 1, int(done * seconds / elapsed)))


def _batches(
    model: Method,
    episodes: Sequence[Episode],
    config: AdaptationConfig,
    batch: TensorBatch | None,
) -> Iterator[TensorBatch]:
    """The batch of each step: the support sets, always the same, or random parts of large ones."""
    whole = all(len(episode.support) <= config.sentences_per_step for episode in episodes)
    for step in count():
        if batch is None or not whole:
            rng = random.Random(f"{config.seed}/{step}")
            parts = [random_part(episode, config.sentences_per_step, rng) for episode in episodes]
            batch = model.support_batch(parts).to(model.device)
        yield batch


def random_part(episode: Episode, most: int, rng: random.Random) -> Episode:
    """The episode with at most so many support sentences, at least one of them with an entity."""
    if len(episode.support) <= most:
        return episode
    labelled = [sentence for sentence in episode.support if sentence.spans]
    first = rng.choice(labelled)
    rest = rng.sample([s for s in episode.support if s is not first], most - 1)
    return replace(episode, support=(first, *rest))


def adapt_to_one(model: Model, episode: Episode, config: AdaptationConfig) -> Model:
    """A copy of the model fine-tuned to one support set, for as long as the settings ask.

    Where the time is limited, the search for a number of steps gets half of it, and the copy that
    predicts what is left, or one step if nothing is.
    """
    from spanproto.methods.base import Method  # which is built on this module

    if not config.early_stopping:
        return model.adapted([episode], config)
    require(
        type(model).adapted is Method.adapted,
        f"{model.title()} ends its fine-tuning by a rule of its own; set "
        "adaptation.early_stopping=false",
    )
    if config.seconds is None:
        suited = choose_steps(model, episode, config)
    else:
        began = time.monotonic()
        suited = choose_steps(model, episode, replace(config, seconds=config.seconds / 2))
        left = config.seconds - (time.monotonic() - began)
        if left <= 0:
            return adapt(model, [episode], replace(config, seconds=None, steps=1))
        config = replace(config, seconds=left)
    config = replace(config, steps=suited.of)
    return adapt(model, [episode], config, lambda step, _: step < suited.steps)


class Suited(NamedTuple):
    """How many steps suit a support set, of how many, over which the rate fell."""

    steps: int
    of: int


def choose_steps(model: Method, episode: Episode, config: AdaptationConfig) -> Suited:
    """How many steps suit a support set, found without any query data.

    Sentences with an entity are held out in turn, copies learn from the rest side by side, and the
    number of steps at which their pooled F1 on the held-out sentences is best is taken (the largest
    of several). They are looked at every so many steps, and after the last one, be it the last that
    there was time for. A support set in which no held-out entity has its type among the rest cannot
    tell, and all steps are done.
    """
    folds = held_out_folds(episode, config.folds, config.seed)
    if not folds:
        return Suited(config.steps, config.steps)
    if not can_stack(model):
        raise ConfigError(
            "early stopping is not available for this encoder; set adaptation.early_stopping=false"
        )
    side_by_side = next(_groups(model, folds, replace(config, early_stopping=False)))
    folds = folds[: len(side_by_side)]
    best_f1, best_steps, done = -1.0, config.steps, 0

    def look(adapted: Method) -> None:
        nonlocal best_f1, best_steps
        f1 = pooled_f1(folds, adapted.predict(folds))
        if f1 >= best_f1:
            best_f1, best_steps = f1, done

    def after_step(step: int, adapted: Method) -> bool:
        nonlocal done
        done = step
        if step % config.check_every == 0:
            look(adapted)
        return True

    last = adapt(model, folds, config, after_step)
    if done % config.check_every:
        look(last)
    return Suited(best_steps, done or config.steps)


def held_out_folds(episode: Episode, most: int, seed: int = 42) -> list[Episode]:
    """Episodes that query one support sentence each and have the others as support.

    Only sentences with an entity whose type the others have too are of use. Where there are more
    than so many, they are drawn, those first that hold a type which none before them does.
    """
    folds = []
    for index, sentence in enumerate(episode.support):
        rest = episode.support[:index] + episode.support[index + 1 :]
        known = {span.label for other in rest for span in other.spans}
        if any(span.label in known for span in sentence.spans):
            folds.append(replace(episode, support=rest, query=(sentence,)))
    if len(folds) <= most:
        return folds
    random.Random(seed).shuffle(folds)
    covered: set[str] = set()
    first: list[Episode] = []
    others: list[Episode] = []
    for fold in folds:
        labels = {span.label for sentence in fold.query for span in sentence.spans}
        (others if labels <= covered else first).append(fold)
        covered |= labels
    return [*first, *others][:most]


def pooled_f1(episodes: Sequence[Episode], predictions: Sequence[Sequence[Prediction]]) -> float:
    """Micro F1 over all query sentences."""
    counts = Counts()
    for episode, sentences in zip(episodes, predictions, strict=True):
        for gold, found in zip(episode.query, sentences, strict=True):
            counts += Counts.of(set(found.spans), set(gold.spans))
    return counts.f1


def _optimizer(model: Method, config: AdaptationConfig) -> torch.optim.AdamW:
    """AdamW over what is tuned: elementwise, so stacked weights do not mix."""
    given = config.head_learning_rate
    heads_rate = config.learning_rate if given is None else given
    encoders = encoder_prefixes(model)
    groups: dict[float, list[torch.nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            rate = config.learning_rate if name.startswith(encoders) else heads_rate
            groups.setdefault(rate, []).append(parameter)
    require(
        bool(groups), f"tuning.tune={config.tuning.tune} leaves nothing to tune; choose another"
    )
    return torch.optim.AdamW(
        [{"params": parameters, "base_lr": rate} for rate, parameters in groups.items()],
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        fused=True,  # also on the CPU: the plain one reads its step count back at every step
    )


def predict_adapted(
    model: Method,
    episodes: Sequence[Episode],
    config: AdaptationConfig,
    candidates: CandidateRule = "model",
) -> Iterator[Sequence[Prediction]]:
    """Adapt to each episode's support set, then predict its query sentences, in order."""
    model = model.with_candidates(candidates)
    return ask_adapted(model, episodes, config, lambda adapted, group: adapted.predict(group))


def ask_adapted(
    model: Model,
    episodes: Sequence[Episode],
    config: AdaptationConfig,
    ask: Callable[[Model, Sequence[Episode]], Sequence[Answer]],
) -> Iterator[Answer]:
    """What the model says of each episode once it is adapted to its support set, in order.

    Episodes with sentences of similar length are adapted side by side, so all of them are done
    before the first answer comes out; on a terminal a progress bar moves meanwhile.
    """
    require_support(episodes)  # before any is adapted
    answers: dict[int, Answer] = {}
    with _bar(len(episodes)) as bar:
        for numbers in _groups(model, episodes, config):
            group = [episodes[number] for number in numbers]
            alone = len(group) == 1
            adapted = (
                adapt_to_one(model, group[0], config) if alone else model.adapted(group, config)
            )
            answers.update(zip(numbers, ask(adapted, group), strict=True))
            del adapted
            bar.update(len(group))
    return (answers[number] for number in range(len(episodes)))


def _bar(episodes: int) -> tqdm[Any]:
    """How many of the episodes are adapted to, and asked."""
    hidden = bars.hidden()
    return tqdm(total=episodes, unit="episode", desc="adapt", leave=False, disable=hidden)


def _groups(
    model: Method, episodes: Sequence[Episode], config: AdaptationConfig
) -> Iterator[list[int]]:
    """Numbers of episodes to adapt together: with sentences of similar length, within the limits.

    What a batch takes grows with the longest sentence in it, and with the largest support set.
    """
    limit = config.episodes_at_once if can_stack(model) and not config.early_stopping else 1
    lengths = [[len(sentence.words) for sentence in episode.support] for episode in episodes]
    group: list[int] = []
    for number in sorted(range(len(episodes)), key=lambda n: max(lengths[n]), reverse=True):
        largest = 2 * max(sum(lengths[n]) for n in (*group, number))  # sub-tokens, as a rule less
        full = (len(group) + 1) * largest > config.tokens_at_once
        if group and (len(group) == limit or full):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _gpus(model: Method) -> list[torch.device]:
    return [model.device] if model.device.type == "cuda" else []
