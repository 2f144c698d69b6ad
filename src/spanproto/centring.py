"""Spans seen from the middle of those of training, by direction alone.

The representations of all spans have much in common that says nothing of their types. Wang et al.
(SimpleShot, 2019) take it off the vectors of images, and make their lengths equal. The middle is
known from training data, so that nothing of an episode but its support set is looked at.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from spanproto.batch import collate
from spanproto.data.types import Episode
from spanproto.errors import ConfigError, DataError
from spanproto.model import SpanProto

RADIUS = 3.0  # of the sphere on which spans are put: as far as the paper's r
CENTRED_ON = 32  # training episodes that the middle is taken from
EPISODES_AT_ONCE = 4


def centred(model: SpanProto, episodes: Sequence[Episode], radius: float = RADIUS) -> SpanProto:
    """The model with spans on a sphere around the mean of the episodes' spans.

    The mean is taken off by the bias of the projection, so the model is saved and fine-tuned as
    any other. It is trained as it was: this comes after training.
    """
    projection, settings = model.classifier.projection, model.config.classifier
    if settings.projection != "linear" or settings.sphere is not None:
        raise ConfigError(
            "spans are centred in a linear projection without a sphere of its own; set "
            "classifier.projection=linear and classifier.sphere=null"
        )
    assert isinstance(projection, nn.Linear)
    mean = mean_representation(model, episodes)
    moved = copy.copy(projection)
    # A representation is the sum of a start and an end state, each with the bias in it.
    bias = nn.Parameter(projection.bias.detach() - mean / 2)
    moved._parameters = {**projection._parameters, "bias": bias}
    twin = model.with_settings(replace(model.config, classifier=replace(settings, sphere=radius)))
    twin.classifier._modules = {**twin.classifier._modules, "projection": moved}
    return twin


@torch.no_grad()
def mean_representation(model: SpanProto, episodes: Sequence[Episode]) -> Tensor:
    """The mean (d,) over all labelled spans, of support and query sets."""
    model.eval()
    found = []
    for at in range(0, len(episodes), EPISODES_AT_ONCE):
        batch = collate(episodes[at : at + EPISODES_AT_ONCE], model.encoder.words)
        states = model.mention_states(model.encode(batch.to(model.device)))
        both = states.batch.support_spans, states.batch.query_spans
        found += [states.represent(spans) for spans in both]
    spans = torch.cat(found) if found else torch.empty(0, 0)
    if not len(spans):
        raise DataError(
            "there are no labelled spans to find the middle of; give episodes with some"
        )
    return spans.mean(0)
