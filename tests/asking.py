"""Models that ask the pretrained encoder what spans mean, and what they judge."""

from dataclasses import replace

from spanproto.adaptation import AdaptationConfig
from spanproto.encoder import Encoder
from spanproto.judging import Candidate
from spanproto.model import SpanProto

TUNED = AdaptationConfig(steps=3, learning_rate=3e-3, dropout=False)


def weighing(model: SpanProto, **settings: float) -> SpanProto:
    decision = replace(model.config.decision, rule="joint", floor=0.0, **settings)
    return model.with_settings(replace(model.config, decision=decision))


def asking(model: SpanProto, encoder: Encoder, **settings: float) -> SpanProto:
    twin = weighing(model, **settings)
    twin.ask_meaning(encoder)
    return twin


def everything(judged: list[list[list[Candidate]]]) -> list[Candidate]:
    return [c for sentences in judged for found in sentences for c in found]
