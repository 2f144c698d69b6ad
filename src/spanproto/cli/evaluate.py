"""`spanproto evaluate`: a model's scores on a file of episodes."""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from spanproto.data.types import Episode
    from spanproto.methods.base import Method
    from spanproto.model import SpanProto

ORACLE = (
    "ORACLE: the gold spans of the query sentences were handed to the model, as the paper's "
    "released code does; this is not a score of what it finds by itself."
)
NAMES = (
    "NAMES: the model is told the names of the types; this is not a score of what the support set "
    "alone tells."
)
EVEN = (
    "EVEN: the model is told that a query set has about as many entities of each type, and sees it "
    "as a whole; this is not a score of what it finds in texts by themselves."
)
SEEN = (
    "SEEN: what spans mean was learned from labelled examples of {types}, too; this is not a score "
    "of what the support set alone tells."
)


def of_spanproto(model: "Method", lacks: str) -> "SpanProto":
    """The model, if it is one of SpanProto; of others it is said what they lack."""
    from spanproto.errors import ConfigError
    from spanproto.model import SpanProto

    if not isinstance(model, SpanProto):
        raise ConfigError(f"{model.title()} {lacks}")
    return model


def require_others(option: str, known: Iterable["Episode"], scored: Iterable["Episode"]) -> None:
    """Refuse to fit anything to episodes that are to be scored: their gold spans would tell."""
    from spanproto.errors import ConfigError

    both = len(set(known) & set(scored))
    if both:
        raise ConfigError(
            f"{option}: {both} of its episodes are among those to be scored, and fitting would see "
            "their gold spans; give others"
        )


def alike(labels: Iterable[str], episodes: Iterable["Episode"]) -> list[str]:
    """Those of the labels that are types of the episodes, be they in capitals there or not."""
    asked = {label.casefold() for episode in episodes for label in episode.types}
    return sorted(label for label in labels if label.casefold() in asked)


class Protocol(StrEnum):
    """How a benchmark is scored."""

    fewnerd = "fewnerd"
    crossdomain = "crossdomain"


class Rule(StrEnum):
    """Where candidate spans come from."""

    model = "model"
    released = "released"


