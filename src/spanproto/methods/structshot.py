"""StructShot: NNShot, and then the best sequence of tags."""

from dataclasses import dataclass

from torch import Tensor

from spanproto.config import require
from spanproto.methods.nnshot import NNShot, NNShotConfig
from spanproto.methods.parts.decoding import best_sequences
from spanproto.methods.parts.tagged import TaggedBatch


@dataclass(frozen=True)
class StructShotConfig(NNShotConfig):
    """How words are embedded, how that is learned, and how tags are decoded."""

    temperature: float = 0.32  # that transition probabilities are raised to

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.temperature > 0, "model.temperature must be positive")


class StructShot(NNShot):
    """NNShot with Viterbi decoding (Yang and Katiyar, 2020).

    Emissions are NNShot's logits as log-probabilities. Transitions between the types of an episode
    are made from how entities begin, go on and end in the training data, whatever their types.
    """

    name = "structshot"
    Config = StructShotConfig
    weights_of = frozenset({"protobert", "nnshot"})

    config: StructShotConfig

    def decode(self, scores: Tensor, batch: TaggedBatch) -> Tensor:
        """The best sequence of tags for each sentence."""
        return best_sequences(scores, batch, self.transitions, self.config.temperature)
