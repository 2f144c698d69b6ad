"""A model's score on a benchmark's episodes."""

from collections.abc import Sequence

from tqdm import tqdm

from spanproto.adaptation import AdaptationConfig, predict_adapted
from spanproto.data.types import Episode
from spanproto.evaluation import Report, Scorer
from spanproto.model import SpanProto
from spanproto.prediction import CandidateRule, predict_all


def evaluate(
    model: SpanProto,
    episodes: Sequence[Episode],
    protocol: str,
    candidates: CandidateRule = "model",
    adaptation: AdaptationConfig | None = None,
) -> Report:
    """Predict every episode's query sentences and score them under a protocol.

    With `adaptation`, a copy of the model is first fine-tuned to each episode's support set.
    """
    scorer = Scorer(protocol)
    if adaptation is None:
        predictions = predict_all(model, episodes, candidates)
    else:
        predictions = predict_adapted(model, episodes, adaptation, candidates)
    bar = tqdm(episodes, unit="episode", desc="evaluate", leave=False, disable=None)
    for episode, sentences in zip(bar, predictions, strict=True):
        scorer.add(
            episode,
            [[mention.span for mention in sentence.mentions] for sentence in sentences],
            [sentence.candidates for sentence in sentences],
        )
    return scorer.report()
