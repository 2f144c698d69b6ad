"""Entities from a handful of examples: fit, predict, and what belongs to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload

import transformers.modeling_utils  # noqa: F401  (slow, and every model needs it: paid for here)

from spanproto import config
from spanproto.adaptation import AdaptationConfig, adapt_to_one
from spanproto.checkpoint import load_spanproto
from spanproto.data.types import Episode, Sentence
from spanproto.documents import DocumentJudge, Judged, document_of
from spanproto.entity import Entity
from spanproto.errors import DataError, SpanProtoError, nearest_name
from spanproto.evaluation.by_type import TypeReport, type_report
from spanproto.examples import read_examples
from spanproto.explanation import Explanation, explanations
from spanproto.hub import push
from spanproto.judging import Candidate
from spanproto.model import SpanProto
from spanproto.model_source import model_directory
from spanproto.saving import Fitted, is_fitted, load_fitted, save_fitted
from spanproto.stacking import TuningConfig, unstacked
from spanproto.support import support_prototypes
from spanproto.thresholds import Tuning, tune
from spanproto.training.distributed import choose_device
from spanproto.typeset import TypeSet

FITTING = AdaptationConfig(
    steps=30,
    seconds=20,
    learning_rate=1e-4,
    leave_one_out=True,
    tuning=TuningConfig(tune="top", top_layers=4),
)
"""How a copy of the model is fine-tuned to a user's examples: as the transfer was measured."""

Threshold = float | Mapping[str, float]
Given = str | Sentence | Sequence[str]


