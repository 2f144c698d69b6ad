"""The radius r fitted to episodes: what it keeps, and that it is the best there."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
from command import refused, spanproto
from scripts import benchmark_script

from spanproto.adaptation import AdaptationConfig
from spanproto.checkpoint import load_model
from spanproto.data.formats import write_episodes, write_sentences
from spanproto.data.types import Episode
from spanproto.decision import DecisionConfig
from spanproto.errors import ConfigError, DataError
from spanproto.model import SpanProto
from spanproto.rejection import (
    Kept,
    Proposal,
    Proposals,
    fitted_radius,
    kept_within,
    propose,
    reject_as_suits,
)

BY_HAND = Proposals(
    [
        Proposal(1.0, right=True, other=False),
        Proposal(2.0, right=True, other=False),
        Proposal(3.0, right=False, other=False),
        Proposal(5.0, right=False, other=True),
        Proposal(6.0, right=True, other=False),
        Proposal(9.0, right=False, other=True),
    ],
    entities=4,
)


@pytest.fixture
def model(trained_model: Path) -> SpanProto:
    return load_model(trained_model, "spanproto", ["decision.rule=two-stage"])


@pytest.fixture
def seeded() -> list[Episode]:
    """Episodes with entities of types that the support set does not show."""
    episodes = [synthetic.episode(seed, synthetic.TYPES, query=4) for seed in range(8)]
    return [episode.for_types(synthetic.TYPES[:3]) for episode in episodes]


def test_what_a_radius_keeps_by_hand() -> None:
    assert kept_within(BY_HAND, 2.0) == Kept(100, 50, pytest.approx(200 * 2 / 6), 100)
    assert kept_within(BY_HAND, 6.0) == Kept(60, 75, pytest.approx(200 * 3 / 9), 50)
    assert kept_within(BY_HAND, 0.5) == Kept(0, 0, 0, 100)
    assert kept_within(Proposals(BY_HAND.spans[:2], 2), 9.0) == Kept(100, 100, 100, None)


def test_the_fitted_radius_parts_right_from_wrong() -> None:
    near = Proposals([p for p in BY_HAND.spans if p.distance != 6.0], entities=2)
    radius = fitted_radius(near)
    assert radius is not None
    assert 2.0 < radius < 3.0
    right = Proposals([Proposal(d, right=True, other=False) for d in (1.0, 4.0)], entities=2)
    radius = fitted_radius(right)
    assert radius is not None
    assert radius > 4.0  # nothing is to be rejected
    assert fitted_radius(Proposals([Proposal(1.0, right=False, other=True)], 3)) is None
    assert fitted_radius(Proposals([], 3)) is None


def test_no_share_is_rejected_of_what_is_not_proposed() -> None:
    right = Proposals([Proposal(1.0, right=True, other=False)], entities=1)
    assert kept_within(right, 2.0).others_rejected is None
    script = benchmark_script("rejection")
    content = {"curve": script.curve(right), "fitted_r": 1.0}
    assert [curve.name for curve in script.panel(content).curves] == ["precision", "recall", "F1"]


@pytest.mark.parametrize("adaptation", [None, AdaptationConfig(steps=2, learning_rate=1e-3)])
def test_all_is_proposed_whatever_the_model_rejects(
    model: SpanProto, seeded: list[Episode], adaptation: AdaptationConfig | None
) -> None:
    nothing = replace(model.config.classifier, reject=True, fitted_radius=0.0)
    strict = model.with_settings(replace(model.config, classifier=nothing))
    found = propose(strict, seeded, adaptation)
    assert found == propose(model, seeded, adaptation)
    assert found.entities == sum(len(s.spans) for e in seeded for s in e.query)
    assert any(span.right for span in found.spans)
    assert any(span.other for span in found.spans)


def test_a_model_rejects_as_suits_the_episodes(model: SpanProto, seeded: list[Episode]) -> None:
    found, before = propose(model, seeded), model.config.classifier.margin
    reject_as_suits(model, seeded)
    classifier = model.config.classifier
    assert classifier.reject
    assert classifier.radius == fitted_radius(found)
    assert classifier.margin == before
    kept, everything = (kept_within(found, radius) for radius in (classifier.radius, 1e9))
    assert kept.f1 > everything.f1
    assert kept.precision > everything.precision
    predicted = [len(each.mentions) for e in seeded for each in model.predict([e])[0]]
    assert sum(predicted) == sum(p.distance <= classifier.radius for p in found.spans)


def test_what_cannot_be_fitted_is_complained_of(model: SpanProto, seeded: list[Episode]) -> None:
    with pytest.raises(DataError, match="no episodes to propose spans for"):
        propose(model, [])
    without = [replace(e, query=tuple(s.unlabelled() for s in e.query)) for e in seeded]
    before = model.config
    reject_as_suits(model, without)  # which cannot tell
    assert model.config == before
    model.config = replace(model.config, decision=DecisionConfig(rule="joint"))
    with pytest.raises(ConfigError, match="has no radius to fit"):
        reject_as_suits(model, seeded)


def test_the_command_rejects_beyond_what_suits(
    trained_model: Path, seeded: list[Episode], tmp_path: Path
) -> None:
    episodes, known = tmp_path / "episodes.json", tmp_path / "known.json"
    for path, some in ((episodes, seeded[::2]), (known, seeded[1::2])):
        write_episodes(path, some, "crossdomain")
    arguments = ("evaluate", trained_model, episodes, "--protocol", "crossdomain", "--json")
    arguments += ("--configure", "decision.rule=two-stage")
    before, fitted = (
        json.loads(spanproto(*arguments, *more).stdout) for more in ((), ("--fit-margin", known))
    )
    assert fitted["micro"]["f1"] > before["micro"]["f1"]
    assert [file["name"] for file in before["provenance"]["data"]] == ["episodes.json"]
    assert [file["name"] for file in fitted["provenance"]["data"]] == [
        "episodes.json",
        "known.json",
    ]
    both = spanproto(*arguments, "--fit-margin", episodes, "--fit-decision", episodes)
    assert "--fit-decision or --fit-margin, not both" in refused(both)


def test_the_script_fits_on_some_types_and_measures_on_others(
    trained_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = benchmark_script("rejection")
    sentences, output = tmp_path / "sentences.conll", tmp_path / "rejection.json"
    write_sentences(sentences, synthetic.corpus(size=80, types=synthetic.TYPES[:5]), "conll")
    other = tmp_path / "other.conll"
    write_sentences(other, synthetic.corpus(seed=1, size=80, types=synthetic.TYPES[1:]), "conll")
    sizes = {"ways": 2, "shots": 1, "queries": 2, "episodes": 4}
    script.run(trained_model, sentences, other, output, device="cpu", **sizes)
    content = json.loads(output.read_text("utf-8"))
    assert "nothing_rejected" in capsys.readouterr().out
    last = content["curve"][-1]
    assert {key: last[key] for key in content["nothing_rejected"]} == content["nothing_rejected"]
    assert [point["recall"] for point in content["curve"]] == sorted(
        point["recall"] for point in content["curve"]
    )
    assert len(content["provenance"]["data"]) == 2
    script.draw([output])
    assert output.with_suffix(".svg").exists()
    assert output.with_suffix(".png").exists()


def test_the_script_refuses_what_it_cannot_do(trained_model: Path, tmp_path: Path) -> None:
    script = benchmark_script("rejection")
    sentences = tmp_path / "sentences.txt"
    write_sentences(sentences, synthetic.corpus(1, 20), "fewnerd")
    with pytest.raises(DataError, match="99 types were asked for in an episode"):
        script.run(trained_model, sentences, sentences, ways=99, output=tmp_path / "out.json")
    with pytest.raises(ConfigError, match="give --adapt with it"):
        script.run(trained_model, sentences, sentences, settings=["steps=3"])
    with pytest.raises(DataError, match="no such file"):
        script.draw([tmp_path / "none.json"])
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(DataError, match=r"other\.json: nothing that `run` has written"):
        script.draw([tmp_path / "other.json"])
    assert not list(tmp_path.glob("out*"))
