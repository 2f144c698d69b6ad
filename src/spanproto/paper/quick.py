"""The quick form: the same recipes on a bundled sample, with a hundredth of the steps.

The sample is laid out as the benchmarks' data folder, so that nothing else needs to know of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from spanproto.data.formats import write_episodes, write_sentences
from spanproto.data.sampler import EpisodeSampler
from spanproto.data.splits import type_split
from spanproto.data.types import Sentence
from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import column_named
from spanproto.experiments.scoring import Scoring

COLUMNS = ("inter-5w1", "news-1")
ENCODER = str(resources.files("spanproto") / "pretrained" / "default")
_SHORTER = 100
_FEW = 2


def write_sample(folder: Path) -> None:
    """The bundled sentences as the files of the quick columns."""
    from spanproto.examples import read_examples
    from spanproto.samples import EXAMPLES

    sentences = read_examples(EXAMPLES)
    episodes = list(EpisodeSampler(sentences, ways=5, shots=1).take(4))
    domain = column_named("news-1")
    for name in (*domain.data["train"], *domain.validation["valid"], domain.test_file):
        write_episodes(folder / name, episodes, "crossdomain")
    general = column_named("inter-5w1")
    parts = (general.data["train"], general.validation["valid"], [general.test_file])
    for names, part in zip(parts, ("train", "dev", "test"), strict=True):
        relabelled = list(_relabelled(sentences, type_split("inter", part)))
        for name in names:
            write_sentences(folder / name, relabelled, "fewnerd", merge=True)


def _relabelled(sentences: Sequence[Sentence], types: Sequence[str]) -> Iterator[Sentence]:
    """For each of the types, the sentences with entities of one type, called by that name.

    A number at the end tells the copies of a sentence apart.
    """
    own = list(dict.fromkeys(span.label for sentence in sentences for span in sentence.spans))
    for number, name in enumerate(types):
        label = own[number % len(own)]
        for sentence in sentences:
            spans = [span._replace(label=name) for span in sentence.spans if span.label == label]
            if spans:
                yield Sentence((*sentence.words, f"({number})"), tuple(spans))


def shortened(cell: Cell) -> Cell:
    """The cell with a hundredth of SpanProto's steps, and two of other methods and fine-tuning."""
    return replace(
        cell,
        run=_shortened_run(cell.run),
        scorings=tuple(_shortened_scoring(scoring) for scoring in cell.scorings),
    )


def _shortened_run(run: Mapping[str, Any]) -> dict[str, Any]:
    training = {**run.get("training", {}), "episodes_per_step": 1, "sentences_per_step": 8}
    if run.get("method", "spanproto") != "spanproto":
        return {**run, "training": {**training, "steps": _FEW}}
    model = dict(run.get("model", {}))
    objective = model.get("objective", {})
    first = objective.get("extractor_steps", 200) // _SHORTER
    model["objective"] = {**objective, "extractor_steps": first}
    steps = max(_FEW, training.get("steps", 2000) // _SHORTER)
    return {**run, "model": model, "training": {**training, "steps": steps}}


def _shortened_scoring(scoring: Scoring) -> Scoring:
    if scoring.adaptation is None:
        return scoring
    return replace(scoring, adaptation={**scoring.adaptation, "steps": _FEW})
