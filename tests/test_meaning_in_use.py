"""Models, decisions, recognisers and commands that ask what spans mean, and who is asked."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from asking import TUNED, asking, everything, weighing
from command import refused, spanproto

from spanproto import FewShotNER
from spanproto.calibration import decision_of, fit_decision, gather_evidence
from spanproto.checkpoint import load_model, save_model
from spanproto.data.formats import write_episodes
from spanproto.data.types import Sentence, Span
from spanproto.decision import DEFAULT_EVIDENCE, DecisionConfig
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.errors import DataError
from spanproto.judging import Candidate, judge, judge_by_settings
from spanproto.methods import method_named
from spanproto.model import SpanProto
from spanproto.observation import Observation, observe
from spanproto.support import Prototypes, support_prototypes

WITH_MEANING = (*DEFAULT_EVIDENCE, "meaning")


# Fine-tuned and trained models


@pytest.mark.parametrize("recall", [False, True])
def test_stacked_is_as_one_by_one(tiny_model: SpanProto, pretrained: Encoder, recall: bool) -> None:
    model = asking(tiny_model, pretrained, meaning_weight=0.5)
    tuned = replace(TUNED, recall=recall)
    stacked = judge(model.adapted(synthetic.UNEVEN, tuned), synthetic.UNEVEN)
    for episode, found in zip(synthetic.UNEVEN, stacked, strict=True):
        alone = judge(model.adapted([episode], tuned), [episode])
        for one, other in zip(everything([found]), everything(alone), strict=True):
            assert one[:4] == other[:4]
            assert one.meanings == pytest.approx(other.meanings, abs=1e-4)
            assert one.scores == pytest.approx(other.scores, abs=2e-3)


def test_several_decisions_look_but_once(
    tiny_model: SpanProto, pretrained: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each says what it says alone; what none of them changes is observed once."""
    model = asking(tiny_model, pretrained, meaning_weight=0.5)
    model = model.adapted(synthetic.UNEVEN, replace(TUNED, recall=True))
    decisions = [
        {},
        {"threshold": 0.4, "meaning_weight": 0.1},
        {"names_in_meaning": 1.0},
        {"even_types": True},
        {"words_weight": 0.3},
        {"floor": 0.9},
    ]
    settings = [
        replace(model.config, decision=replace(model.config.decision, **changed))
        for changed in decisions
    ]
    alone = [judge(model.with_settings(config), synthetic.UNEVEN) for config in settings]
    looks: list[bool] = []

    def observed(*given: object, **options: bool) -> Observation:
        looks.append(True)
        return observe(*given, **options)

    monkeypatch.setattr("spanproto.judging.observe", observed)
    assert judge_by_settings(model, settings, synthetic.UNEVEN) == alone
    assert len(looks) == 3  # words are counted, and a floor is higher
    assert len({repr(judged) for judged in alone}) == len(decisions)


def test_fine_tuning_changes_no_meaning(tiny_model: SpanProto, pretrained: Encoder) -> None:
    model = asking(tiny_model, pretrained)
    before, tuned = (
        {(c.start, c.end, c.meanings): c.boundary_score for c in everything(judge(each, [episode]))}
        for episode in synthetic.UNEVEN[:1]
        for each in (model, model.adapted([episode], TUNED))
    )
    shared = before.keys() & tuned.keys()
    assert len(shared) > 10
    assert all(before[place] != pytest.approx(tuned[place], abs=1e-6) for place in shared)


def test_training_leaves_the_asked_encoder_alone(
    tiny_model: SpanProto, pretrained: Encoder
) -> None:
    kept = {name: tensor.clone() for name, tensor in pretrained.state_dict().items()}
    keys = list(tiny_model.state_dict())
    parameters = [name for name, _ in tiny_model.named_parameters()]
    own = tiny_model.encoder.transformer.get_input_embeddings().weight
    first = own.detach().clone()
    tiny_model.ask_meaning(pretrained)
    model = tiny_model.train()
    assert not pretrained.training
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in (1, 2):
        model.gradients(model.prepare(synthetic.UNEVEN, step), step, 0)
        optimizer.step()
    assert not torch.equal(own, first)
    model.adapted(synthetic.UNEVEN, TUNED)
    assert list(model.state_dict()) == keys
    assert [name for name, _ in model.named_parameters()] == parameters
    for name, tensor in pretrained.state_dict().items():
        assert torch.equal(tensor, kept[name])


def test_a_model_is_saved_and_loaded_without_it(
    tiny_model: SpanProto, pretrained: Encoder, tmp_path: Path
) -> None:
    model = asking(tiny_model, pretrained, meaning_weight=0.5, meaning_in_type=3.0)
    save_model(model, tmp_path / "asking")
    save_model(weighing(tiny_model), tmp_path / "plain")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("asking", "plain")]
    assert sizes[0] == sizes[1]
    loaded = load_model(tmp_path / "asking")
    assert loaded.meaning is None
    assert loaded.config.decision == model.config.decision
    with pytest.raises(DataError, match="is not at hand"):
        judge(loaded, synthetic.UNEVEN)
    loaded.ask_meaning(pretrained)
    assert judge(loaded, synthetic.UNEVEN) == judge(model, synthetic.UNEVEN)


