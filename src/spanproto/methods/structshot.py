"""StructShot: NNShot, and then the best sequence of tags."""

from dataclasses import dataclass

from torch import Tensor

from spanproto.config import require
from spanproto.methods.nnshot import NNShot
from spanproto.methods.parts.tagged import TaggedBatch
from spanproto.methods.parts.transitions import transition_scores
from spanproto.methods.parts.viterbi import viterbi
from spanproto.methods.protobert import ProtoBertConfig


@dataclass(frozen=True)
class StructShotConfig(ProtoBertConfig):
    """How words are embedded and their tags decoded."""

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
        exists = (~scores.isneginf()).any(1).index_select(0, batch.sentences.episode)  # (S, T)
        start, following = transition_scores(self.transitions, exists, self.config.temperature)
        emissions = batch.query.rows(scores.log_softmax(-1))  # (S, L, T)
        return viterbi(emissions, start, following, batch.sentences.words.word_mask)
