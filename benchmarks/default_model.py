"""Turns a trained run into the model that comes with the package.

    python benchmarks/default_model.py runs/default results/transfer.json

The weights are written in half precision and in files of less than 16 MB; the decision is the one
that was fitted on domains which the model's twin, trained without them, had not seen; and the
figures measured there go into the model card.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from spanproto.checkpoint import load_spanproto, save_model
from spanproto.cli.main import in_one_sentence
from spanproto.config import build
from spanproto.data.files import parse_json, read_text
from spanproto.decision import DecisionConfig
from spanproto.model_source import BUILT_IN

ENCODER = "thenlper/gte-small"
SHARD_BYTES = 15_000_000
DATA = [
    {"name": "Few-NERD (Ding et al., ACL 2021), 66 types", "license": "CC BY-SA 4.0"},
    {"name": "WNUT-17 (Derczynski et al., W-NUT 2017)", "license": "CC BY 4.0"},
    {"name": "GUM (Zeldes, 2017), annotations with nesting", "license": "CC BY 4.0"},
    {"name": "CrossNER (Liu et al., AAAI 2021), five domains, train and dev", "license": "MIT"},
    {"name": "BC5CDR (Li et al., 2016), train and dev", "license": "CC BY 4.0"},
    {"name": "NCBI disease (Doğan et al., 2014), train and dev", "license": "CC BY 4.0"},
]
SUMMARY = """\
The model that comes with spanproto: it finds entities of types that it is shown a handful of
examples of, and says when a span is none of them. A span extractor and prototypes on the encoder
gte-small (MIT), meta-trained on varied episodes from six openly licensed corpora. Weights are in
half precision. Since Few-NERD asks for it, the weights are shared under CC BY-SA 4.0."""
QUALITY_NOTE = """\
Of a twin, trained in the same way without these three domains; the model here has seen them. Micro
F1 on the first 500 test sentences, mean of three draws of the examples."""
LIMITS = """\
English, and text in sentences: news, Wikipedia, social media, science and medicine are what it has
seen. Types are learnt from examples and from nothing else, so a type whose examples do not show
what it is will be found badly; three to five varied examples of each type are a good start. Scores
were calibrated on domains that it had not seen, together with the training of a twin without them;
on yours, check them with `spanproto score` and choose a threshold with `spanproto tune`. It
repeats what biases its training corpora have in whom and what they name."""


def main(
    run: Annotated[Path, typer.Argument(help="The training run.")],
    transfer: Annotated[Path, typer.Argument(help="What benchmarks/transfer.py report wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o")] = BUILT_IN,
) -> None:
    """Write the model directory."""
    measured: dict[str, Any] = parse_json(read_text(transfer), str(transfer))
    model = load_spanproto(run)
    decision = build(DecisionConfig, measured["decision"], "decision")
    encoder = replace(model.config.encoder, name=ENCODER)
    model.config = replace(model.config, decision=decision, encoder=encoder)
    model.origin |= {
        "title": "spanproto's built-in model",
        "summary": SUMMARY,
        "license": "cc-by-sa-4.0",
        "data": DATA,
        "files": model.origin.get("files", model.origin.get("data")),
        "quality": quality(measured),
        "quality_note": QUALITY_NOTE,
        "limits": LIMITS,
    }
    save_model(model, output, half=True, shard_bytes=SHARD_BYTES)
    print(output)


def quality(measured: dict[str, Any]) -> list[dict[str, str]]:
    """Rows of the card: F1 on domains left out of the training of the twin."""
    rows = []
    for cell, methods in measured["f1"].items():
        domain, _, shots = cell.partition("/")
        rows.append(
            {
                "held-out domain": domain,
                "examples of each type": shots,
                "F1": f"{methods['adapted']['mean']:.1f}",
                "F1, told the types' names": f"{methods['named']['mean']:.1f}",
                "token classifier, same encoder": f"{methods['token-classifier']['mean']:.1f}",
            }
        )
    return rows


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
