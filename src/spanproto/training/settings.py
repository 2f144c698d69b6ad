"""The settings of a training run: method, model, data, and how to train."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from spanproto.config import build, require
from spanproto.methods import method_named
from spanproto.methods.base import MethodConfig

Precision = Literal["auto", "fp32", "bf16"]
"""Of the encoder; auto: bf16 on a GPU."""


@dataclass(frozen=True)
class DataConfig:
    """What to train and validate on: episode files, or labelled sentences to draw episodes from."""

    train: list[str] = field(default_factory=list)
    valid: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)  # whose spans `train` may leave unlabelled
    root: str = ""  # the folder that the file names are relative to
    format: str | None = None  # None: told from the files
    ways: int = 5  # N, K and Q apply to sentences; episode files have their own
    shots: int = 1
    query_shots: int = 1
    mixed: bool = False  # varied episodes: each of one corpus, with at most N types, K and Q shots
    skip_rare: bool = False  # leave out types with too few sentences
    train_share: float = 1.0  # of the training sentences, or of given episodes, drawn by chance
    train_types: str | None = None  # a shipped split such as inter/train; None: all types
    valid_types: str | None = None
    valid_episodes: int = 200  # at most so many validate
    protocol: Literal["fewnerd", "crossdomain"] = "fewnerd"

    def __post_init__(self) -> None:
        require(
            min(self.ways, self.shots, self.query_shots) > 0,
            "data.ways, shots, query_shots must be positive",
        )
        require(self.valid_episodes > 0, "data.valid_episodes must be positive")
        require(
            0 < self.train_share <= 1, "data.train_share must be more than 0, and 1 at the most"
        )

    @property
    def train_files(self) -> list[str]:
        """Where the training files are."""
        return [str(Path(self.root) / name) for name in self.train]

    @property
    def doubtful_files(self) -> list[str]:
        """Where the files are that say what may be an entity of the training sentences."""
        return [str(Path(self.root) / name) for name in self.doubtful]

    @property
    def valid_files(self) -> list[str]:
        """Where the validation files are."""
        return [str(Path(self.root) / name) for name in self.valid]


@dataclass(frozen=True)
class TrainingConfig:
    """How long to train, by which steps, and what to keep of it."""

    output: str = "runs/spanproto"
    steps: int = 2000  # T
    episodes_per_step: int = 4  # of methods that train on episodes
    sentences_per_step: int = 32  # of methods that train on sentences
    learning_rate: float = 5e-5
    head_learning_rate: float | None = None  # None: as the encoder's
    weight_decay: float = 0.01
    warmup: float = 0.1  # share of the steps
    clip: float = 1.0  # largest gradient norm
    seed: int = 42
    order_seed: int | None = None  # of the order of the data, and of dropout; None: the seed
    device: str = "auto"
    precision: Precision = "auto"  # auto: bf16 on a GPU
    log_every: int = 10
    validate_every: int = 200
    checkpoint_every: int = 200
    keep: Literal["best", "last"] = "best"  # of the models that were validated
    tensorboard: bool = False

    def __post_init__(self) -> None:
        for name in (
            "steps",
            "episodes_per_step",
            "sentences_per_step",
            "log_every",
            "validate_every",
            "checkpoint_every",
        ):
            require(getattr(self, name) > 0, f"training.{name} must be positive")
        require(self.learning_rate > 0, "training.learning_rate must be positive")
        for name in ("head_learning_rate", "weight_decay"):
            value = getattr(self, name)
            require(value is None or value >= 0, f"training.{name} must not be negative")
        require(0 <= self.warmup <= 1, "training.warmup is a share of the steps, between 0 and 1")
        require(self.clip > 0, "training.clip must be positive")

    @property
    def order(self) -> int:
        """The seed of what differs between trainings that begin with the same weights."""
        return self.seed if self.order_seed is None else self.order_seed

    def per_step(self, items: Literal["episodes", "sentences"]) -> int:
        """How many of what a method trains on are in a step."""
        return self.episodes_per_step if items == "episodes" else self.sentences_per_step


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run, as they stand in its YAML file."""

    method: str = "spanproto"
    model: MethodConfig = field(default_factory=lambda: method_named("spanproto").Config())
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        expected = method_named(self.method).Config
        require(
            type(self.model) is expected,
            f"the model settings of {self.method} are a {expected.__name__}, not a "
            f"{type(self.model).__name__}",
        )
        require(
            not self.data.doubtful or method_named(self.method).heeds_doubts,
            f"{self.method} learns from all words of a sentence; drop data.doubtful, which is for "
            "spanproto",
        )

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "RunConfig":
        """The run that plain values describe, over the defaults of the method that they name."""
        name = content.get("method", cls.method)
        require(isinstance(name, str), f"method={name!r} is not the name of a method")
        method = method_named(name)
        training = content.get("training") or {}
        if isinstance(training, Mapping):
            own = {"output": f"runs/{name}", **method.training_defaults}
            content = {**content, "training": {**own, **training}}
        return build(cls, {"model": {}, **content}, types={"model": method.Config})