def test_a_model_saved_before_there_were_meanings(tiny_model: SpanProto, tmp_path: Path) -> None:
    save_model(weighing(tiny_model), tmp_path)
    path = tmp_path / "spanproto.json"
    content = json.loads(path.read_text())
    for name in ("meaning_weight", "meaning_in_type"):
        del content["model"]["decision"][name]
    path.write_text(json.dumps(content))
    assert load_model(tmp_path).config == weighing(tiny_model).config


# Decisions that weigh it


def test_a_decision_without_the_encoder_is_refused(tiny_model: SpanProto) -> None:
    model = weighing(tiny_model, meaning_weight=0.5)
    with pytest.raises(DataError) as refusal:
        judge(model, synthetic.UNEVEN)
    assert str(refusal.value) == (
        "the decision counts what spans mean to the pretrained encoder, which is not at hand; "
        "name it (evaluate --meaning ENCODER, or model.ask_meaning in Python), or fit without it"
    )


def test_prototypes_without_meanings_are_refused(
    tiny_model: SpanProto, pretrained: Encoder
) -> None:
    model = asking(tiny_model, pretrained, meaning_weight=0.5)
    known = support_prototypes(model, synthetic.UNEVEN)
    judged = judge(model, synthetic.UNEVEN, prototypes=known)
    assert judged == judge(model, synthetic.UNEVEN)
    with pytest.raises(DataError, match="is not at hand"):
        judge(model, synthetic.UNEVEN, prototypes=known._replace(meanings=None))


def told_apart(size: int = 400) -> list[tuple[Sentence, list[Candidate]]]:
    """Sentences of a word each, of which what it means alone tells whether it is an entity."""
    torch.manual_seed(0)
    noise = torch.randn(size, 3)
    judged = []
    for at, (boundary, distance, chance) in enumerate(noise.tolist()):
        right = at % 3 == 0
        alike = (0.8 if right else 0.5) + 0.1 * chance
        candidate = Candidate(
            0,
            1,
            "b",
            "kept",
            boundary,
            (5.0, distance),
            (0.4, 0.6),
            (0.5, 0.5),
            0.0,
            (),
            (0, alike),
        )
        spans = (Span(0, 1, "b"),) if right else ()
        judged.append((Sentence(("x",), spans), [candidate]))
    return judged


def test_what_tells_right_from_wrong_gets_a_weight() -> None:
    decision = DecisionConfig("joint", floor=0.0)
    fitted = decision_of(told_apart(), decision, WITH_MEANING)
    assert fitted.meaning_weight > 10
    assert abs(fitted.boundary_weight) < 1
    assert abs(fitted.distance_weight) < 1
    assert fitted.meaning_in_type == decision.meaning_in_type
    assert 0.1 < fitted.threshold < 0.9
    alone = decision_of(told_apart(), decision, ("meaning",))
    assert alone.meaning_weight > 10
    assert alone.boundary_weight == alone.type_weight == 0
    assert decision_of(told_apart(), decision).meaning_weight == 0


def test_a_weight_keeps_its_proportion() -> None:
    given = DecisionConfig("joint", floor=0.0, type_weight=0.0, meaning_weight=4.0)
    fitted = decision_of(told_apart(), given, ())
    assert fitted.boundary_weight > 0
    assert fitted.meaning_weight == pytest.approx(4 * fitted.boundary_weight)


def test_a_decision_is_fitted_to_what_spans_mean(trained_model: Path, pretrained: Encoder) -> None:
    model = load_model(trained_model)
    model.ask_meaning(pretrained)
    episodes = [synthetic.varied_episode(seed) for seed in range(900, 904)]
    fitted = fit_decision(model, episodes, evidence=WITH_MEANING)
    assert fitted.rule == "joint"
    assert fitted.meaning_weight != 0
    assert fit_decision(model, episodes).meaning_weight == 0
    assert fit_decision(model, episodes, TUNED, WITH_MEANING).meaning_weight != 0
    gathered = gather_evidence(model, episodes)
    assert all(candidate.meanings for _, found in gathered for candidate in found)
    assert decision_of(gathered, model.config.decision, WITH_MEANING) == fitted


def test_meanings_that_were_not_gathered_are_not_fitted(trained_model: Path) -> None:
    model = load_model(trained_model)
    gathered = gather_evidence(model, [synthetic.varied_episode(900)])
    counting = replace(model.config.decision, meaning_weight=0.5)
    for decision, evidence in ((model.config.decision, WITH_MEANING), (counting, ())):
        with pytest.raises(DataError, match="let the model ask it"):
            decision_of(gathered, decision, evidence)
    assert decision_of(gathered, counting).meaning_weight == 0


