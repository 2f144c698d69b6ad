"""A model's score on a benchmark's episodes."""

from collections.abc import Sequence

from tqdm import tqdm

from spanproto.data.types import Episode
from spanproto.evaluation import Report, Scorer
from spanproto.model import SpanProto
from spanproto.prediction import CandidateRule, predict_all


def evaluate(
    model: SpanProto,
    episodes: Sequence[Episode],
    protocol: str,
    candidates: CandidateRule = "model",
) -> Report:
    """Predict every episode's query sentences and score them under a protocol."""
    scorer = Scorer(protocol)
    bar = tqdm(episodes, unit="episode", desc="evaluate", leave=False, disable=None)
    for episode, sentences in zip(bar, predict_all(model, episodes, candidates), strict=True):
        scorer.add(
            episode,
            [[mention.span for mention in sentence.mentions] for sentence in sentences],
            [sentence.candidates for sentence in sentences],
        )
    return scorer.report()
