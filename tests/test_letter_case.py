"""Letter case: what a word's is, where it is seen and where not, and that models keep it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
import transformers
from test_adaptation import TUNINGS, quick, some_episodes, support_loss
from test_encoder import ARCHITECTURES
from torch import Tensor, nn

from spanproto.adaptation import adapt
from spanproto.checkpoint import SETTINGS, load_model, load_spanproto, save_model
from spanproto.data.formats import write_episodes
from spanproto.data.types import Episode, Sentence
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.errors import CheckpointError
from spanproto.letter_case import CasedEmbedding, case_of
from spanproto.model import ModelConfig, SpanProto
from spanproto.objective import ObjectiveConfig
from spanproto.prediction import predict
from spanproto.tokenization import SEPARATOR
from spanproto.training.loop import train
from spanproto.training.settings import DataConfig, RunConfig, TrainingConfig

CASE = "encoder.transformer.embeddings.word_embeddings.case"


def with_case(config: ModelConfig) -> ModelConfig:
    return replace(config, encoder=replace(config.encoder, case=True))


@pytest.fixture
def fresh_model(model_config: ModelConfig) -> SpanProto:
    """The tiny model, told of the case of words but with nothing learned of it."""
    torch.manual_seed(0)
    return SpanProto.from_config(with_case(model_config)).eval()


@pytest.fixture
def cased_model(fresh_model: SpanProto) -> SpanProto:
    """One to which the case of a word makes a difference."""
    nn.init.normal_(vectors(fresh_model.encoder))
    return fresh_model


def vectors(encoder: Encoder) -> nn.Parameter:
    embedding = encoder.transformer.get_input_embeddings()
    assert isinstance(embedding, CasedEmbedding)
    return embedding.case


def states(encoder: Encoder, *sentences: tuple[str, ...]) -> Tensor:
    with torch.no_grad():
        return torch.stack(encoder(encoder.words.batch(sentences)))


def named(episode: Episode) -> Episode:
    """The episode with its entities written as names are."""

    def shown(sentence: Sentence) -> Sentence:
        entity = {at for span in sentence.spans for at in range(span.start, span.end)}
        words = enumerate(sentence.words)
        return replace(
            sentence, words=tuple(w.capitalize() if at in entity else w for at, w in words)
        )

    support, query = (tuple(map(shown, part)) for part in (episode.support, episode.query))
    return replace(episode, support=support, query=query)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (0, ("", "1984", "...", "$5.30", "\u200b")),  # no letters
        (0, ("apple", "l'eau", "x-ray", "3d", "straße", "élan")),
        (1, ("Apple", "O'brien", "X-ray", "Élan", "Москва", '"Apple')),
        (1, ("A", "I", "Z.", "É")),  # a letter alone begins its word
        (1, ("F-16", "3D", "7Up", "B2b")),  # digits are no letters
        (2, ("NASA", "U.S.", "B2B", "AT&T", "ÄRGER", "МИД")),
        (3, ("iPhone", "McDonald", "eBay", "PhD", "NBAs", "O'Brien", "x-Ray")),
        (0, ("日本", "서울", "القاهرة", "दिल्ली", "กรุงเทพ")),  # scripts without capitals
        (3, ("日本A", "日本AB")),  # a capital, but not first
    ],
)
def test_the_case_of_words(case: int, words: tuple[str, ...]) -> None:
    assert [case_of(word) for word in words] == [case] * len(words)


def test_embeddings_by_hand() -> None:
    plain = nn.Embedding(3, 2, _weight=torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    cased = CasedEmbedding(plain)
    with torch.no_grad():
        cased.case.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.5]]))
        # Three sub-tokens a case, and a case counts ten times its vector.
        ids = torch.tensor([[0, 1, 2], [3 + 0, 3 + 2, 6 + 1], [9 + 1, 9 + 2, 6 + 0]])
        found = cased(ids)
    assert found.tolist() == [
        [[1, 2], [3, 4], [5, 6]],
        [[1 + 10, 2], [5 + 10, 6], [3, 4 + 20]],
        [[3 - 30, 4 + 5], [5 - 30, 6 + 5], [1, 2 + 20]],
    ]


def test_embeddings_keep_what_they_were_made_of() -> None:
    plain = nn.Embedding(5, 4, padding_idx=2)
    cased = CasedEmbedding(plain)
    ids = torch.arange(20)
    assert (cased.num_embeddings, cased.embedding_dim, cased.padding_idx) == (5, 4, 2)
    assert torch.equal(cased(ids), plain(ids % 5))  # its vectors begin at 0
    cased(ids).sum().backward()
    assert cased.weight.grad is not None
    assert cased.weight.grad[2].tolist() == [0] * 4  # padding does not learn
    assert cased.case.grad is not None
    assert cased.case.grad.tolist() == [[50.0] * 4] * 3  # five sub-tokens of each, ten times


def test_the_tiny_tokenizer_drops_the_case(tiny_model: SpanProto) -> None:
    """Otherwise it could not be seen below who tells the encoder of it."""
    words = tiny_model.encoder.words
    ids = [words.batch([[word]]).input_ids for word in ("rivera", "Rivera", "RIVERA", "toola")]
    assert torch.equal(ids[0], ids[1])
    assert torch.equal(ids[0], ids[2])
    assert not torch.equal(ids[0], ids[3])


@pytest.mark.parametrize("kind", sorted(ARCHITECTURES))
def test_at_first_case_makes_no_difference(kind: str, tiny_encoder: Path, tmp_path: Path) -> None:
    settings, values = ARCHITECTURES[kind]
    torch.manual_seed(0)
    transformers.AutoModel.from_config(settings(**values)).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny_encoder).save_pretrained(tmp_path)
    plain, cased = (
        Encoder.from_pretrained(EncoderConfig(str(tmp_path), overlap=8, case=case)).eval()
        for case in (False, True)
    )
    sentences = [("The", "old", "RIVERA", "today"), ("McTool", "a"), ("Old",) * 70]
    ids = cased.words.batch(sentences).input_ids
    assert not torch.equal(ids, plain.words.batch(sentences).input_ids)
    assert torch.equal(states(cased, *sentences), states(plain, *sentences))

    nn.init.normal_(vectors(cased))
    assert not torch.allclose(states(cased, *sentences), states(plain, *sentences), atol=1e-3)
    small = [tuple(word.lower() for word in words) for words in sentences]
    assert torch.equal(states(cased, *small), states(plain, *small))


def test_words_of_different_case_differ(tiny_model: SpanProto, cased_model: SpanProto) -> None:
    written = ("rivera", "Rivera", "RIVERA", "riverA")
    told = [states(cased_model.encoder, (word,)) for word in written]
    untold = [states(tiny_model.encoder, (word,)) for word in written]
    assert all(torch.equal(untold[0], other) for other in untold[1:])
    assert torch.equal(told[0], untold[0])
    for number, one in enumerate(told):
        for other in told[:number]:
            assert not torch.allclose(one, other, atol=1e-2)


def test_a_case_has_the_vector_of_its_number(fresh_model: SpanProto) -> None:
    written = {1: "Rivera", 2: "RIVERA", 3: "riverA"}
    for case in written:
        with torch.no_grad():
            vectors(fresh_model.encoder).zero_()[case - 1] = 0.3 * torch.randn(32)
        small = states(fresh_model.encoder, ("rivera",))
        moved = {
            number
            for number, word in written.items()
            if not torch.equal(states(fresh_model.encoder, (word,)), small)
        }
        assert moved == {case}


def test_words_alone_have_a_case(tiny_model: SpanProto, fresh_model: SpanProto) -> None:
    """Padding, what the tokenizer adds and what stands between two texts have none."""
    sentences = [
        ["The", "riverXYZ", SEPARATOR, "METALATOOLB", "old"],
        ["Old"],
        [],
        ["rivera", "%", "\u200b", "Ω"],  # the last three are unknown
        ["TOOLA", "of"] * 80,  # in several windows
    ]
    plain = tiny_model.encoder.words.batch(sentences)
    batch = fresh_model.encoder.words.batch(sentences)
    size = tiny_model.encoder.transformer.config.vocab_size
    assert torch.equal(batch.input_ids % size, plain.input_ids)

    found = (batch.input_ids // size).flatten()
    expected = [[1, 3, 0, 2, 0], [1], [], [0, 0, 0, 1], [2, 0] * 80]
    for row, cases in enumerate(expected):
        for at, case in enumerate(cases):
            first, last = batch.first[row, at], batch.last[row, at]
            assert found[first : last + 1].tolist() == [case] * int(last - first + 1)
    tokenizer = fresh_model.encoder.words.tokenizer
    for special in (tokenizer.pad_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id):
        places = plain.input_ids.flatten() == special
        assert places.any()
        assert not found[places].any()
    assert len(batch.input_ids) > 2


def test_words_seen_before_are_told_anew(tiny_model: SpanProto) -> None:
    words = tiny_model.encoder.words
    sentence = [["Rivera", SEPARATOR, "toola"]]
    before = words.batch(sentence)
    words.tell_case(1000)
    after = words.batch(sentence)
    difference = (after.input_ids - before.input_ids).flatten()
    assert difference[after.first[0]].tolist() == [1000, 0, 0]


def test_a_cased_model_comes_back_as_it_was(
    tiny_model: SpanProto, cased_model: SpanProto, tmp_path: Path
) -> None:
    save_model(cased_model, tmp_path)
    loaded = load_spanproto(tmp_path)
    assert loaded.config == cased_model.config
    assert loaded.state_dict().keys() == tiny_model.state_dict().keys() | {CASE}
    assert torch.equal(loaded.state_dict()[CASE], vectors(cased_model.encoder))
    episode = named(synthetic.episode())
    written = [sentence.words for sentence in episode.query]
    assert torch.equal(states(loaded.encoder, *written), states(cased_model.encoder, *written))
    found = predict(cased_model, [episode])
    assert predict(loaded, [episode]) == found
    assert predict(tiny_model, [episode]) != found
    again = Encoder.from_pretrained(EncoderConfig(str(tmp_path), dropout=0.0, case=True)).eval()
    assert torch.equal(states(again, *written), states(loaded.encoder, *written))


def test_a_model_without_case_is_not_taken_for_one_with_it(
    tiny_model: SpanProto, tmp_path: Path
) -> None:
    save_model(tiny_model, tmp_path)
    with pytest.raises(CheckpointError, match=r"word_embeddings\.case' is missing; .*") as asked:
        load_model(tmp_path, overrides=["encoder.case=true"])
    content = json.loads((tmp_path / SETTINGS).read_text())
    content["model"]["encoder"]["case"] = True
    (tmp_path / SETTINGS).write_text(json.dumps(content))
    with pytest.raises(CheckpointError) as claimed:
        load_model(tmp_path)
    assert str(claimed.value) == str(asked.value)
    assert "\n" not in str(asked.value)


def test_models_from_before_there_was_a_case_have_none(
    tiny_model: SpanProto, tmp_path: Path
) -> None:
    save_model(tiny_model, tmp_path)
    content = json.loads((tmp_path / SETTINGS).read_text())
    del content["model"]["encoder"]["case"]
    (tmp_path / SETTINGS).write_text(json.dumps(content))
    assert not load_model(tmp_path).config.encoder.case


@pytest.mark.parametrize("tuning", TUNINGS, ids=lambda tuning: tuning.tune)
def test_fine_tuning_leaves_the_case_as_it_is(cased_model: SpanProto, tuning) -> None:
    episodes = [named(episode) for episode in some_episodes()]
    before = vectors(cased_model.encoder).detach().clone()
    adapted = adapt(cased_model, episodes, quick(tuning=tuning))
    for model in (cased_model, adapted):
        assert torch.equal(vectors(model.encoder), before)
    assert not vectors(adapted.encoder).requires_grad
    assert vectors(cased_model.encoder).requires_grad
    assert len(predict(adapted, episodes)) == len(episodes)

    alone = adapt(cased_model, episodes[:1], quick(tuning=tuning))
    small = replace(episodes[0], support=synthetic.episode(1).support)
    assert small != episodes[0]
    assert support_loss(alone, episodes[0]) < support_loss(cased_model, episodes[0])
    assert support_loss(alone, episodes[0]) != pytest.approx(support_loss(alone, small), rel=1e-4)


def test_a_fine_tuned_cased_model_can_be_saved(cased_model: SpanProto, tmp_path: Path) -> None:
    episode = named(synthetic.episode(4))
    adapted = adapt(cased_model, [episode], quick())
    save_model(adapted, tmp_path)
    loaded = load_spanproto(tmp_path)
    assert torch.equal(vectors(loaded.encoder), vectors(cased_model.encoder))
    assert support_loss(loaded, episode) == pytest.approx(support_loss(adapted, episode), rel=1e-4)


def test_gradients_reach_the_cases_that_were_seen(fresh_model: SpanProto) -> None:
    model = fresh_model.train()
    model.gradients(model.prepare([named(synthetic.episode(1))], 1), 1, 0)
    gradient = vectors(model.encoder).grad
    assert gradient is not None
    assert gradient.isfinite().all()
    assert gradient.any(1).tolist() == [True, False, False]  # no word of all capitals or mixed

    model.zero_grad()
    model.gradients(model.prepare([synthetic.episode(1)], 1), 1, 0)
    gradient = vectors(model.encoder).grad
    assert gradient is not None
    assert not gradient.any()


def test_training_learns_the_case(model_config: ModelConfig, tmp_path: Path) -> None:
    episodes = [named(synthetic.episode(seed)) for seed in range(4)]
    write_episodes(tmp_path / "train.jsonl", episodes, "token-episodes")
    run = RunConfig(
        model=replace(with_case(model_config), objective=ObjectiveConfig(extractor_steps=0)),
        data=DataConfig(train=[str(tmp_path / "train.jsonl")]),
        training=TrainingConfig(
            output=str(tmp_path / "run"), steps=2, learning_rate=1e-3, device="cpu"
        ),
    )
    learned = vectors(load_spanproto(train(run)).encoder)
    assert learned.any(1).tolist() == [True, False, False]
