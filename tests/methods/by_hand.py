"""Models whose word embeddings are given, so that what they compute can be worked out by hand."""

from collections.abc import Callable, Mapping, Sequence

import torch

from spanproto.methods.base import Method
from spanproto.methods.parts.word_tagger import WordTagger
from spanproto.tokenization import WordBatch

Vectors = Mapping[str, Sequence[float]]


def with_embeddings(model: WordTagger, vectors: Vectors, monkeypatch) -> WordTagger:
    """The model with words embedded as given, whatever stands around them."""
    monkeypatch.setattr(model, "embed", looked_up(model, vectors))
    return model


def with_states(model: WordTagger, vectors: Vectors, monkeypatch) -> WordTagger:
    """The model with an encoder that gives these states, whatever stands around the words."""
    monkeypatch.setattr(model.encoder, "first_states", looked_up(model, vectors))
    return model


def looked_up(model: Method, vectors: Vectors) -> Callable[[WordBatch], torch.Tensor]:
    """The states (S, L, d) of words as given, 0 for all others."""
    tokenizer = model.encoder.words.tokenizer
    size = len(next(iter(vectors.values())))
    table = torch.zeros(len(tokenizer), size)
    for word, vector in vectors.items():
        table[tokenizer(word, add_special_tokens=False)["input_ids"][0]] = torch.tensor(vector)
    return lambda words: table[words.input_ids.flatten()[words.first]]