class FewShotNER:
    """Finds entities of types that it was shown a few examples of.

    The model that it is made with is never changed: fitting works on a copy.
    """

    def __init__(self, model: SpanProto) -> None:
        self._base = model.eval()
        self._fitted: Fitted | None = None

    @classmethod
    def from_pretrained(cls, name: str | Path | None = None, device: str = "auto") -> "FewShotNER":
        """A recogniser ready to be fitted, or one that was fitted and saved.

        `name` is a directory or a name on the model hub; without one it is the built-in model.
        """
        directory = model_directory(name)
        if is_fitted(directory):
            return cls.load(directory, device)
        return cls(load_spanproto(directory).to(choose_device(device)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The types that are looked for; none before `fit`."""
        return () if self._fitted is None else self._fitted.types.labels

    @property
    def thresholds(self) -> dict[str, float]:
        """The least score of an entity of each type where a call names no other."""
        return self._thresholds(None)

    @property
    def task(self) -> Episode:
        """What was learnt, as an episode: the types, and the examples as its support set."""
        return self._require_fitted().types.task

    @property
    def model(self) -> SpanProto:
        """The model that predicts: the fitted copy or, before `fit`, the one that was given."""
        return self._base if self._fitted is None else self._fitted.model

    def fit(
        self,
        examples: Any,
        *,
        labels: Iterable[str] | None = None,
        descriptions: Mapping[str, str] | None = None,
        steps: int | None = None,
        seconds: float | None = None,
        adapt: bool = True,
        format: str | None = None,
        boundaries: str = "refuse",
        seed: int = 42,
    ) -> "FewShotNER":
        """Learn the types that the examples show, instead of any learnt before.

        `examples` are a file or objects in memory; see `spanproto.examples`, also for `format` and
        `boundaries`. `labels` names the types to look for if not all, `descriptions` say in words
        what some of them are. A copy of the model is fine-tuned for some `steps`, or `seconds` if
        that is less (30 steps or 20 seconds where neither is said); without `adapt` it is used as
        it is. The same seed and number of steps give the same result.
        """
        shown = read_examples(examples, format=format, boundaries=boundaries)
        types = TypeSet.of(shown, labels, descriptions)
        return self._learn(self._base, types, steps, seconds, adapt, seed)

    def add(
        self,
        examples: Any,
        *,
        descriptions: Mapping[str, str] | None = None,
        steps: int | None = None,
        seconds: float | None = None,
        adapt: bool = True,
        format: str | None = None,
        boundaries: str = "refuse",
        seed: int = 42,
    ) -> "FewShotNER":
        """Learn more types, or more of the known ones, from these examples and all earlier ones."""
        fitted = self._require_fitted()
        shown = read_examples(examples, format=format, boundaries=boundaries)
        types = fitted.types.with_examples(shown).described(descriptions)
        return self._learn(fitted.model, types, steps, seconds, adapt, seed)

    def remove(
        self,
        label: str,
        *,
        steps: int | None = None,
        seconds: float | None = None,
        adapt: bool = True,
        seed: int = 42,
    ) -> "FewShotNER":
        """Look for a type no longer, and learn that its examples have none of the others."""
        fitted = self._require_fitted()
        types = fitted.types.without(label)
        return self._learn(fitted.model, types, steps, seconds, adapt, seed)

    @overload
    def predict(  # type: ignore[overload-overlap]  # a string is also an iterable of strings
        self,
        inputs: str | Sentence,
        *,
        threshold: Threshold | None = None,
        top_k: int = 0,
        allow_nested: bool = False,
    ) -> list[Entity]: ...

    @overload
    def predict(
        self,
        inputs: Iterable[Given],
        *,
        threshold: Threshold | None = None,
        top_k: int = 0,
        allow_nested: bool = False,
    ) -> Iterator[list[Entity]]: ...

    def predict(
        self,
        inputs: str | Sentence | Iterable[Given],
        *,
        threshold: Threshold | None = None,
        top_k: int = 0,
        allow_nested: bool = False,
    ) -> list[Entity] | Iterator[list[Entity]]:
        """The entities of a text of any length, or of each of many as they are taken.

        Positions are characters of a string, and words of a Sentence. Any other iterable is of
        documents, each a string, a Sentence or a list of words; their entities come one list at a
        time, in order. `threshold` is the least score, for all types or for some by name. `top_k`
        asks for so many other types of each entity. `allow_nested` allows one within another.
        """
        judge = self._judge(threshold, allow_nested)
        if isinstance(inputs, Mapping) or not isinstance(inputs, str | Sentence | Iterable):
            raise DataError(
                f"entities cannot be found in a {type(inputs).__name__}; give a string, a Sentence "
                "or an iterable of documents"
            )
        if not isinstance(top_k, int) or top_k < 0:
            raise DataError(f"top_k={top_k!r} is not a number of types; give 0 or more")
        if isinstance(inputs, str | Sentence):
            return next(self._entities(iter([inputs]), judge, top_k))
        return self._entities(iter(inputs), judge, top_k)

    def explain(
        self,
        text: str | Sentence,
        *,
        threshold: Threshold | None = None,
        allow_nested: bool = False,
    ) -> list[Explanation]:
        """Every span of a text that was considered, and why it was kept or not."""
        judge = self._judge(threshold, allow_nested)
        (judged,) = judge([document_of(text)])
        return explanations(judge, judged, isinstance(text, str))

    def evaluate(
        self,
        examples: Any,
        *,
        threshold: Threshold | None = None,
        allow_nested: bool = False,
        format: str | None = None,
        boundaries: str = "refuse",
    ) -> TypeReport:
        """Scores of each type and over all on labelled data, and which types were confused.

        Entities of types that are not looked for count as missed.
        """
        judge = self._judge(threshold, allow_nested)
        gold = read_examples(examples, format=format, boundaries=boundaries)
        found = [[candidate.span for candidate in kept] for kept in _kept(judge, gold)]
        return type_report(judge.task, gold, found)

    def tune(
        self,
        examples: Any,
        *,
        allow_nested: bool = False,
        format: str | None = None,
        boundaries: str = "refuse",
    ) -> Tuning:
        """Choose the thresholds of the best F1 on labelled data, and keep them for later calls.

        All types share one, but a type of which there is enough data may have its own. Use other
        data than what was fitted, on which nearly everything is found.
        """
        fitted = self._require_fitted()
        gold = read_examples(examples, format=format, boundaries=boundaries)
        if not any(span.label in self.labels for sentence in gold for span in sentence.spans):
            raise DataError(
                f"the examples have no span of {', '.join(self.labels)}; thresholds cannot be told "
                "from them"
            )

        def predict(thresholds: dict[str, float]) -> list[list[Candidate]]:
            return _kept(self._judge(thresholds, allow_nested), gold)

        tuning = tune(gold, predict, self.thresholds)
        types = replace(fitted.types, thresholds=tuning.thresholds)
        self._fitted = fitted._replace(types=types)
        return tuning

    def save(self, directory: str | Path) -> None:
        """Write the fitted recogniser with its examples to a directory, whole or not at all."""
        save_fitted(self._require_fitted(), Path(directory))

    @classmethod
    def load(cls, directory: str | Path, device: str = "auto") -> "FewShotNER":
        """The recogniser that `save` wrote; it predicts the same."""
        fitted = load_fitted(Path(directory))
        place = choose_device(device)
        ner = cls(fitted.model.to(place))
        ner._fitted = fitted._replace(prototypes=fitted.prototypes.to(place))
        return ner

    def push_to_hub(self, repo_id: str, *, token: str | None = None, private: bool = False) -> str:
        """Save the fitted recogniser to the model hub as `repo_id`; returns its address."""
        with TemporaryDirectory() as folder:
            self.save(folder)
            return push(folder, repo_id, token, private)

    def _learn(
        self,
        model: SpanProto,
        types: TypeSet,
        steps: int | None,
        seconds: float | None,
        adapt: bool,
        seed: int,
    ) -> "FewShotNER":
        """Fine-tune a copy of the model to the types, if asked to, and keep their prototypes."""
        task = types.task
        settings = replace(FITTING, seed=seed)
        if steps is not None or seconds is not None:
            number = FITTING.steps if steps is None else steps
            settings = replace(settings, steps=number, seconds=seconds)
        if adapt:
            model = unstacked(adapt_to_one(model, task, settings))
        used = {"adaptation": config.to_dict(settings) if adapt else None}
        self._fitted = Fitted(model, types, support_prototypes(model, [task]), used)
        return self

    def _require_fitted(self) -> Fitted:
        if self._fitted is None:
            raise SpanProtoError("no types have been learnt yet; call fit with a few examples")
        return self._fitted

    def _thresholds(self, given: Threshold | None) -> dict[str, float]:
        """The threshold of each type: the call's, or else the chosen one, or else the model's."""
        types, decision = self._require_fitted().types, self.model.config.decision
        least = decision.threshold if decision.rule == "joint" else 0.0
        thresholds = {label: types.thresholds.get(label, least) for label in types.labels}
        if isinstance(given, Mapping):
            for label in given:
                if label not in thresholds:
                    raise DataError(
                        f"a threshold for {label!r}, which is no label; "
                        f"{nearest_name(label, thresholds)}"
                    )
            thresholds |= given
        elif given is not None:
            thresholds = dict.fromkeys(thresholds, given)
        for label, value in thresholds.items():
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise DataError(
                    f"the threshold of {label!r} is {value!r}; it must be a number in [0, 1]"
                )
        return thresholds

    def _judge(self, threshold: Threshold | None, allow_nested: bool) -> DocumentJudge:
        fitted = self._require_fitted()
        own = fitted.model.config.extractor.decoding
        return DocumentJudge(
            fitted.model,
            fitted.types.task,
            fitted.prototypes,
            self._thresholds(threshold),
            "nested" if allow_nested else own,
        )

    def _entities(
        self, inputs: Iterator[Given], judge: DocumentJudge, top_k: int
    ) -> Iterator[list[Entity]]:
        """The entities of each input, in positions of what was given."""
        given, ahead = tee(inputs)
        documents = (document_of(one, f"input {number}") for number, one in enumerate(ahead))
        for one, judged in zip(given, judge(documents), strict=True):
            yield [
                self._entity(judged, candidate, isinstance(one, str), top_k)
                for candidate in judged.kept
            ]

    def _entity(
        self, judged: Judged, candidate: Candidate, in_characters: bool, top_k: int
    ) -> Entity:
        text, start, end = judged.place(candidate, in_characters)
        others = [
            (label, score)
            for label, score in zip(self.labels, candidate.scores, strict=True)
            if label != candidate.label
        ]
        others.sort(key=lambda other: -other[1])
        return Entity(text, candidate.label, start, end, candidate.score, tuple(others[:top_k]))


def _kept(judge: DocumentJudge, gold: Sequence[Sentence]) -> list[list[Candidate]]:
    """What is found in the sentences, in words of them, without a look at their labels."""
    return [judged.kept for judged in judge(sentence.unlabelled() for sentence in gold)]
