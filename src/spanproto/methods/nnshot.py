"""NNShot: the nearest support word decides."""

from torch import Tensor

from spanproto.methods.parts.neighbours import nearest_scores
from spanproto.methods.protobert import ProtoBert


class NNShot(ProtoBert):
    """Nearest neighbours (Yang and Katiyar, 2020) with the embeddings that ProtoBERT learns.

    A query word's logit for a type, or for O, is minus the squared distance to the nearest support
    word of that type.
    """

    name = "nnshot"
    weights_of = frozenset({"protobert", "structshot"})

    def scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """Minus the squared distances to the nearest words of each tag."""
        return nearest_scores(support, tag, query, tags)
