"""Writes results/README.md from the JSON files beside it: python benchmarks/tables.py [RESULTS]

No figure is typed here but those of the paper, which carry their source.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer

from spanproto.cli.main import in_one_sentence
from spanproto.data.files import atomic_writer, parse_json, read_text
from spanproto.errors import DataError
from spanproto.paper import published
from spanproto.paper.comparison import column_title
from spanproto.paper.page import Table
from spanproto.paper.scores import F1, Scores

RESULTS = Path(__file__).parent.parent / "results"
RULES = ("spanproto", "spanproto-released")
BY_BOTH_RULES = ("news-1", "wiki-1", "social-1", "ontonotes-1", "inter-5w1", "inter-5w5")

HELD_OUT = {
    "ai": "AI (CrossNER, Liu et al.)",
    "music": "music (CrossNER, Liu et al.)",
    "bc5cdr": "biomedicine (BC5CDR)",
}
SHOTS = (1, 5, 20)


INTRODUCTION = """# Measured results

Every measured figure here comes from a JSON file beside this page, which names the command, commit,
seed, data and hardware. Where a command or a name was noted wrongly at the time, the file has it
right and says under `corrected` what it was. `python benchmarks/tables.py` writes the page from
them. Published figures are those of Wang et al. (EMNLP 2022).
"""


class NotMeasuredError(DataError):
    """A result that is not there; `what` names it in the folder."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: not measured yet")
        self.what = what


def load(path: Path) -> dict[str, Any]:
    """One result."""
    if not path.exists():
        raise NotMeasuredError(path.name)
    content: dict[str, Any] = parse_json(read_text(path), str(path))
    return content


def rules_table(results: Path) -> str:
    """Pooled micro F1 of the same weights under both candidate rules, as Markdown."""
    scores = Scores(results)
    printed = {**published.MAIN_CROSSDOMAIN["spanproto"], **published.MAIN_FEWNERD["spanproto"]}
    rows = []
    for column in BY_BOTH_RULES:
        seeds = scores.common_seeds(column, RULES)
        own, oracle = (fmean(scores.values(column, rule, *F1, seeds=seeds)) for rule in RULES)
        cells = [f"**{own:.2f}**", f"{oracle:.2f}", f"{printed[column]:.2f}"]
        rows.append((column_title(column), cells))
    heading = ("F1", "its own candidates", "gold spans handed in (oracle)", "published")
    return Table(heading, rows).to_markdown()


def transfer_table(measured: dict[str, Any]) -> str:
    """What the built-in model's twin does on domains it was trained without, as Markdown."""
    shots = " | ".join(f"{number} of each type" for number in SHOTS)
    rows = [
        f"| F1 (token classifier) from so many examples | {shots} | "
        "calibration error, before → after |",
        "| --- | --- | --- | --- | --- |",
    ]
    for domain, name in HELD_OUT.items():
        cells = [measured["f1"][f"{domain}/{number}"] for number in SHOTS]
        scores = " | ".join(
            f"**{cell['adapted']['mean']:.1f}** ({cell['token-classifier']['mean']:.1f})"
            for cell in cells
        )
        error = measured["calibration"][domain]
        rows.append(f"| {name} | {scores} | {error['before']:.3f} → {error['after']:.3f} |")
    return "\n".join(rows)


def transfer_details(measured: dict[str, Any]) -> str:
    """Every method of the same measurement, with the spread over draws, as Markdown."""
    methods = {
        "adapted": "built-in model's twin",
        "named": "told the types' names",
        "token-classifier": "token classifier",
    }
    heading = ("domain", "examples of each type", *methods.values())
    rows = [f"| {' | '.join(heading)} |", f"|{' --- |' * len(heading)}"]
    for domain, name in HELD_OUT.items():
        for number in SHOTS:
            cell = measured["f1"][f"{domain}/{number}"]
            scores = " | ".join(
                f"{cell[method]['mean']:.2f} ± {cell[method]['std']:.2f}" for method in methods
            )
            rows.append(f"| {name} | {number} | {scores} |")
    return "\n".join(rows)


