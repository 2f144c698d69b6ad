"""Models whose word embeddings are given, so that what they compute can be worked out by hand."""

from collections.abc import Mapping, Sequence

import torch

from spanproto.methods.parts.word_tagger import WordTagger


def with_embeddings(
    model: WordTagger, vectors: Mapping[str, Sequence[float]], monkeypatch
) -> WordTagger:
    """The model with words embedded as given, whatever stands around them."""
    tokenizer = model.encoder.words.tokenizer
    size = len(next(iter(vectors.values())))
    table = torch.zeros(len(tokenizer), size)
    for word, vector in vectors.items():
        table[tokenizer(word, add_special_tokens=False)["input_ids"][0]] = torch.tensor(vector)

    def embed(words):
        return table[words.input_ids.flatten()[words.first]]

    monkeypatch.setattr(model, "embed", embed)
    return model
