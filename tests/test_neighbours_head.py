"""The correction of a span's score by the cells around: by hand, how far it sees, and in models."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_adaptation import TUNINGS, quick, some_episodes, support_loss
from test_prediction import assert_same
from torch import Tensor, nn

from spanproto.adaptation import adapt, predict_adapted
from spanproto.checkpoint import SETTINGS, load_model, load_spanproto, save_model
from spanproto.errors import CheckpointError, ConfigError
from spanproto.extractor import ExtractorConfig, Neighbours, SpanExtractor, span_cells
from spanproto.model import ModelConfig, SpanProto
from spanproto.prediction import predict

WORDS = 9


@pytest.fixture
def fresh_model(model_config: ModelConfig) -> SpanProto:
    """The tiny model with a correction that is still 0."""
    torch.manual_seed(0)
    extractor = replace(model_config.extractor, neighbours=True)
    return SpanProto.from_config(replace(model_config, extractor=extractor)).eval()


@pytest.fixture
def model(fresh_model: SpanProto) -> SpanProto:
    """One that corrects."""
    return corrected(fresh_model)


def corrected(module: SpanProto | SpanExtractor) -> SpanProto | SpanExtractor:
    """The module with a correction that matters."""
    extractor = module.extractor if isinstance(module, SpanProto) else module
    torch.manual_seed(1)
    for parameter in extractor.neighbours.parameters():
        nn.init.normal_(parameter, std=0.2)
    return module


def any_pair_scores(scores: Tensor) -> Neighbours:
    """A correction whose one picture has the given scores (L, L), for states that are unit vectors.

    Its convolutions let every cell around count.
    """
    size = len(scores)
    neighbours = Neighbours(size, channels=1, width=size).double()
    torch.manual_seed(0)
    with torch.no_grad():
        neighbours.start.weight.copy_(torch.eye(size))
        neighbours.end.weight.copy_(scores * size**0.5)
        for layer in (neighbours.start, neighbours.end):
            layer.bias.zero_()
        for layer in (neighbours.around, neighbours.correction):
            layer.weight.uniform_(0.5, 1.5)
            layer.bias.fill_(0.5)
    return neighbours


def corrections(scores: Tensor, words: int = WORDS) -> Tensor:
    """What is added to the spans (L, L) of a sentence of so many words; 0 elsewhere."""
    units = torch.eye(len(scores), dtype=scores.dtype)[None]
    cells = span_cells(torch.arange(len(scores))[None] < words)
    with torch.no_grad():
        return any_pair_scores(scores)(units, units, cells)[0].masked_fill(~cells[0], 0.0)


def random_scores(seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(WORDS, WORDS, generator=generator, dtype=torch.float64)


def test_the_correction_by_hand() -> None:
    neighbours = Neighbours(1, channels=1, width=4)
    with torch.no_grad():
        for layer in (neighbours.start, neighbours.end):
            layer.weight.fill_(1.0)
            layer.bias.zero_()
        # A cell and the one to its right, for one more word; then 5, and less twice what that gives
        # for the cell below, for one word fewer.
        neighbours.around.weight.copy_(torch.tensor([[[[0, 0, 0], [0, 1, 1], [0, 0, 0]]]]))
        neighbours.around.bias.zero_()
        neighbours.correction.weight.copy_(torch.tensor([[[[0, 0, 0], [0, 1, 0], [0, -2, 0]]]]))
        neighbours.correction.bias.fill_(5.0)
        start = torch.tensor([[[10.0], [20.0], [30.0], [99.0]]])
        end = torch.tensor([[[0.5], [1.0], [1.5], [99.0]]])
        cells = span_cells(torch.tensor([[True, True, True, False]]))
        found = neighbours(start, end, cells)[0]
    # Pair scores 4 * h_i * g_j / sqrt(4), of spans alone:
    #   10 20 30         30  50 30
    #      40 60   then     100 60   and gelu leaves numbers so large as they are.
    #         90                90
    first = [30 + 5, 50 - 200 + 5, 30 - 120 + 5]
    second, third = [100 + 5, 60 - 180 + 5], [90 + 5]
    assert found[0, :3].tolist() == first
    assert found[1, 1:3].tolist() == second
    assert found[2, 2:3].tolist() == third


@pytest.mark.parametrize("head", ["paper", "rotary"])
def test_at_first_nothing_is_corrected(head) -> None:
    torch.manual_seed(0)
    plain = SpanExtractor(8, ExtractorConfig(head=head))
    extractor = SpanExtractor(8, ExtractorConfig(head=head, neighbours=True))
    extractor.head.load_state_dict(plain.head.state_dict())
    start, end = torch.randn(2, 3, 6, 8)
    cells = span_cells(torch.ones(3, 6, dtype=torch.bool))
    with torch.no_grad():
        expected = plain(start, end, cells)
        assert torch.equal(extractor(start, end, cells), expected)
        moved = corrected(extractor)(start, end, cells) - expected
    assert (moved.abs() > 1e-4)[cells].all()


@pytest.mark.parametrize("cell", [(2, 6), (0, 0), (4, 4), (0, 8), (7, 8)])
def test_a_cell_is_seen_from_two_away_and_no_further(cell: tuple[int, int]) -> None:
    scores = random_scores()
    before = corrections(scores)
    scores[cell] += 1.0
    changed = (corrections(scores) - before).abs() > 1e-9
    row, column = cell
    near = torch.zeros_like(changed)
    near[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3] = True
    assert torch.equal(changed, near.triu())


def test_what_is_no_span_is_not_seen() -> None:
    scores = random_scores()
    other = torch.where(torch.ones_like(scores).triu() > 0, scores, random_scores(1) - 50)
    assert torch.equal(corrections(other), corrections(scores))
    beyond = scores.clone()
    beyond[:, 6:] += 50
    beyond[6:] -= 70
    assert torch.equal(corrections(beyond, words=6), corrections(scores, words=6))
    assert not torch.equal(corrections(beyond), corrections(scores))


@given(seed=st.integers(0, 1000), words=st.integers(1, 6), padding=st.integers(1, 4))
def test_padding_changes_no_score(seed: int, words: int, padding: int) -> None:
    extractor = corrected(SpanExtractor(4, ExtractorConfig(neighbours=True))).double()
    generator = torch.Generator().manual_seed(seed)
    shape = (2, 2, words + padding, 4)
    start, end = 5 * torch.randn(shape, generator=generator, dtype=torch.float64)
    mask = torch.ones(2, words + padding, dtype=torch.bool)
    mask[0, words:] = False
    with torch.no_grad():
        padded = extractor(start, end, span_cells(mask))[:1, :words, :words]
        start, end, mask = start[:1, :words], end[:1, :words], mask[:1, :words]
        alone = extractor(start, end, span_cells(mask))
    torch.testing.assert_close(padded.triu(), alone.triu())


def test_scores_do_not_depend_on_the_batch(model: SpanProto) -> None:
    long = synthetic.sentence(random.Random(0), synthetic.TYPES, entities=6)
    episode = synthetic.episode(1, query=1)
    beside = replace(episode, query=(*episode.query, replace(long, spans=())))
    with torch.no_grad():
        scores = [
            model.boundary_scores(model.encode(model.batch([each], "query")))[0]
            for each in (episode, beside)
        ]
    size = len(episode.query[0].words)
    assert len(scores[1]) > size + 2
    torch.testing.assert_close(
        scores[1][:size, :size].triu(), scores[0].triu(), atol=1e-4, rtol=1e-4
    )


def test_a_correction_needs_scores() -> None:
    with pytest.raises(ConfigError, match=r"extractor\.neighbours=false"):
        ExtractorConfig(head="none", neighbours=True)


def test_all_of_it_is_trained(fresh_model: SpanProto) -> None:
    model = fresh_model.train()
    neighbours = model.extractor.neighbours
    batch = model.prepare(some_episodes(), 1)
    optimizer = torch.optim.SGD(neighbours.parameters(), lr=0.01)
    spans = []
    for _ in range(3):
        model.zero_grad()
        spans.append(model.gradients(batch, 1, 0)["span"].item())
        optimizer.step()
    assert spans[2] < spans[1] < spans[0]
    for parameter in neighbours.parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all()
        assert parameter.grad.any()


@pytest.mark.parametrize("tuning", TUNINGS, ids=lambda tuning: tuning.tune)
def test_many_at_once_are_the_same_as_one_by_one(model: SpanProto, tuning) -> None:
    episodes, config = some_episodes(), quick(tuning=tuning)
    together = adapt(model, episodes, config)
    found = predict(together, episodes)
    assert any(sentence.candidates for sentences in found for sentence in sentences)
    for number, episode in enumerate(episodes):
        alone = adapt(model, [episode], config)
        assert support_loss(alone, episode) < support_loss(model, episode)
        assert_same([found[number]], predict(alone, [episode]))
    assert found != predict(model, episodes)


def test_predictions_do_not_depend_on_how_many_are_adapted_at_once(model: SpanProto) -> None:
    episodes, config = some_episodes(), quick()
    apart = list(predict_adapted(model, episodes, replace(config, episodes_at_once=1)))
    assert_same(list(predict_adapted(model, episodes, config)), apart)


def test_a_model_comes_back_as_it_was(model: SpanProto, tmp_path: Path) -> None:
    save_model(model, tmp_path)
    loaded = load_spanproto(tmp_path)
    assert loaded.config == model.config
    assert loaded.config.extractor.neighbours
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name])
    episodes = some_episodes()
    assert predict(loaded, episodes) == predict(model, episodes)


def test_a_fine_tuned_model_comes_back_too(model: SpanProto, tmp_path: Path) -> None:
    episode = synthetic.episode(4)
    adapted = adapt(model, [episode], quick())
    save_model(adapted, tmp_path)
    assert_same(predict(load_spanproto(tmp_path), [episode]), predict(adapted, [episode]))


def test_a_model_without_a_correction_is_not_taken_for_one_with_it(
    tiny_model: SpanProto, tmp_path: Path
) -> None:
    save_model(tiny_model, tmp_path)
    with pytest.raises(CheckpointError, match=r"neighbours\.\S+ is missing"):
        load_model(tmp_path, overrides=["extractor.neighbours=true"])
    content = json.loads((tmp_path / SETTINGS).read_text())
    del content["model"]["extractor"]["neighbours"]  # from before there were any
    (tmp_path / SETTINGS).write_text(json.dumps(content))
    assert not load_spanproto(tmp_path).config.extractor.neighbours