def evaluate(
    model: Annotated[
        Path,
        typer.Argument(
            help="A model directory or a training run; an encoder, if the method needs no training."
        ),
    ],
    episodes: Annotated[Path, typer.Argument(help="A file of episodes.")],
    protocol: Annotated[Protocol, typer.Option(help="How to score.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="The method that uses the weights: see `spanproto methods`.",
            show_default="the one that was trained",
        ),
    ] = None,
    configure: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the method: key=value, such as temperature=0.4."),
    ] = None,
    candidates: Annotated[
        Rule,
        typer.Option(
            help="model: the model's own spans. released: gold spans merged in (an oracle)."
        ),
    ] = Rule.model,
    adapt: Annotated[
        bool,
        typer.Option("--adapt", help="Fine-tune a copy of the model to each support set first."),
    ] = False,
    adaptation: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the adaptation: key=value, such as steps=60."),
    ] = None,
    centre_on: Annotated[
        Path | None,
        typer.Option(
            help="Training episodes: see spans from the middle of theirs, by direction alone."
        ),
    ] = None,
    fit_decision: Annotated[
        Path | None,
        typer.Option(
            help="Validation episodes: weigh the evidence on a span as suits these, then score."
        ),
    ] = None,
    evidence: Annotated[
        str | None,
        typer.Option(
            help="What the fitted decision weighs, with commas between: boundary,type,meaning.",
            show_default="boundary,type,distance,before,length; and meaning, if it is asked",
        ),
    ] = None,
    fit_margin: Annotated[
        Path | None,
        typer.Option(
            help="Validation episodes: reject beyond the radius r that suits these, then score."
        ),
    ] = None,
    meaning: Annotated[
        str | None,
        typer.Option(
            help="A pretrained encoder, as encoder.name: count what spans mean to it, too."
        ),
    ] = None,
    meaning_from: Annotated[
        Path | None,
        typer.Option(
            help="Training episodes or sentences: learn from their types what tells types apart in "
            "what spans mean to it."
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of the episodes.", show_default="from the file")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Use only the first episodes.", min=1)] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the scores here as JSON.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Score a model on episodes: pooled micro F1, mean episode F1, errors, and each type."""
    from spanproto import benchmark
    from spanproto.calibration import decide_as_suits
    from spanproto.centring import CENTRED_ON, centred
    from spanproto.checkpoint import load_model
    from spanproto.config import apply_overrides, require, to_dict
    from spanproto.data.episodes import read_supported_episodes
    from spanproto.data.files import atomic_writer, require_place
    from spanproto.decision import DEFAULT_EVIDENCE, evidence_named
    from spanproto.encoder import Encoder, EncoderConfig
    from spanproto.learned_meaning import label_groups
    from spanproto.meaning import Meaning
    from spanproto.model import SpanProto
    from spanproto.provenance import provenance
    from spanproto.rejection import reject_as_suits
    from spanproto.training.distributed import choose_device
    from spanproto.training.settings import DataConfig
    from spanproto.training.source import TrainingData

    require(
        fit_decision is None or fit_margin is None,
        "a fitted decision weighs distances and has no radius r; give --fit-decision or "
        "--fit-margin, not both",
    )
    require(
        evidence is None or fit_decision is not None,
        "--evidence says what a fitted decision weighs; give --fit-decision with it",
    )
    require(
        meaning_from is None or meaning is not None,
        "--meaning-from learns from what spans mean to an encoder; give --meaning with it",
    )
    if output is not None:
        require_place(output)
    chosen = read_supported_episodes(episodes, format)[:limit]
    loaded = load_model(model, method, configure or []).to(choose_device(device))
    adapts = adapt or loaded.always_adapts
    require(adapts or not adaptation, "--set changes the adaptation; give --adapt with it")
    settings = loaded.adaptation(apply_overrides({}, adaptation or [])) if adapts else None
    loaded.use_mixed_precision(loaded.device.type == "cuda")
    files = [episodes]
    if centre_on is not None:
        spans = of_spanproto(loaded, "has no spans to centre; drop --centre-on")
        loaded = centred(spans, read_supported_episodes(centre_on, format)[:CENTRED_ON])
        files.append(centre_on)
    weighed, shown = DEFAULT_EVIDENCE, set[str]()
    if meaning is not None:
        weighing = of_spanproto(loaded, "weighs no evidence on spans; drop --meaning")
        asked, learned = Encoder.from_pretrained(EncoderConfig(name=meaning)), None
        if meaning_from is not None:
            corpora = TrainingData(DataConfig(train=[str(meaning_from)])).corpora()
            seen_before = {sentence.words for corpus in corpora for sentence in corpus}
            both = sum(s.words in seen_before for episode in chosen for s in episode.query)
            require(
                not both,
                f"--meaning-from {meaning_from}: {both} query sentences of {episodes} are in it, "
                "whose labels would be learned; give others",
            )
            learned = Meaning(asked.to(loaded.device)).learn(corpora)
            shown = set().union(*label_groups(corpora))
            files.append(meaning_from)
        weighing.ask_meaning(asked, learned)
        weighed = (*weighed, "meaning")
    if evidence is not None:
        weighed = evidence_named(name.strip() for name in evidence.split(","))
    if fit_decision is not None:
        deciding = of_spanproto(loaded, "has no decision to fit; drop --fit-decision")
        known = read_supported_episodes(fit_decision, format)
        require_others(f"--fit-decision {fit_decision}", known, chosen)
        decide_as_suits(deciding, known, settings, weighed)
        files.append(fit_decision)
    if fit_margin is not None:
        rejecting = of_spanproto(loaded, "has no radius to fit; drop --fit-margin")
        known = read_supported_episodes(fit_margin, format)
        require_others(f"--fit-margin {fit_margin}", known, chosen)
        reject_as_suits(rejecting, known, settings)
        files.append(fit_margin)
    report = benchmark.evaluate(loaded, chosen, protocol.value, candidates.value, settings)
    oracle = ORACLE if candidates is Rule.released else None
    names = NAMES if isinstance(loaded, SpanProto) and loaded.config.names else None
    evens = isinstance(loaded, SpanProto) and loaded.config.decision.even_types
    even = EVEN if evens else None
    also = alike(shown, chosen)
    seen = SEEN.format(types=", ".join(also)) if also else None
    content = {
        "method": loaded.name,
        "candidates": candidates.value,
        "adaptation": None if settings is None else to_dict(settings),
        "precision": "bf16" if loaded.bf16 else "fp32",
        "oracle": oracle,
        "meaning": meaning,
        "meaning_from": None if meaning_from is None else str(meaning_from),
        "evidence": None if fit_decision is None else list(weighed),
        "names": names,
        "even": even,
        "seen": seen,
        **report.to_dict(),
        "provenance": provenance(loaded.origin.get("seed"), files),
        "model": {"config": to_dict(loaded.config), "origin": loaded.origin},
    }
    text = json.dumps(content, indent=2)
    if output is not None:
        with atomic_writer(output) as stream:
            stream.write(text + "\n")
    if as_json:
        typer.echo(text)
        return
    typer.echo(report.to_table())
    for note in (oracle, names, even, seen):
        if note is not None:
            typer.echo(f"\n{note}")
