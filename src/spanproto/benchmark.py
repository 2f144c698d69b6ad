"""A model's score on a benchmark's episodes."""

from collections.abc import Iterable, Sequence

from tqdm import tqdm

from spanproto import bars
from spanproto.adaptation import AdaptationConfig, ask_adapted, predict_adapted
from spanproto.data.types import Episode
from spanproto.evaluation import Report, Scorer
from spanproto.methods.base import Method, Prediction
from spanproto.model import ModelConfig, SpanProto
from spanproto.observation import CandidateRule
from spanproto.prediction import predict_all, predict_by_settings


def evaluate(
    model: Method,
    episodes: Sequence[Episode],
    protocol: str,
    candidates: CandidateRule = "model",
    adaptation: AdaptationConfig | None = None,
) -> Report:
    """Predict every episode's query sentences and score them under a protocol.

    With `adaptation`, a copy of the model is first fine-tuned to each episode's support set; a
    method of which that is a part does it by its own settings if none are given.
    """
    if adaptation is None and model.always_adapts:
        adaptation = model.adaptation({})
    if adaptation is None:
        predictions = predict_all(model, episodes, candidates)
    else:
        predictions = predict_adapted(model, episodes, adaptation, candidates)
    return score_predictions(episodes, predictions, protocol)


def evaluate_settings(
    model: SpanProto,
    settings: Sequence[ModelConfig],
    episodes: Sequence[Episode],
    protocol: str,
    candidates: CandidateRule = "model",
    adaptation: AdaptationConfig | None = None,
) -> list[Report]:
    """The score with each of several settings of prediction; fine-tuning is done once for all."""
    if adaptation is None:
        return [
            evaluate(model.with_settings(config), episodes, protocol, candidates)
            for config in settings
        ]

    def ask(adapted: SpanProto, group: Sequence[Episode]) -> list[tuple[Sequence[Prediction], ...]]:
        answers = predict_by_settings(adapted, settings, group, candidates)
        return list(zip(*answers, strict=True))

    asked = ask_adapted(model, episodes, adaptation, ask)
    by_setting = zip(*asked, strict=True)
    return [score_predictions(episodes, predicted, protocol) for predicted in by_setting]


def score_predictions(
    episodes: Sequence[Episode],
    predictions: Iterable[Sequence[Prediction]],
    protocol: str,
) -> Report:
    """The score of predictions as they come in, with a progress bar on a terminal."""
    scorer = Scorer(protocol)
    bar = tqdm(episodes, unit="episode", desc="evaluate", leave=False, disable=bars.hidden())
    for episode, sentences in zip(bar, predictions, strict=True):
        scorer.add(
            episode,
            [sentence.spans for sentence in sentences],
            _candidates(sentences),
        )
    return scorer.report()


def _candidates(sentences: Sequence[Prediction]) -> list[Sequence[tuple[int, int]]] | None:
    """What was proposed for each sentence, if the method has a stage that proposes."""
    proposed = [sentence.candidates for sentence in sentences]
    known = [boundaries for boundaries in proposed if boundaries is not None]
    return known if len(known) == len(proposed) else None