def rejection_table(as_trained: dict[str, Any], tuned: dict[str, Any]) -> str:
    """What the fitted radius r does to precision and recall, as Markdown."""
    shown = ("precision", "recall", "f1", "others_rejected")
    ways = {"as trained": as_trained, "fine-tuned": tuned}
    rules = {"nothing_rejected": "nothing rejected", "fitted": "beyond r rejected"}
    rows = [
        (f"{way}, {rule}", [_percent(measured[key][name]) for name in shown])
        for way, measured in ways.items()
        for key, rule in rules.items()
    ]
    return Table(("", "precision", "recall", "F1", "others rejected"), rows).to_markdown()


def _percent(share: float | None) -> str:
    """A dash where there was nothing of which it could be a share."""
    return "\N{EN DASH}" if share is None else f"{share:.1f}"


def origin(made: dict[str, Any]) -> str:
    """Where something was measured, in one line, from its provenance."""
    seed = "" if made["seed"] is None else f", seed {made['seed']}"
    hardware = made["hardware"]["gpu"] or made["hardware"]["cpu"]
    return f"{hardware}, commit `{made['commit'][:12]}`{seed}"


def of_built_in(results: Path) -> str:
    """How the twin does, which was trained without three domains."""
    transfer = load(results / "transfer.json")
    return f"""
The built-in model is trained on all of its corpora, so that nothing is left to test it on. A twin
was trained in the same way without three domains (`configs/default-held-out.yaml`) and tried on
these: fitted as `FewShotNER.fit` does to examples of all types of the domain
({transfer["adaptation"]["steps"]} steps), and scored by micro F1 on its first 500 test sentences.
The baseline is a token classifier fine-tuned from the same encoder to the same examples
({transfer["baseline"]["steps"]} steps).

{transfer_table(transfer)}

The calibration error is the expected one (ten bins) of the scores of what the twin predicts: with
the log-odds of the boundary and the log-probability of the type just added, and with weights fitted
on the two other domains, as is the threshold behind the F1. Those of the built-in model were fitted
on all three. Means and
standard deviations over {transfer["f1"]["ai/1"]["adapted"]["draws"]} draws of the examples:

{transfer_details(transfer)}

Measured with `benchmarks/transfer.py`, as `make results-transfer` does; `transfer.json` has each
command ({origin(transfer["runs"][0])}).
"""


def of_both_rules(results: Path) -> str:
    """What the released evaluation gives, by the weights that are in the tables."""
    scores = Scores(results)
    by_both = (
        all(scores.files(column, rule) for rule in RULES) and scores.common_seeds(column, RULES)
        for column in BY_BOTH_RULES
    )
    if not all(by_both):
        raise NotMeasuredError("some columns by one of the two rules")
    return f"""
The evaluation in the paper's released code adds the gold query spans to the candidates and drops
predictions within one word of them. SpanProto as trained, neither fine-tuned nor with a fitted
decision, scored by its own candidates and by that rule, the same weights:

{rules_table(results)}

Pooled micro F1, means over the seeds of [systems.md](systems.md), which says how it was trained and
has every other system beside it; the published figures are of BERT-base and the full training data.
"""


def of_training_step(results: Path) -> str:
    """Its time beside the bare encoder's."""
    speed = load(results / "training-step.json")
    times = speed["milliseconds"]
    on_cpu = load(results / "training-step-cpu.json")
    return f"""
A step of SpanProto (forward pass, three losses, backward pass) takes **{speed["ratio"]:.2f} times**
as long as the forward and backward pass of the bare encoder on the same sub-tokens:
{times["training_step"]:.1f} against {times["bare_encoder"]:.1f} ms (medians of
{speed["measurements"]} pairs measured in turn; MPNet-base, {speed["episodes_per_step"]} episodes of
5-way 1~2-shot, {speed["precision"]}). The host waited for the GPU in
{", ".join(f"`{place}`" for place in speed["waits_for_device"]) or "no place"} of the encoder's own
code and nowhere else.
Measured with `benchmarks/training_step.py` ({origin(speed["provenance"])}), before what follows.

Short sentences share a row of the batch, each blind to the others, so that little is spent on
padding. With a row for each sentence a step takes **{on_cpu["saved_by_shared_rows"]:.1f} times** as
long on a CPU ({on_cpu["milliseconds"]["a_row_each"]:.0f} against
{on_cpu["milliseconds"]["training_step"]:.0f} ms; MiniLM-L6, {on_cpu["episodes_per_step"]}
cross-domain 1-shot episodes; {origin(on_cpu["provenance"])}).
"""


