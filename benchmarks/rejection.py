"""What the radius r rejects: precision and recall on episodes with entities of other types.

    python benchmarks/rejection.py MODEL SENTENCES --types inter/test -o results/rejection.json

Episodes are drawn so that query sentences also hold entities of types that the support set does not
show. The model proposes spans and types as ever; then r is moved over the distances that occur. A
picture is written beside the JSON.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from tqdm import tqdm

from spanproto.adaptation import AdaptationConfig, adapt_to_one
from spanproto.checkpoint import load_spanproto
from spanproto.config import apply_overrides, build, to_dict
from spanproto.data.files import atomic_writer
from spanproto.data.formats import read_sentences
from spanproto.data.splits import read_types, sentences_of_split
from spanproto.data.types import Episode
from spanproto.decision import DecisionConfig
from spanproto.judging import judge
from spanproto.plots.curves import Curve, Panel, curves_figure
from spanproto.plots.style import save_for_print
from spanproto.provenance import provenance
from spanproto.training.distributed import choose_device
from spanproto.training.mixture import Corpus


class Proposal(NamedTuple):
    """A typed span before any is rejected."""

    distance: float
    right: bool
    other: bool  # it is an entity, of a type that is not looked for


def main(
    model: Annotated[Path, typer.Argument(help="A trained model.")],
    sentences: Annotated[Path, typer.Argument(help="Labelled sentences to draw episodes from.")],
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("results/rejection.json"),
    types: Annotated[str | None, typer.Option(help="Of the corpus; all.")] = None,
    ways: int = 3,
    shots: int = 5,
    queries: int = 3,
    episodes: int = 100,
    seed: int = 0,
    adapt: Annotated[bool, typer.Option("--adapt")] = False,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Of the adaptation.")] = None,
    device: str = "auto",
) -> None:
    """Measure and draw."""
    loaded = load_spanproto(model).to(choose_device(device))
    loaded.use_mixed_precision(loaded.device.type == "cuda")
    classifier = replace(loaded.config.classifier, reject=False)
    loaded.config = replace(loaded.config, classifier=classifier, decision=DecisionConfig())
    config = build(AdaptationConfig, apply_overrides({}, settings or []), "adaptation")
    corpus = read_sentences(sentences)
    if types is not None:
        corpus = sentences_of_split(corpus, read_types(types))
    drawn = draw(Corpus(corpus), episodes, ways, shots, queries, seed)
    proposals, labelled = [], 0
    for episode in tqdm(drawn, unit="episode"):
        adapted = adapt_to_one(loaded, episode, config) if adapt else loaded
        labelled += sum(len(sentence.spans) for sentence in episode.query)
        proposals += proposals_of(adapted, episode)
    content = {
        "margin": loaded.config.classifier.margin,
        "adaptation": to_dict(config) if adapt else None,
        "episodes": {"number": episodes, "ways": ways, "shots": shots, "queries": queries},
        "curve": curve(proposals, labelled),
        "provenance": provenance(seed, [sentences]),
        "model": {"config": to_dict(loaded.config), "origin": loaded.origin},
    }
    with atomic_writer(output) as stream:
        stream.write(json.dumps(content, indent=2) + "\n")
    plot(content, output)
    for point in content["curve"]:
        print({name: round(value, 2) for name, value in point.items()})


def draw(
    corpus: Corpus, number: int, ways: int, shots: int, queries: int, seed: int
) -> list[Episode]:
    """Episodes whose sentences keep entities of other types, as `others`."""
    return [
        corpus.episode(ways, shots, queries, random.Random(f"{seed}/{at}")) for at in range(number)
    ]


def proposals_of(model: Any, episode: Episode) -> list[Proposal]:
    """What the model would say of the query sentences if it rejected nothing."""
    (judged,) = judge(model, [episode])
    return [
        Proposal(
            min(candidate.distances),
            (candidate.start, candidate.end, candidate.label) in sentence.spans,
            (candidate.start, candidate.end) in sentence.others,
        )
        for sentence, candidates in zip(episode.query, judged, strict=True)
        for candidate in candidates
        if candidate.outcome == "kept"
    ]


def curve(proposals: Sequence[Proposal], labelled: int, points: int = 40) -> list[dict[str, float]]:
    """Precision, recall, F1 and the share of other entities rejected, for radii of equal steps."""
    farthest = max((proposal.distance for proposal in proposals), default=1.0)
    others = sum(proposal.other for proposal in proposals)
    found = []
    for step in range(1, points + 1):
        radius = farthest * step / points
        kept = [proposal for proposal in proposals if proposal.distance <= radius]
        right = sum(proposal.right for proposal in kept)
        found.append(
            {
                "r": radius,
                "precision": 100 * right / max(1, len(kept)),
                "recall": 100 * right / max(1, labelled),
                "f1": 200 * right / max(1, len(kept) + labelled),
                "others_rejected": 100 * (1 - sum(p.other for p in kept) / max(1, others)),
            }
        )
    return found


def plot(content: dict[str, Any], output: Path) -> None:
    """The curve as a picture beside the JSON; the line is the model's own r."""
    points = content["curve"]
    names = {
        "precision": "precision",
        "recall": "recall",
        "f1": "F1",
        "others_rejected": "others rejected",
    }
    panel = Panel(
        "radius $r$ (Euclidean, in the space of the prototypes)",
        [point["r"] for point in points],
        [Curve(shown, [point[name] for point in points]) for name, shown in names.items()],
        chosen=content["margin"],
    )
    save_for_print(curves_figure(panel, ylabel="%", limits=(0, 100)), output)


if __name__ == "__main__":
    typer.run(main)
