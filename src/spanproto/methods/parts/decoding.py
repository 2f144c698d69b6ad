"""The best tags of query words under abstract transitions, as StructShot chooses them."""

from torch import Tensor

from spanproto.methods.parts.tagged import TaggedBatch
from spanproto.methods.parts.transitions import transition_scores
from spanproto.methods.parts.viterbi import viterbi


def best_sequences(
    scores: Tensor, batch: TaggedBatch, transitions: Tensor, temperature: float
) -> Tensor:
    """The best sequence of IO tags for each sentence, (S, L), from scores (E, Q, T) of its words.

    The scores count as logits. `transitions` (3, 3) were counted on training data, whatever types
    they had.
    """
    exists = (~scores.isneginf()).any(1).index_select(0, batch.sentences.episode)  # (S, T)
    start, following = transition_scores(transitions, exists, temperature)
    emissions = batch.query.rows(scores.log_softmax(-1))  # (S, L, T)
    return viterbi(emissions, start, following, batch.sentences.words.word_mask)