# Recognisers


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("meant", [False, True])
def test_prototypes_come_back_from_their_tensors(
    tiny_model: SpanProto, pretrained: Encoder, words: bool, meant: bool
) -> None:
    model = asking(tiny_model, pretrained) if meant else tiny_model
    known = support_prototypes(model, synthetic.UNEVEN, words)
    tensors = known.to_tensors()
    assert ("meanings" in tensors) == meant == (known.meanings is not None)
    for again in (Prototypes.of_tensors(tensors), known.to(torch.device("cpu"))):
        assert again.to_tensors().keys() == tensors.keys()
        assert all(torch.equal(again.to_tensors()[name], tensors[name]) for name in tensors)
        assert (again.words is None) == (not words)
        assert (again.meanings is None) == (not meant)


@pytest.mark.parametrize("adapt", [False, True])
@pytest.mark.parametrize("weight", [0.0, 0.5])  # without one it still has a say in types
def test_a_saved_recogniser_has_its_meanings(
    trained_model: Path, pretrained: Encoder, tmp_path: Path, adapt: bool, weight: float
) -> None:
    shown = synthetic.corpus(1, 8, ("animal", "fruit"))
    text = "the animala was seen near the old fruitb"
    model = asking(load_model(trained_model), pretrained, meaning_weight=weight)
    ner = FewShotNER(model).fit(shown, adapt=adapt, steps=2)
    plain = FewShotNER(weighing(load_model(trained_model))).fit(shown, adapt=adapt, steps=2)
    assert ner.explain(text) != plain.explain(text)
    ner.save(tmp_path)
    loaded = FewShotNER.load(tmp_path)
    with pytest.raises(DataError, match=r"or model\.ask_meaning in Python"):
        loaded.predict(text)
    loaded.model.ask_meaning(pretrained)
    assert loaded.predict(text) == ner.predict(text)
    assert loaded.explain(text) == ner.explain(text)


def test_a_saved_recogniser_that_asks_nobody(trained_model: Path, tmp_path: Path) -> None:
    shown = synthetic.corpus(1, 8, ("animal", "fruit"))
    text = "the animala was seen near the old fruitb"
    ner = FewShotNER(load_model(trained_model)).fit(shown, adapt=False)
    ner.save(tmp_path)
    assert FewShotNER.load(tmp_path).explain(text) == ner.explain(text)


# On the command line


@pytest.fixture
def episodes_file(tmp_path: Path) -> Path:
    path = tmp_path / "test.jsonl"
    write_episodes(path, [synthetic.varied_episode(s) for s in range(900, 903)], "token-episodes")
    return path


def test_evaluate_asks_the_encoder_that_is_named(
    trained_model: Path, tiny_encoder: Path, episodes_file: Path
) -> None:
    command = ("evaluate", trained_model, episodes_file, "--protocol", "fewnerd", "--json")
    asked, known = ("--meaning", tiny_encoder), episodes_file.with_name("known.jsonl")
    write_episodes(known, [synthetic.varied_episode(s) for s in range(910, 913)], "token-episodes")
    contents = []
    for arguments in ((), asked, (*asked, "--fit-decision", known)):
        done = spanproto(*command, *arguments)
        assert done.returncode == 0, done.stderr
        contents.append(json.loads(done.stdout))
    plain, meant, fitted = contents
    assert plain["meaning"] is None
    assert meant["meaning"] == fitted["meaning"] == str(tiny_encoder)
    weights = [each["model"]["config"]["decision"]["meaning_weight"] for each in contents]
    assert weights[:2] == [0, 0]
    assert weights[2] != 0
    still = json.loads(
        spanproto(*command, *asked, "--configure", "decision.meaning_in_type=0").stdout
    )
    assert still["micro"] == plain["micro"]


def test_evaluate_refuses_what_it_cannot_ask(
    trained_model: Path, tiny_encoder: Path, episodes_file: Path, tmp_path: Path
) -> None:
    command = ("evaluate", trained_model, episodes_file, "--protocol", "fewnerd")
    line = refused(spanproto(*command, "--configure", "decision.meaning_weight=1"))
    assert "name it (evaluate --meaning ENCODER, or" in line
    line = refused(spanproto(*command, "--meaning", tmp_path / "none"))
    assert "no such directory" in line
    method = method_named("protobert")
    other = method.from_config(method.Config(encoder=EncoderConfig(name=str(tiny_encoder))))
    save_model(other, tmp_path / "other")
    command = ("evaluate", tmp_path / "other", episodes_file, "--protocol", "fewnerd")
    line = refused(spanproto(*command, "--meaning", tiny_encoder))
    assert "weighs no evidence on spans; drop --meaning" in line
