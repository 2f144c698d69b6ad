"""Algorithm 1's losses for a batch of episodes: by hand, by property, and without waiting."""

import random
from dataclasses import replace

import pytest
import synthetic
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import NoWaiting

from spanproto.batch import collate
from spanproto.classifier import ClassifierConfig, squared_distances
from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.extractor import ExtractorConfig, two_sided_span_loss
from spanproto.model import ModelConfig, SpanProto
from spanproto.objective import Losses, losses, near_gold


def loss_values(model: SpanProto, episodes: list[Episode], **options: bool) -> Losses:
    with torch.no_grad():
        return losses(model, collate(episodes, model.encoder.words), **options)


def assert_same(left: Losses, right: Losses) -> None:
    for one, other in zip(left, right, strict=True):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=2e-5)


def configured(model: SpanProto, **classifier: object) -> SpanProto:
    """The same weights under other classifier settings."""
    config = replace(model.config, classifier=replace(model.config.classifier, **classifier))
    other = SpanProto(model.encoder, config).eval()
    other.load_state_dict(model.state_dict())
    return other


def test_the_losses_of_one_episode_step_by_step(tiny_model: SpanProto) -> None:
    """Algorithm 1 as a plain loop over sentences and spans gives the same three numbers."""
    model = configured(tiny_model, margin=30.0)
    model.extractor.config = replace(model.extractor.config, max_candidates=1000)
    episode = synthetic.episode(3)
    encoder, words = model.encoder, model.encoder.words

    def states(sentence: Sentence):
        start, end = encoder(words.batch([sentence.words]))
        return start[0], end[0]

    def represent(sentence: Sentence, start: int, end: int):
        first, last = states(sentence)
        project = model.classifier.projection
        return project(first[start]) + project(last[end - 1])

    def scores(sentence: Sentence):
        first, last = states(sentence)
        cells = torch.ones(1, len(first), len(first), dtype=torch.bool).triu()
        return model.extractor(first[None], last[None], cells)[0]

    def gold(sentence: Sentence):
        length = len(sentence.words)
        matrix = torch.zeros(length, length, dtype=torch.bool)
        for span in sentence.spans:
            matrix[span.start, span.end - 1] = True
        return matrix

    with torch.no_grad():
        span = 0.0
        for sentence in episode.support:
            cells = torch.ones_like(gold(sentence)).triu()
            loss = two_sided_span_loss(scores(sentence)[None], gold(sentence)[None], cells[None])
            span += loss.item() / len(episode.support)
        centres = {}
        for label in episode.types:
            members = [
                represent(sentence, *mention[:2])
                for sentence in episode.support
                for mention in sentence.spans
                if mention.label == label
            ]
            centres[label] = torch.stack(members).mean(0)
        proto = margin = 0.0
        false_count = 0
        for sentence in episode.query:
            terms = []
            for mention in sentence.spans:
                here = represent(sentence, mention.start, mention.end)
                logits = torch.stack([-(here - c).square().sum() for c in centres.values()])
                terms.append(-logits.log_softmax(0)[episode.types.index(mention.label)].item())
            proto += sum(terms) / len(terms) / len(episode.query)
            cells = [
                (i, j)
                for i in range(len(sentence.words))
                for j in range(i, len(sentence.words))
                if scores(sentence)[i, j] >= 0 and not gold(sentence)[i, j]
            ]
            hinges = [
                max(0.0, 30.0 - (represent(sentence, i, j + 1) - c).norm().item())
                for i, j in cells
                for c in centres.values()
            ]
            false_count += len(cells)
            margin += sum(hinges) / max(1, len(hinges)) / len(episode.query)
    assert false_count > 0
    measured = loss_values(model, [episode])
    assert measured.span.item() == pytest.approx(span, rel=1e-4)
    assert measured.proto.item() == pytest.approx(proto, rel=1e-3)
    assert measured.margin.item() == pytest.approx(margin, rel=1e-4)


@given(seed=st.integers(0, 50), order=st.permutations(range(3)))
@settings(max_examples=10, deadline=None)
def test_the_order_of_support_sentences_changes_nothing(shared_model, seed, order) -> None:
    episode = synthetic.episode(seed)
    permuted = replace(episode, support=tuple(episode.support[i] for i in order))
    assert_same(loss_values(shared_model, [episode]), loss_values(shared_model, [permuted]))


