"""What training sentences may leave unlabelled: named in a file, or found by cross-fitting."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic
import torch
from command import refused, spanproto

from spanproto.batch import SpanPlaces
from spanproto.data.formats import read_sentences, write_episodes, write_sentences
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import ConfigError, DataError
from spanproto.extractor import boundary_matrix, touching, without_doubtful
from spanproto.model import SpanProto
from spanproto.objective import held_out_losses, losses, of_certain, seen_cells
from spanproto.training.cross_fitting import doubts_of_run, unlabelled_entities
from spanproto.training.doubts import Doubts
from spanproto.training.settings import DataConfig, RunConfig, TrainingConfig
from spanproto.training.source import TrainingData, data_files
from spanproto.word_evidence import in_no_span


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


def test_episodes_have_the_doubts_that_are_named(tmp_path: Path) -> None:
    episode = synthetic.episode(0)
    write_episodes(tmp_path / "train.jsonl", [episode], "token-episodes")
    sentence = episode.query[0]
    write_sentences(tmp_path / "d.json", [sentence.with_spans([Span(0, 1, "any")])], "token-json")
    config = DataConfig(train=["train.jsonl"], doubtful=["d.json"], root=str(tmp_path))
    (first, *others) = TrainingData(config).episodes(0)[0].query
    assert first.doubtful == ((0, 1),)
    assert not any(other.doubtful for other in others)
    assert [path.name for path in data_files(config)] == ["train.jsonl", "d.json"]


def test_doubts_on_other_sentences_are_refused(tmp_path: Path) -> None:
    write_sentences(tmp_path / "train.json", synthetic.corpus(0, 6), "token-json")
    write_sentences(tmp_path / "d.json", [Sentence(("other",))], "token-json")
    config = DataConfig(train=["train.json"], doubtful=["d.json"], root=str(tmp_path))
    with pytest.raises(DataError, match=r"d\.json: none of its sentences is one of data\.train"):
        TrainingData(config)


def test_a_method_that_does_not_heed_doubts_refuses_them() -> None:
    with pytest.raises(ConfigError, match=r"protobert .* drop data\.doubtful"):
        RunConfig.of({"method": "protobert", "data": {"doubtful": ["d.json"]}})


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


def test_a_doubtful_span_goes_even_if_it_shares_a_word_with_an_entity() -> None:
    like = torch.ones(1, 4, 4).triu().bool()
    gold = boundary_matrix(*(torch.tensor([n]) for n in (0, 1, 2)), like=like)  # word 1
    longer = boundary_matrix(*(torch.tensor([n]) for n in (0, 1, 3)), like=like)  # words 1 and 2
    left = without_doubtful(like, gold, longer)[0]
    assert not left[1, 2]
    assert left[1, 1]
    assert left[0, 1]
    assert left[1, 3]
    assert without_doubtful(like, gold, gold)[0, 1, 1]


def doubted(episode: Episode) -> Episode:
    """The episode, a free word of its first support and its first query sentence doubtful."""

    def first(sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
        sentence, *rest = sentences
        covered = {w for span in sentence.spans for w in range(span.start, span.end)}
        free = next(w for w in range(len(sentence.words)) if w not in covered)
        return (replace(sentence, doubtful=((free, free + 1),)), *rest)

    return replace(episode, support=first(episode.support), query=first(episode.query))


def test_nothing_is_learned_from_what_is_doubtful(tiny_model: SpanProto) -> None:
    episode = doubted(synthetic.episode(0))
    batch = tiny_model.batch([episode])
    encoded = tiny_model.encode(batch)
    seen = seen_cells(tiny_model, encoded, tiny_model.gold_matrix(encoded))
    for row, sentence in ((0, episode.support[0]), (batch.query_start, episode.query[0])):
        ((start, end),) = sentence.doubtful
        assert encoded.cells[row, start, end - 1]
        assert not seen.cells[row, start, end - 1]
    unsure = in_no_span(batch, batch.support_spans, slice(None))
    assert not unsure[0, episode.support[0].doubtful[0][0]]


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_losses_are_of_what_is_not_doubtful(tiny_model: SpanProto, weight: float) -> None:
    tiny_model.config = replace(
        tiny_model.config, objective=replace(tiny_model.config.objective, word_weight=weight)
    )
    whole = synthetic.episode(0)
    found = []
    for episode in (whole, doubted(whole)):
        batch = tiny_model.batch([episode])
        support, query = (tiny_model.batch([episode], part) for part in ("support", "query"))
        found.append(
            (
                losses(tiny_model, batch, word_weight=weight),
                held_out_losses(tiny_model, support, query),
            )
        )
    for without, with_doubts in zip(*found, strict=True):
        assert with_doubts.span < without.span
        assert (with_doubts.word == without.word) == (weight == 0)


@pytest.mark.parametrize("from_query", [False, True])
def test_boundaries_can_be_learned_from_sentences_without_doubts_alone(
    eager_model: SpanProto, from_query: bool
) -> None:
    """The mean over the others; types are learned from all."""
    episode = doubted(synthetic.episode(0))
    skipping = eager_model.with_settings(
        replace(
            eager_model.config, objective=replace(eager_model.config.objective, doubtful="skip")
        )
    )
    batch = skipping.batch([episode])
    encoded = skipping.encode(batch)
    gold = skipping.gold_matrix(encoded)
    scores = skipping.boundary_scores(encoded)
    apart = skipping.extractor.loss(scores, gold, encoded.cells)
    sentences = [*range(1, len(episode.support))]
    if from_query:
        sentences += range(batch.query_start + 1, batch.query_start + len(episode.query))
    found = losses(skipping, batch, extract_from_query=from_query)
    assert found.span.item() == pytest.approx(apart[sentences].mean().item(), rel=1e-5)
    spared = losses(eager_model, batch, extract_from_query=from_query)
    assert spared.span.item() != pytest.approx(found.span.item(), rel=1e-3)
    assert spared.proto.item() == pytest.approx(found.proto.item())


def test_without_a_sentence_that_is_certain_no_boundary_is_learned(tiny_model: SpanProto) -> None:
    batch = tiny_model.batch([doubted(synthetic.episode(0))])
    everywhere = torch.arange(len(batch.sentence_weight))
    batch = replace(batch, doubtful=SpanPlaces(everywhere, everywhere * 0, everywhere * 0 + 1))
    assert of_certain(batch.sentence_weight, batch).tolist() == [0.0] * len(everywhere)
    nothing = SpanPlaces(*(torch.zeros(0, dtype=torch.long) for _ in range(3)))
    certain = of_certain(batch.support_weight, replace(batch, doubtful=nothing))
    torch.testing.assert_close(certain, batch.support_weight)


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


def test_a_run_that_validates_on_another_format_can_be_asked(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    run = run_on(tmp_path, tiny_encoder, synthetic.corpus(0, 40), steps=1)
    write_episodes(tmp_path / "valid.jsonl", [synthetic.episode(0)], "token-episodes")
    run["data"]["valid"] = ["valid.jsonl"]
    assert len(doubts_of_run(RunConfig.of(run), 0.5)) == 40


def test_what_is_wrong_with_the_output_is_known_before_the_training(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    run = run_on(tmp_path, tiny_encoder, synthetic.corpus(0, 40), steps=1)
    config = tmp_path / "run.yaml"
    config.write_text(json.dumps(run))
    for output, form in (
        ("d.json", "label-studio"),
        ("d.json", "nonsense"),
        ("run.yaml/d", "conll"),
    ):
        refused(spanproto("data", "doubts", config, "--to", form, "-o", tmp_path / output))
    assert not (tmp_path / "run").exists()


def test_what_cannot_be_halved_or_asked_is_refused(tmp_path: Path) -> None:
    write_sentences(tmp_path / "few.json", [Sentence(("a",), (Span(0, 1, "x"),))], "token-json")
    data = DataConfig(train=["few.json"], root=str(tmp_path))
    run = RunConfig(data=data, training=TrainingConfig(output=str(tmp_path / "run")))
    with pytest.raises(DataError, match="cannot be halved"):
        doubts_of_run(run, 0.05)
    with pytest.raises(ConfigError, match="no probability"):
        doubts_of_run(run, 1.5)
    mixed = replace(run, data=replace(data, mixed=True))
    with pytest.raises(ConfigError, match="may be labelled in another"):
        doubts_of_run(mixed, 0.05)
    write_episodes(tmp_path / "few.jsonl", [synthetic.episode(0)], "token-episodes")
    with pytest.raises(ConfigError, match="holds episodes"):
        doubts_of_run(replace(run, data=replace(data, train=["few.jsonl"])), 0.05)
    with pytest.raises(ConfigError, match="no span extractor"):
        doubts_of_run(RunConfig.of({"method": "protobert"}), 0.05)
    assert not (tmp_path / "run").exists()


def test_labelled_spans_are_not_doubtful(eager_model: SpanProto) -> None:
    sentence = Sentence(("a", "b", "c"), (Span(0, 3, "x"),))
    (found,) = unlabelled_entities(eager_model, [sentence], 1e-6)
    assert found.spans == ()
    (found,) = unlabelled_entities(eager_model, [sentence.with_spans([])], 1e-6)
    assert found.spans
