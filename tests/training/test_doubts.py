"""What training sentences may leave unlabelled: named in a file, or found by cross-fitting."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic
import torch
from command import refused, spanproto

from spanproto.data.formats import read_sentences, write_sentences
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import ConfigError, DataError
from spanproto.extractor import boundary_matrix, touching, without_doubtful
from spanproto.model import SpanProto
from spanproto.objective import losses
from spanproto.training.cross_fitting import doubts_of_run, unlabelled_entities
from spanproto.training.doubts import Doubts
from spanproto.training.settings import DataConfig, RunConfig, TrainingConfig
from spanproto.training.source import TrainingData


def test_spans_of_a_file_are_doubtful_unless_they_are_labelled(tmp_path: Path) -> None:
    words = ("Ada", "met", "Grace", "in", "London")
    known = Sentence(words, (Span(0, 1, "person"),))
    file = tmp_path / "others.json"
    others = known.with_spans([Span(0, 1, "name"), Span(2, 3, "name"), Span(4, 5, "city")])
    write_sentences(file, [others], "token-json")
    doubts = Doubts.read([str(file)])
    assert doubts.on(known).doubtful == ((2, 3), (4, 5))
    assert doubts.on(Sentence(("Ada",))).doubtful == ()
    assert doubts.on(replace(known, others=((2, 3),))).doubtful == ((4, 5),)
    episode = Episode(("person",), (known,), (known,))
    on_all = doubts.on_episode(episode)
    assert [s.doubtful for s in (*on_all.support, *on_all.query)] == [((2, 3), (4, 5))] * 2
    assert on_all.without_query_spans().query[0].doubtful == ()


def test_training_data_have_the_doubts_that_are_named(tmp_path: Path) -> None:
    sentences = [s for seed in range(8) for s in synthetic.episode(seed).support]
    write_sentences(tmp_path / "train.json", sentences, "token-json")
    doubtful = [s.with_spans([Span(0, 1, "any")]) for s in sentences]
    write_sentences(tmp_path / "doubts.json", doubtful, "token-json")
    config = DataConfig(train=["train.json"], doubtful=["doubts.json"], root=str(tmp_path))
    for sentence in TrainingData(config).sentences():
        labelled = (0, 1) in {(span.start, span.end) for span in sentence.spans}
        assert sentence.doubtful == (() if labelled else ((0, 1),))


def test_cells_that_touch_something_doubtful_go_unless_they_touch_an_entity() -> None:
    like = torch.ones(1, 5, 5).triu().bool()
    gold = boundary_matrix(*(torch.tensor([n]) for n in (0, 0, 2)), like=like)  # words 0 and 1
    doubtful = boundary_matrix(*(torch.tensor([n]) for n in (0, 3, 4)), like=like)  # word 3
    assert touching(doubtful)[0, 2:, 2:].tolist() == [
        [False, True, True],
        [False, True, True],
        [False, False, False],
    ]
    left = without_doubtful(like, gold, doubtful)[0]
    gone = {(i, j) for i, j in (like[0] & ~left).nonzero().tolist()}
    assert gone == {(2, 3), (2, 4), (3, 3), (3, 4)}


def test_nothing_is_learned_from_what_is_doubtful(tiny_model: SpanProto) -> None:
    episode = synthetic.episode(0)
    sentence = next(s for s in episode.support if len(s.words) > 2)
    covered = {w for span in sentence.spans for w in range(span.start, span.end)}
    free = next(w for w in range(len(sentence.words)) if w not in covered)
    doubted = replace(sentence, doubtful=((free, free + 1),))
    support = tuple(doubted if s is sentence else s for s in episode.support)
    found = []
    for given in (episode, replace(episode, support=support)):
        batch = tiny_model.batch([given])
        encoded = tiny_model.encode(batch)
        scores = tiny_model.boundary_scores(encoded)
        scores.retain_grad()
        tiny_model.boundary_scores = lambda _, scores=scores: scores  # type: ignore[method-assign]
        losses(tiny_model, batch, joint=False).span.backward()
        del tiny_model.boundary_scores
        assert scores.grad is not None
        row = given.support.index(doubted if doubted in given.support else sentence)
        found.append(scores.grad[row, free, free].item())
    assert found[0] != 0
    assert found[1] == 0


def run_on(folder: Path, encoder: Path, sentences: list[Sentence], steps: int) -> dict[str, Any]:
    write_sentences(folder / "train.json", sentences, "token-json")
    return {
        "model": {
            "encoder": {"name": str(encoder), "dropout": 0.0},
            "objective": {"extractor_steps": 1, "joint_weight": 0.0},
        },
        "data": {"train": ["train.json"], "root": str(folder), "ways": 2},
        "training": {"output": str(folder / "run"), "steps": steps, "learning_rate": 3e-3},
    }


def test_what_is_left_unlabelled_is_found_by_the_half_that_has_not_seen_it(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    whole = {s.words: s for s in synthetic.corpus(0, 240)}
    partly = {
        words: s.with_spans(s.spans[1:]) if n % 6 == 0 and len(s.spans) > 1 else s
        for n, (words, s) in enumerate(whole.items())
    }
    run = run_on(tmp_path, tiny_encoder, list(partly.values()), steps=80)
    found = doubts_of_run(RunConfig.of(run), 0.3)
    assert [s.words for s in found] == list(partly)
    for sentence in found:
        for span in sentence.spans:
            labelled = partly[sentence.words].spans
            assert not any(shares_words(span, s) for s in labelled)
    hidden = {words: set(s.spans) - set(partly[words].spans) for words, s in whole.items()}
    named = [(span, hidden[s.words]) for s in found for span in s.spans]
    of_hidden = [span for span, there in named if any(shares_words(span, h) for h in there)]
    touched = [
        any(shares_words(span, h) for span in s.spans) for s in found for h in hidden[s.words]
    ]
    assert len(touched) > 10
    assert sum(touched) > 0.7 * len(touched)
    assert len(of_hidden) > 0.7 * len(named)


def shares_words(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def test_doubts_are_written_by_the_command_line(tmp_path: Path, tiny_encoder: Path) -> None:
    run = run_on(tmp_path, tiny_encoder, synthetic.corpus(0, 60), steps=2)
    config, output = tmp_path / "run.yaml", tmp_path / "doubts.json"
    config.write_text(json.dumps(run))
    done = spanproto("data", "doubts", config, "training.steps=1", "--least", 1e-6, "-o", output)
    found = read_sentences(output)
    number = sum(len(sentence.spans) for sentence in found)
    assert done.stdout == f"{output}: {number} doubtful spans in {len(found)} sentences\n"
    assert number
    output.unlink()
    message = refused(spanproto("data", "doubts", config, "--least", 0, "-o", output))
    assert "between 0 and 1" in message
    assert not output.exists()


def test_what_cannot_be_halved_or_asked_is_refused(tmp_path: Path) -> None:
    write_sentences(tmp_path / "few.json", [Sentence(("a",), (Span(0, 1, "x"),))], "token-json")
    data = DataConfig(train=["few.json"], root=str(tmp_path))
    run = RunConfig(data=data, training=TrainingConfig(output=str(tmp_path / "run")))
    with pytest.raises(DataError, match="cannot be halved"):
        doubts_of_run(run, 0.05)
    with pytest.raises(ConfigError, match="no probability"):
        doubts_of_run(run, 1.5)
    with pytest.raises(ConfigError, match="no span extractor"):
        doubts_of_run(RunConfig.of({"method": "protobert"}), 0.05)
    assert not (tmp_path / "run").exists()


def test_labelled_spans_are_not_doubtful(eager_model: SpanProto) -> None:
    sentence = Sentence(("a", "b", "c"), (Span(0, 3, "x"),))
    (found,) = unlabelled_entities(eager_model, [sentence], 1e-6)
    assert found.spans == ()
    (found,) = unlabelled_entities(eager_model, [sentence.with_spans([])], 1e-6)
    assert found.spans
