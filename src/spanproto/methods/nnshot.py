"""NNShot: the nearest support word decides."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from spanproto.methods.parts.neighbours import nearest_scores
from spanproto.methods.protobert import ProtoBert, ProtoBertConfig


@dataclass(frozen=True)
class NNShotConfig(ProtoBertConfig):
    """How words are embedded, and by what scores that is learned."""

    loss: Literal["prototypes", "nearest"] = "prototypes"  # trained as ProtoBERT, or as it predicts


class NNShot(ProtoBert):
    """Nearest neighbours (Yang and Katiyar, 2020) with the embeddings that ProtoBERT learns.

    A query word's logit for a type, or for O, is minus the squared distance to the nearest support
    word of that type. Training can be by these logits, too, in place of ProtoBERT's.
    """

    name = "nnshot"
    Config = NNShotConfig
    weights_of = frozenset({"protobert", "structshot"})

    config: NNShotConfig

    def scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """Minus the squared distances to the nearest words of each tag."""
        return nearest_scores(support, tag, query, tags)

    def training_scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """Those of the prototypes, or of the nearest words."""
        if self.config.loss == "nearest":
            return self.scores(support, tag, query, tags)
        return super().training_scores(support, tag, query, tags)
