"""What the radius r rejects: precision and recall on episodes with entities of other types.

    python benchmarks/rejection.py run MODEL SENTENCES --types inter/test \\
        --fit-on SENTENCES --fit-types inter/dev -o results/rejection.json
    python benchmarks/rejection.py draw results/rejection.json

Episodes are drawn so that sentences also hold entities of other types. In the support set it is
said where these are, though not of what type; in the query set nothing is. The model proposes spans
and types as ever; r is fitted on the episodes of some types, and then moved over all distances that
occur on those of others. The picture is written beside the JSON.
"""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from spanproto.adaptation import AdaptationConfig
from spanproto.checkpoint import load_spanproto
from spanproto.cli.main import in_one_sentence
from spanproto.config import apply_overrides, build, require, to_dict
from spanproto.data.files import atomic_writer, parse_json, read_text
from spanproto.data.formats import read_sentences
from spanproto.data.splits import read_types, sentences_of_split
from spanproto.data.types import Episode
from spanproto.decision import DecisionConfig
from spanproto.errors import DataError
from spanproto.plots.curves import Curve, Panel, curves_figure
from spanproto.plots.style import save_for_print
from spanproto.provenance import provenance
from spanproto.rejection import Proposals, fitted_radius, kept_within, propose
from spanproto.training.distributed import choose_device
from spanproto.training.mixture import Corpus

POINTS = 40
SHOWN = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "others_rejected": "others rejected",
}
app = typer.Typer(help=__doc__)


@app.command()
def run(
    model: Annotated[Path, typer.Argument(help="A trained model.")],
    sentences: Annotated[Path, typer.Argument(help="Labelled sentences to draw episodes from.")],
    fit_on: Annotated[Path, typer.Option(help="Labelled sentences to fit r on.")],
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("results/rejection.json"),
    types: Annotated[str | None, typer.Option(help="Of the sentences; all.")] = None,
    fit_types: Annotated[str | None, typer.Option(help="Of those to fit on; all.")] = None,
    ways: int = 3,
    shots: int = 5,
    queries: int = 3,
    episodes: int = 100,
    seed: int = 0,
    adapt: Annotated[bool, typer.Option("--adapt")] = False,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Of the adaptation.")] = None,
    device: str = "auto",
) -> None:
    """Fit r and measure what it does."""
    require(adapt or not settings, "--set changes the adaptation; give --adapt with it")
    loaded = load_spanproto(model).to(choose_device(device))
    loaded.use_mixed_precision(loaded.device.type == "cuda")
    loaded.config = replace(loaded.config, decision=DecisionConfig())  # in two stages
    config = build(AdaptationConfig, apply_overrides({}, settings or []), "adaptation")
    drawn = {"number": episodes, "ways": ways, "shots": shots, "queries": queries}

    def proposed(source: Path, of_types: str | None) -> Proposals:
        asked = draw_episodes(source, of_types, seed=seed, **drawn)
        return propose(loaded, asked, config if adapt else None)

    radius = fitted_radius(proposed(fit_on, fit_types))
    if radius is None:
        raise DataError(f"{fit_on}: nothing that the model finds is right; fit r on other data")
    found = proposed(sentences, types)
    if not found.spans:
        raise DataError(f"{sentences}: the model finds nothing in it; measure r on other data")
    content = {
        "fitted_r": radius,
        "fitted": kept_within(found, radius)._asdict(),
        "nothing_rejected": kept_within(found, float("inf"))._asdict(),
        "trained_with_r": loaded.config.classifier.margin,
        "curve": curve(found),
        "types": {"measured": types, "fitted_on": fit_types},
        "episodes": drawn,
        "adaptation": to_dict(config) if adapt else None,
        "provenance": provenance(seed, [sentences, fit_on]),
        "model": {"config": to_dict(loaded.config), "origin": loaded.origin},
    }
    with atomic_writer(output) as stream:
        stream.write(json.dumps(content, indent=2) + "\n")
    for name in ("nothing_rejected", "fitted"):
        print(name, {key: value and round(value, 1) for key, value in content[name].items()})


@app.command()
def draw(files: Annotated[list[Path], typer.Argument(help="What `run` has written.")]) -> None:
    """Draw the curves of each file beside it; the line is the fitted r."""
    for path in files:
        content = parse_json(read_text(path), str(path))
        if not (isinstance(content, dict) and content.keys() >= {"curve", "fitted_r"}):
            raise DataError(f"{path}: nothing that `run` has written; give its output")
        save_for_print(
            curves_figure(panel(content), ylabel="%", limits=(0, 100), chosen="fitted"), path
        )


def draw_episodes(
    source: Path,
    types: str | None,
    *,
    number: int,
    ways: int,
    shots: int,
    queries: int,
    seed: int,
) -> list[Episode]:
    """Episodes whose sentences keep entities of other types, as `others`."""
    sentences = read_sentences(source)
    if types is not None:
        sentences = sentences_of_split(sentences, read_types(types))
    corpus = Corpus(sentences)
    return [
        corpus.episode(ways, shots, queries, random.Random(f"{seed}/{at}")) for at in range(number)
    ]


def curve(proposals: Proposals) -> list[dict[str, float | None]]:
    """What radii leave, in equal steps from the nearest to the farthest."""
    distances = [span.distance for span in proposals.spans]
    nearest, farthest = min(distances), max(distances)
    steps = [step / POINTS for step in range(POINTS + 1)]
    radii = [(1 - step) * nearest + step * farthest for step in steps]
    return [{"r": radius, **kept_within(proposals, radius)._asdict()} for radius in radii]


def panel(content: dict[str, Any]) -> Panel:
    """Precision, recall and F1 over r, and what is rejected of others where some were proposed."""
    points = content["curve"]
    return Panel(
        "radius $r$ (Euclidean, in the space of the prototypes)",
        [point["r"] for point in points],
        [
            Curve(shown, [point[name] for point in points])
            for name, shown in SHOWN.items()
            if all(point[name] is not None for point in points)
        ],
        chosen=content["fitted_r"],
    )


if __name__ == "__main__":
    in_one_sentence(app)