@given(seed=st.integers(0, 50), order=st.permutations(range(3)))
@settings(max_examples=10, deadline=None)
def test_the_names_and_order_of_types_change_nothing(shared_model, seed, order) -> None:
    episode = synthetic.episode(seed)
    names = {label: f"type-{order[i]}" for i, label in enumerate(episode.types)}

    def renamed(sentence: Sentence) -> Sentence:
        return sentence.with_spans(s._replace(label=names[s.label]) for s in sentence.spans)

    other = Episode(
        tuple(sorted(names.values())),
        tuple(map(renamed, episode.support)),
        tuple(map(renamed, episode.query)),
    )
    assert_same(loss_values(shared_model, [episode]), loss_values(shared_model, [other]))


@given(seed=st.integers(0, 50), count=st.integers(2, 4))
@settings(max_examples=10, deadline=None)
def test_a_batch_of_episodes_is_the_mean_of_its_episodes(shared_model, seed, count) -> None:
    """Also says that padding and batch composition change nothing: lengths and types differ."""
    rng = random.Random(seed)
    episodes = [
        synthetic.episode(
            rng.randrange(999), rng.sample(synthetic.TYPES, rng.randint(1, 4)), rng.randint(1, 4)
        )
        for _ in range(count)
    ]
    alone = [loss_values(shared_model, [episode]) for episode in episodes]
    means = Losses(*(torch.stack(terms).mean() for terms in zip(*alone, strict=True)))
    assert_same(loss_values(shared_model, episodes), means)


def test_pretraining_leaves_the_classifier_alone(tiny_model: SpanProto) -> None:
    batch = collate([synthetic.episode()], tiny_model.encoder.words)
    terms = losses(tiny_model, batch, joint=False)
    terms.span.backward()
    assert terms.proto == terms.margin == 0
    assert all(p.grad is None for p in tiny_model.classifier.parameters())


def test_query_sentences_teach_the_extractor_on_request(tiny_model: SpanProto) -> None:
    episode = synthetic.episode()
    everything = replace(episode, support=episode.support + episode.query)
    on_all = loss_values(tiny_model, [episode], extract_from_query=True).span
    torch.testing.assert_close(on_all, loss_values(tiny_model, [everything]).span)
    assert loss_values(tiny_model, [episode]).span != on_all


def test_a_type_without_support_is_not_trained_on(tiny_model: SpanProto) -> None:
    episode = synthetic.episode(1)
    extra = Sentence(("the", "toola", "near"), (Span(1, 2, "tool"),))
    known = replace(episode, query=(*episode.query, extra.unlabelled()))
    unknown = replace(known, types=(*known.types, "tool"), query=(*episode.query, extra))
    one, other = (configured(tiny_model, margin_loss=False) for _ in range(2))
    assert_same(loss_values(one, [known]), loss_values(other, [unknown]))


def test_no_margin_loss_without_false_positives_or_when_it_is_off(tiny_model: SpanProto) -> None:
    never = replace(tiny_model.config, extractor=ExtractorConfig(threshold=1.0))
    silent = SpanProto(tiny_model.encoder, never).eval()
    wide = configured(tiny_model, margin=100.0)
    assert loss_values(silent, [synthetic.episode()]).margin == 0
    assert loss_values(configured(wide, margin_loss=False), [synthetic.episode()]).margin == 0
    assert loss_values(wide, [synthetic.episode()]).margin > 0


def test_near_misses_are_those_within_one_word_at_both_ends() -> None:
    gold = torch.zeros(1, 6, 6, dtype=torch.bool)
    gold[0, 2, 3] = True
    near = {tuple(cell) for cell in near_gold(gold)[0].nonzero().tolist()}
    assert near == {(i, j) for i in (1, 2, 3) for j in (2, 3, 4)}


def test_released_false_positives_spare_near_misses(tiny_model: SpanProto) -> None:
    # One query sentence, entirely gold: every other span of its two words is a near miss.
    sentence = Sentence(("rivera", "riverb"), (Span(0, 2, "river"),))
    episode = Episode(("river",), (sentence,), (sentence,))
    everything = replace(tiny_model.config, extractor=ExtractorConfig(threshold=0.0))
    for rule, expected in (("all", True), ("released", False)):
        config = replace(everything, classifier=ClassifierConfig(margin=1e3, false_positives=rule))
        model = SpanProto(tiny_model.encoder, config).eval()
        assert bool(loss_values(model, [episode]).margin > 0) is expected


