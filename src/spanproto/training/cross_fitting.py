"""What a corpus may leave unlabelled, as models say that have not learned so from its sentences.

A run is trained twice, on either half of the training sentences, and each model says where in the
other half it takes something for an entity that nobody labelled. One that had seen a sentence would
have learned that there is nothing more in it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from spanproto.batch import map_tensors
from spanproto.checkpoint import load_spanproto
from spanproto.data.formats import write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import ConfigError, DataError
from spanproto.extractor import Candidates, decode, span_cells
from spanproto.model import SpanProto
from spanproto.training.distributed import choose_device
from spanproto.training.loop import train
from spanproto.training.settings import RunConfig
from spanproto.training.source import TrainingData

DOUBTFUL = "entity"
SENTENCES_AT_ONCE = 128


def doubts_of_run(run: RunConfig, least: float) -> list[Sentence]:
    """The training sentences of a run, each with what it may leave unlabelled as its spans.

    That is what an extractor gives at least the probability `least`, and what shares no word with a
    labelled entity, nor with what is more likely to be one.
    """
    if run.method != "spanproto":
        raise ConfigError(f"{run.method} has no span extractor to ask; give a run of spanproto")
    if not 0 < least < 1:
        raise ConfigError(f"least={least} is no probability; give one between 0 and 1, as 0.05")
    if run.data.mixed or len(run.data.train) != 1:
        raise ConfigError(
            "what one corpus leaves unlabelled may be labelled in another; name one file as "
            "data.train, with data.mixed=false"
        )
    data = TrainingData(run.data)
    if data.given_episodes:
        raise ConfigError(
            f"{run.data.train[0]}: holds episodes, in which the labels of a sentence are those of "
            "some types; give labelled sentences"
        )
    sentences = list(data.sentences())
    if len(sentences) < 4:
        raise DataError(f"{len(sentences)} training sentences cannot be halved; give more")
    found: dict[int, Sentence] = {}
    for number in range(2):
        rest = range(1 - number, len(sentences), 2)
        model = load_spanproto(_train_half(run, number, sentences[number::2]))
        model = model.to(choose_device(run.training.device))
        model.use_mixed_precision(model.device.type == "cuda")
        asked = [sentences[place] for place in rest]
        found |= zip(rest, unlabelled_entities(model, asked, least), strict=True)
    return [found[place] for place in range(len(sentences))]


def _train_half(run: RunConfig, number: int, sentences: Sequence[Sentence]) -> Path:
    """The model of a run with these sentences alone; one that was stopped goes on.

    It is only asked, so that nothing validates it.
    """
    known = hashlib.sha256(repr(sentences).encode()).hexdigest()[:8]
    folder = Path(run.training.output) / f"half-{number}-{known}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder.resolve() / "sentences.json"
    write_sentences(file, sentences, "token-json")
    data = replace(run.data, train=[str(file)], valid=[], format="token-json", skip_rare=True)
    training = replace(run.training, output=str(folder))
    return train(replace(run, data=data, training=training))


@torch.inference_mode()
def unlabelled_entities(
    model: SpanProto, sentences: Sequence[Sentence], least: float
) -> list[Sentence]:
    """The sentences with the spans that an extractor finds apart from those that they have."""
    model.eval()
    by_length = sorted(range(len(sentences)), key=lambda place: len(sentences[place].words))
    found: dict[int, Sentence] = {}
    for first in range(0, len(by_length), SENTENCES_AT_ONCE):
        places = by_length[first : first + SENTENCES_AT_ONCE]
        part = [sentences[place] for place in places]
        batch = model.encoder.words.batch([sentence.words for sentence in part])
        batch = map_tensors(batch, lambda tensor: tensor.to(model.device))
        with model.mixed_precision():
            start, end = model.encoder(batch)
        cells = span_cells(batch.word_mask)
        scores = model.extractor(start, end, cells)  # (S, L, L)
        lengths = batch.word_mask.sum(1)
        taken = model.extractor.candidates(scores, cells, lengths, least)
        kept = decode(_apart_from_labelled(taken, part), "flat").keep
        rows = zip(taken.start.tolist(), taken.end.tolist(), kept.tolist(), strict=True)
        for place, sentence, row in zip(places, part, rows, strict=True):
            spans = [Span(a, b, DOUBTFUL) for a, b, keep in zip(*row, strict=True) if keep]
            found[place] = sentence.with_spans(sorted(spans))
    return [found[place] for place in range(len(sentences))]


def _apart_from_labelled(found: Candidates, sentences: Sequence[Sentence]) -> Candidates:
    """The candidates (S, C) that share no word with an entity of their sentence."""
    apart = found.keep.clone()
    for row, sentence in enumerate(sentences):
        for span in sentence.spans:
            apart[row] &= (found.end[row] <= span.start) | (found.start[row] >= span.end)
    return replace(found, keep=apart)
