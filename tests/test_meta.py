"""Meta-steps: the gradient of the query loss at the adapted weights moves the model."""

from dataclasses import replace

import pytest
import synthetic
import torch

from spanproto.adaptation import AdaptationConfig, adapt
from spanproto.batch import collate
from spanproto.errors import ConfigError
from spanproto.meta import MetaConfig, TaskBatch
from spanproto.model import SpanProto
from spanproto.objective import Losses, ObjectiveConfig, held_out_losses, losses

META = MetaConfig(after=0, steps=2, learning_rate=3e-3)


@pytest.fixture
def tiny_model(tiny_model: SpanProto) -> SpanProto:
    objective = ObjectiveConfig(extractor_steps=0, meta=META)
    tiny_model.config = replace(tiny_model.config, objective=objective)
    return tiny_model


def meta_losses(model: SpanProto, episodes, seed: int = 0) -> Losses:
    return model.meta_gradients(TaskBatch.of(episodes, model.encoder.words), 1.0, seed)


def gradients_of(model: SpanProto, episodes) -> dict[str, torch.Tensor]:
    model.zero_grad(set_to_none=True)
    meta_losses(model, episodes)
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def test_held_out_losses_are_those_of_the_query_sets(tiny_model: SpanProto) -> None:
    episodes = [synthetic.episode(1), synthetic.episode(2)]
    words = tiny_model.encoder.words
    with torch.no_grad():
        apart = held_out_losses(
            tiny_model, collate(episodes, words, "support"), collate(episodes, words, "query")
        )
        together = losses(tiny_model, collate(episodes, words))
        swapped = [replace(e, support=e.query, query=e.support) for e in episodes]
        on_query = losses(tiny_model, collate(swapped, words)).span
    torch.testing.assert_close(apart.span, on_query)
    torch.testing.assert_close(apart.proto, together.proto)
    torch.testing.assert_close(apart.margin, together.margin)


def test_the_gradient_of_several_tasks_is_the_mean_of_each(tiny_model: SpanProto) -> None:
    episodes = [synthetic.episode(1), synthetic.episode(2, query=5), synthetic.episode(3)]
    together = gradients_of(tiny_model, episodes)
    alone = [gradients_of(tiny_model, [episode]) for episode in episodes]
    assert "extractor.head.query.weight" in together
    assert not any("embeddings" in name for name in together)
    for name in ("extractor.head.query.weight", "extractor.head.key.weight"):
        mean = torch.stack([one[name] for one in alone]).mean(0)
        assert (together[name] - mean).norm() < 0.05 * mean.norm()
        assert (alone[0][name] - mean).norm() > 0.2 * mean.norm()


def test_the_gradient_is_taken_at_the_adapted_weights(tiny_model: SpanProto) -> None:
    episode = synthetic.episode(5)
    inner = AdaptationConfig(steps=2, learning_rate=3e-3, seed=0)
    copy = adapt(tiny_model, [episode], inner).train()
    copy.zero_grad(set_to_none=True)
    words = tiny_model.encoder.words
    parts = (collate([episode], words, part) for part in ("support", "query"))
    held_out_losses(copy, *parts).total(1.0).backward()
    name = "extractor.head.key.weight"
    expected = dict(copy.named_parameters())[name].grad[0]
    torch.testing.assert_close(gradients_of(tiny_model, [episode])[name], expected)


def test_the_model_is_left_where_it_was(tiny_model: SpanProto) -> None:
    before = {name: tensor.clone() for name, tensor in tiny_model.state_dict().items()}
    gradients_of(tiny_model, [synthetic.episode(5)])
    assert all(torch.equal(before[name], t) for name, t in tiny_model.state_dict().items())


def test_an_encoder_that_cannot_be_stacked_takes_one_task_at_a_time(
    tiny_model: SpanProto,
) -> None:
    tiny_model.encoder.transformer.config.model_type = "deberta-v2"
    assert meta_losses(tiny_model, [synthetic.episode(1)]).span.isfinite()
    with pytest.raises(ConfigError, match="episodes_per_step=1"):
        meta_losses(tiny_model, [synthetic.episode(1), synthetic.episode(2)])


def test_meta_learning_lowers_the_loss_after_adaptation(tiny_model: SpanProto) -> None:
    episodes = [synthetic.episode(seed) for seed in range(4)]
    optimizer = torch.optim.AdamW(tiny_model.parameters(), lr=3e-3)
    seen = []
    for step in range(25):
        optimizer.zero_grad(set_to_none=True)
        terms = meta_losses(tiny_model, episodes, step)
        optimizer.step()
        seen.append(terms.total(1.0).item())
    assert seen[-1] < 0.6 * seen[0]