def test_empty_query_spans_and_sentences_without_words_are_fine(tiny_model: SpanProto) -> None:
    episode = synthetic.episode()
    bare = replace(episode, query=(Sentence(("old", "tool")), Sentence(())))
    terms = loss_values(tiny_model, [bare])
    assert terms.proto == 0
    assert all(term.isfinite() for term in terms)


@pytest.mark.parametrize("candidates", ["threshold", "released"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_training_step_never_waits_for_the_device(tiny_encoder, candidates, attention) -> None:
    config = ModelConfig(
        encoder=EncoderConfig(name=str(tiny_encoder)),
        extractor=ExtractorConfig(candidates=candidates),
        classifier=ClassifierConfig(false_positives="released"),
    )
    encoder = Encoder.from_pretrained(config.encoder)
    encoder.transformer.set_attn_implementation(attention)
    model = SpanProto(encoder, config).train()
    batch = collate([synthetic.episode(1), synthetic.episode(2)], model.encoder.words)
    with NoWaiting():
        terms = losses(model, batch, extract_from_query=True)
        (terms.span + terms.proto + terms.margin).backward()
    assert model.encoder.transformer.embeddings.word_embeddings.weight.grad.isfinite().all()


def test_squared_distances_agree_with_differences() -> None:
    torch.manual_seed(1)
    spans, centres = torch.randn(7, 5), torch.randn(3, 5)
    direct = (spans[:, None] - centres).square().sum(-1)
    torch.testing.assert_close(squared_distances(spans, centres), direct)


def test_entities_of_other_types_are_to_be_found_and_rejected(tiny_model: SpanProto) -> None:
    """They are gold for the extractor, and false positives for the classifier."""
    model = configured(tiny_model, margin=30.0)
    whole = synthetic.episode(3)
    part = whole.for_types(whole.types[:1])
    unlabelled = replace(
        part,
        support=tuple(replace(s, others=()) for s in part.support),
        query=tuple(replace(s, others=()) for s in part.query),
    )
    everything, some, none = (
        loss_values(model, [episode], extract_from_query=True)
        for episode in (whole, part, unlabelled)
    )
    torch.testing.assert_close(some.span, everything.span)
    assert some.span != none.span
    torch.testing.assert_close(some.margin, none.margin)


def test_leaving_one_out_makes_a_lone_shot_no_harder_and_others_so(tiny_model: SpanProto) -> None:
    def proto(episode: Episode, leave_one_out: bool) -> float:
        batch = collate([episode], tiny_model.encoder.words, "support")
        return losses(tiny_model, batch, leave_one_out=leave_one_out).proto.item()

    lone = Episode(
        ("river", "tool"),
        (
            Sentence(("rivera",), (Span(0, 1, "river"),)),
            Sentence(("toola",), (Span(0, 1, "tool"),)),
        ),
        (),
    )
    assert proto(lone, True) == pytest.approx(proto(lone, False), rel=1e-4)
    several = replace(synthetic.episode(3), query=())
    assert proto(several, True) > proto(several, False)


def test_the_types_of_the_whole_step_can_be_rivals(tiny_model: SpanProto) -> None:
    """Those of other episodes count but for a span's own, which may be there as well."""

    def episode(one: str, other: str) -> Episode:
        support = tuple(
            Sentence((f"{label}a", "old"), (Span(0, 1, label),)) for label in (one, other)
        )
        return Episode((one, other), support, (Sentence((f"{one}b",), (Span(0, 1, one),)),))

    episodes = [episode("river", "tool"), episode("river", "bird"), episode("bird", "river")]
    batch = collate(episodes, tiny_model.encoder.words)
    assert batch.label.tolist() == [0, 1, 0, 2, 2, 0]
    rivals = [{0, 1, 3, 4}, {2, 1, 3, 4}, {4, 0, 1, 2, 5}]  # with the span's own slot
    with torch.no_grad():
        states = tiny_model.mention_states(tiny_model.encode(batch))
        squared = tiny_model.place(states, batch.query_spans, tiny_model.prototypes(states)).squared
        terms = [
            -(-row[sorted(slots)]).log_softmax(0)[sorted(slots).index(own)]
            for row, slots, own in zip(squared, rivals, (0, 2, 4), strict=True)
        ]
        whole = losses(tiny_model, batch, rivals="step")
        alone = losses(tiny_model, batch)
    torch.testing.assert_close(whole.proto, torch.stack(terms).mean())
    assert whole.proto > alone.proto
    assert_same(whole._replace(proto=alone.proto), alone)