def of_adaptation(results: Path) -> str:
    """Side by side against one by one."""
    adapted = load(results / "adaptation-throughput.json")
    together, alone = adapted["side_by_side"], adapted["one_by_one"]
    return f"""
Copies of the model for {together["episodes_at_once"]} episodes, stepped together, are fine-tuned
and asked **{adapted["speedup"]:.1f} times** as fast as one by one:
{together["episodes_per_second"]:.1f} against {alone["episodes_per_second"]:.2f} episodes a second,
with F1 of {together["f1"]:.1f} and {alone["f1"]:.1f} ({adapted["episodes"]} validation episodes of
OntoNotes; MPNet-base trained on INTER, all layers tuned for {adapted["adaptation"]["steps"]}
steps).
Measured with `benchmarks/adaptation_throughput.py` ({origin(adapted["provenance"])}).
"""


def of_rejection(results: Path) -> str:
    """As trained and fine-tuned."""
    rejected, tuned = (load(results / f"{name}.json") for name in ("rejection", "rejection-adapt"))
    drawn = rejected["episodes"]
    return f"""
Episodes of {drawn["ways"]} types, with {drawn["shots"]} support sentences drawn for each, whose
sentences also hold entities of other types: in the support set it is said where these are, though
not of what type, and the fine-tuning sees that; in the query set nothing is said. SpanProto trained
on INTER proposes spans and types; r is fitted on {drawn["number"]} episodes of INTER's dev types,
and what lies beyond it is rejected on {drawn["number"]} episodes of its test types. *Others
rejected* is the share of the
proposed entities of other types that go. In training r was {rejected["trained_with_r"]:g}; fitted
it is {rejected["fitted_r"]:.2f}, and after fine-tuning {tuned["fitted_r"]:.2f}.

{rejection_table(rejected, tuned)}

`rejection.png` and `rejection-adapt.png` have precision and recall over r. Measured with
`benchmarks/rejection.py` ({origin(rejected["provenance"])}), as `make results-adaptation` does.
"""


def of_doubts(results: Path) -> str:
    """How many of them are right."""
    doubts = load(results / "doubts.json")
    entities = doubts["labelled"] + doubts["unlabelled"]
    return f"""
Of the {entities:,} entities of INTER's training sentences {doubts["unlabelled"] / entities:.0%}
have no label, since they are of dev and test types. Two models, each trained on half of the
sentences, take {doubts["doubtful"]:,} spans for entities in the other half that nobody labelled;
{doubts["exact"] / doubts["doubtful"]:.0%} of these are such entities to the word, and
{doubts["touched"] / doubts["unlabelled"]:.0%} of such entities share a word with one. Labels of
these types are looked at for this count alone. Made with `spanproto data doubts`, as
`make doubts` does; counted with `benchmarks/doubts.py`
({origin(doubts["provenance"])}).
"""


SECTIONS: dict[str, Callable[[Path], str]] = {
    "What the built-in model does on domains that it has not seen": of_built_in,
    "What handing the gold spans in is worth": of_both_rules,
    "What a training step costs": of_training_step,
    "What adapting many support sets at once saves": of_adaptation,
    "What the radius r rejects": of_rejection,
    "What doubts on training sentences find": of_doubts,
}


def page(results: Path = RESULTS) -> str:
    """The whole page; what is not measured yet in the folder is said to be so."""
    missing: list[NotMeasuredError] = []
    sections = []
    for title, tell in SECTIONS.items():
        try:
            text = tell(results).strip()
        except NotMeasuredError as reason:
            missing.append(reason)
            text = f"Not measured here yet ({reason.what})."
        sections.append(f"## {title}\n\n{text}\n")
    if len(missing) == len(SECTIONS):
        raise DataError(f"{results}: no result that the page tells of; give the folder of results")
    return "\n".join((INTRODUCTION, *sections))


def main(results: Annotated[Path, typer.Argument(help="Folder of the results.")] = RESULTS) -> None:
    """Write the page beside the results."""
    content = page(results)
    with atomic_writer(results / "README.md") as stream:
        stream.write(content)


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
