"""The settings of a training run: model, data, and how to train."""

from dataclasses import dataclass, field
from typing import Literal

from spanproto.config import require
from spanproto.model import ModelConfig

NEVER_META = 1_000_000_000


@dataclass(frozen=True)
class DataConfig:
    """What to train and validate on: episode files, or labelled sentences to draw episodes from."""

    train: list[str] = field(default_factory=list)
    valid: list[str] = field(default_factory=list)
    format: str | None = None  # None: told from the files
    ways: int = 5  # N, K and Q apply to sentences; episode files have their own
    shots: int = 1
    query_shots: int = 1
    mixed: bool = False  # varied episodes: each from one file, with at most N types, K and Q shots
    skip_rare: bool = False  # leave out types with too few sentences
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


@dataclass(frozen=True)
class MetaConfig:
    """First-order meta-learning: training the model to be good after it has been adapted."""

    after: int = NEVER_META  # the steps after this one are meta-steps
    steps: int = 3  # of adaptation to each support set
    learning_rate: float = 1e-4  # of the adaptation

    def __post_init__(self) -> None:
        require(self.after >= 0, "training.meta.after must not be negative")
        require(self.steps > 0, "training.meta.steps must be positive")
        require(self.learning_rate > 0, "training.meta.learning_rate must be positive")


@dataclass(frozen=True)
class TrainingConfig:
    """Algorithm 1 and its optimiser."""

    output: str = "runs/spanproto"
    steps: int = 2000  # T
    extractor_steps: int = 200  # T': lambda = 0 in the steps before this one
    joint_weight: float = 1.0  # lambda afterwards
    extractor_data: Literal["support", "support+query"] = "support"
    episodes_per_step: int = 4
    meta: MetaConfig = field(default_factory=MetaConfig)
    learning_rate: float = 5e-5
    head_learning_rate: float | None = None  # None: as the encoder's
    weight_decay: float = 0.01
    warmup: float = 0.1  # share of the steps
    clip: float = 1.0  # largest gradient norm
    seed: int = 42
    device: str = "auto"
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # auto: bf16 on a GPU
    log_every: int = 10
    validate_every: int = 200
    checkpoint_every: int = 200
    tensorboard: bool = False

    def __post_init__(self) -> None:
        for name in (
            "steps",
            "episodes_per_step",
            "log_every",
            "validate_every",
            "checkpoint_every",
        ):
            require(getattr(self, name) > 0, f"training.{name} must be positive")
        require(
            0 <= self.extractor_steps <= self.steps,
            "training.extractor_steps must lie between 0 and training.steps",
        )
        require(self.learning_rate > 0, "training.learning_rate must be positive")
        for name in ("head_learning_rate", "weight_decay", "joint_weight"):
            value = getattr(self, name)
            require(value is None or value >= 0, f"training.{name} must not be negative")
        require(0 <= self.warmup <= 1, "training.warmup is a share of the steps, between 0 and 1")
        require(self.clip > 0, "training.clip must be positive")


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run, as they stand in its YAML file."""

    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
