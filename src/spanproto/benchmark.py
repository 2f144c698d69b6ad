"""A model's score on a benchmark's episodes."""

from collections.abc import Iterable, Sequence

from tqdm import tqdm

from spanproto.adaptation import AdaptationConfig, predict_adapted
from spanproto.data.types import Episode
from spanproto.evaluation import Report, Scorer
from spanproto.judging import CandidateRule
from spanproto.model import SpanProto
from spanproto.prediction import SentencePrediction, predict_all


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
    if adaptation is None:
        predictions = predict_all(model, episodes, candidates)
    else:
        predictions = predict_adapted(model, episodes, adaptation, candidates)
    return score_predictions(episodes, predictions, protocol)


def score_predictions(
    episodes: Sequence[Episode],
    predictions: Iterable[Sequence[SentencePrediction]],
    protocol: str,
) -> Report:
    """The score of predictions as they come in, with a progress bar on a terminal."""
    scorer = Scorer(protocol)
    bar = tqdm(episodes, unit="episode", desc="evaluate", leave=False, disable=None)
    for episode, sentences in zip(bar, predictions, strict=True):
        scorer.add(
            episode,
            [[mention.span for mention in sentence.mentions] for sentence in sentences],
            [sentence.candidates for sentence in sentences],
        )
    return scorer.report()
