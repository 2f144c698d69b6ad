"""How well a model does on domains that it was not trained on, from a handful of examples.

    python benchmarks/transfer.py run MODEL DATA --domain ai -o results/transfer/ai.json.gz
    python benchmarks/transfer.py baseline ENCODER DATA --domain ai -o results/transfer/b.json.gz
    python benchmarks/transfer.py report results/transfer/*.json.gz -o results/transfer.json

`run` fine-tunes MODEL to support sets of the domain and keeps what it says of the test sentences;
`baseline` does so with a token classifier on the ENCODER that MODEL came from. `report` scores
both. The model's scores are calibrated there: the weights of the decision for one domain come from
the other domains alone.
"""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Annotated, Any

import torch
import typer

from spanproto.adaptation import AdaptationConfig, adapt_to_one
from spanproto.checkpoint import load_model
from spanproto.cli.main import in_one_sentence
from spanproto.config import apply_overrides, build, to_dict
from spanproto.data.few_shot import few_shot_support
from spanproto.data.files import atomic_writer
from spanproto.data.formats import read_sentences
from spanproto.data.types import Episode, Sentence
from spanproto.data.words import in_words
from spanproto.decision import (
    DecisionConfig,
    expected_calibration_error,
    fit_weights,
    log_odds,
)
from spanproto.evaluation import Counts
from spanproto.judging import judge
from spanproto.model import SpanProto
from spanproto.ner import FITTING
from spanproto.provenance import provenance
from spanproto.support import support_prototypes
from spanproto.training.distributed import choose_device

LIU = "crossner-liu"
DOMAINS: dict[str, tuple[tuple[str, ...], str]] = {  # where examples come from, and the test file
    "ai": ((f"{LIU}/ai/train.txt", f"{LIU}/ai/dev.txt"), f"{LIU}/ai/test.txt"),
    "music": ((f"{LIU}/music/train.txt", f"{LIU}/music/dev.txt"), f"{LIU}/music/test.txt"),
    "bc5cdr": (("biomedical/BC5CDR-IOB/train.tsv",), "biomedical/BC5CDR-IOB/test.tsv"),
    "literature": (
        (f"{LIU}/literature/train.txt", f"{LIU}/literature/dev.txt"),
        f"{LIU}/literature/test.txt",
    ),
}
WIDE = DecisionConfig(rule="joint", threshold=0.0, floor=0.02)  # keeps every candidate worth a look
BASELINE = "token-classifier"
BASELINE_SETTINGS = {"steps": 200, "learning_rate": 1e-4, "head_learning_rate": 1e-3}
QUERIES_AT_ONCE = 100

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)


Output = Annotated[Path, typer.Option("--output", "-o")]
Domain = Annotated[str, typer.Option(help=f"One of {', '.join(DOMAINS)}.")]
Shots = Annotated[str, typer.Option(help="Numbers of examples of each type.")]
Seeds = Annotated[str, typer.Option(help="One draw of examples each.")]
Queries = Annotated[int, typer.Option(help="Test sentences, from the first.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="Of the adaptation.")]
Data = Annotated[Path, typer.Argument(help="Folder of the corpora.")]


@app.command()
def run(
    model: Annotated[Path, typer.Argument(help="A model that has not seen the domain.")],
    data: Data,
    domain: Domain,
    output: Output,
    shots: Shots = "1,5,20",
    seeds: Seeds = "1,2,3",
    queries: Queries = 500,
    methods: Annotated[str, typer.Option(help="Of trained, adapted, named.")] = "adapted,named",
    settings: Settings = None,
    device: str = "auto",
) -> None:
    """Adapt a model to support sets of one domain and keep what it says of its test sentences.

    `adapted` is fine-tuned, `trained` is not, and `named` is fine-tuned and told the types' names.
    """
    task = Task.of(data, domain, queries)
    own = to_dict(replace(FITTING, seconds=None))  # steps alone, the same on every machine
    config = build(AdaptationConfig, apply_overrides(own, settings or []), "adaptation")
    loaded = load_model(model)
    assert isinstance(loaded, SpanProto)
    loaded.to(choose_device(device))
    loaded.use_mixed_precision(loaded.device.type == "cuda")
    runs = []
    for episode, about in task.episodes(shots, seeds):
        for method in methods.split(","):
            chosen = None if method == "trained" else replace(config, seed=about["seed"])
            found = candidates(loaded, episode, chosen, names=method == "named")
            runs.append({"method": method, **about, "found": found})
            print(domain, method, about, flush=True)
    about_model = {"config": to_dict(loaded.config), "origin": loaded.origin}
    task.save(output, {"runs": runs, "adaptation": to_dict(config), "model": about_model})


@app.command()
def baseline(
    encoder: Annotated[str, typer.Argument(help="The encoder that the model was trained from.")],
    data: Data,
    domain: Domain,
    output: Output,
    shots: Shots = "1,5,20",
    seeds: Seeds = "1,2,3",
    queries: Queries = 500,
    settings: Settings = None,
    device: str = "auto",
) -> None:
    """The same with a token classifier, fine-tuned from the encoder to the same support sets."""
    task = Task.of(data, domain, queries)
    model = load_model(encoder, BASELINE, ["scheme=bio"]).to(choose_device(device))
    model.use_mixed_precision(model.device.type == "cuda")
    config = model.adaptation(apply_overrides(BASELINE_SETTINGS, settings or []))
    runs = []
    for episode, about in task.episodes(shots, seeds):
        adapted = model.adapted([episode], replace(config, seed=about["seed"]))
        found = [s.spans for part in _query_parts(episode) for s in adapted.predict([part])[0]]
        runs.append({"method": BASELINE, **about, "found": found})
        print(domain, BASELINE, about, flush=True)
    task.save(output, {"runs": runs, "baseline": to_dict(config)})


@dataclass(frozen=True)
class Task:
    """A domain: where its examples come from, and its test sentences."""

    domain: str
    files: list[Path]
    pool: list[Sentence]
    tests: list[Sentence]

    @classmethod
    def of(cls, data: Path, domain: str, queries: int) -> "Task":
        """The domain of that name, with so many test sentences."""
        sources, test_file = (
            [data / name for name in DOMAINS[domain][0]],
            data / DOMAINS[domain][1],
        )
        pool = [sentence for path in sources for sentence in read_sentences(path)]
        return cls(domain, [*sources, test_file], pool, read_sentences(test_file)[:queries])

    def episodes(self, shots: str, seeds: str) -> Iterator[tuple[Episode, dict[str, int]]]:
        """One task for each number of shots and each draw: all types, and all test sentences."""
        labelled = (*self.pool, *self.tests)
        types = tuple(sorted({span.label for sentence in labelled for span in sentence.spans}))
        for number in map(int, shots.split(",")):
            for seed in map(int, seeds.split(",")):
                support = tuple(few_shot_support(self.pool, number, seed))
                about = {"shots": number, "seed": seed, "examples": len(support)}
                yield Episode(types, support, tuple(self.tests)), about

    def save(self, output: Path, content: dict[str, Any]) -> None:
        """Write runs with what they are to be scored against."""
        output.parent.mkdir(parents=True, exist_ok=True)
        gold = [sentence.spans for sentence in self.tests]
        source = provenance(None, self.files)
        with gzip.open(output, "wt") as stream:
            json.dump(
                {"domain": self.domain, "gold": gold, **content, "provenance": source}, stream
            )


def _query_parts(episode: Episode) -> Iterator[Episode]:
    for at in range(0, len(episode.query), QUERIES_AT_ONCE):
        yield replace(episode, query=episode.query[at : at + QUERIES_AT_ONCE])


def candidates(
    model: SpanProto, episode: Episode, config: AdaptationConfig | None, names: bool
) -> list[list[list[Any]]]:
    """Of each test sentence the candidates: start, end, nearest type, f, log p(type), distance."""
    if names:
        described = tuple((label, in_words(label)) for label in episode.types)
        episode = replace(episode, descriptions=described)
    adapted = model if config is None else adapt_to_one(model, episode, config)
    adapted.config = replace(adapted.config, decision=WIDE)
    prototypes = support_prototypes(adapted, [episode])
    judged = [
        sentence
        for part in _query_parts(episode)
        for sentence in judge(adapted, [part], prototypes=prototypes, decoding="all")[0]
    ]
    return [
        [
            [
                c.start,
                c.end,
                c.label,
                round(c.boundary_score, 3),
                round(math.log(max(max(c.type_probabilities), 1e-9)), 4),
                round(min(c.distances), 3),
            ]
            for c in sentence
        ]
        for sentence in judged
    ]


@dataclass(frozen=True)
class Evidence:
    """All candidates of some runs, as tensors (N,)."""

    boundary: torch.Tensor
    type_log_probability: torch.Tensor
    distance: torch.Tensor
    correct: torch.Tensor

    @classmethod
    def of(cls, pairs: Sequence[tuple[Any, Any]]) -> "Evidence":
        """From (gold, found) of runs."""
        rows = [
            (*c[3:], (c[0], c[1], c[2]) in {tuple(g) for g in gold})
            for gold_of, found_of in pairs
            for gold, found in zip(gold_of, found_of, strict=True)
            for c in found
        ]
        return cls(*torch.tensor(rows, dtype=torch.double).unbind(1))


def scored(candidate: Sequence[Any], config: DecisionConfig) -> float:
    """The score of a candidate under a decision."""
    odds = log_odds(*candidate[3:6], config)
    return 1 / (1 + math.exp(-max(min(odds, 50), -50)))


def decided(found: Sequence[Any], config: DecisionConfig, threshold: float) -> list[Any]:
    """The candidates of a sentence that a decision keeps, flat, with their scores."""
    kept: list[Any] = []
    for score, c in sorted(((scored(c, config), c) for c in found), key=lambda p: -p[0]):
        if score >= threshold and all(c[1] <= k[0] or k[1] <= c[0] for _, k in kept):
            kept.append((score, c))
    return kept


def f1(gold: Any, spans: Any) -> float:
    """Micro F1 of the spans of all sentences."""
    counts = Counts()
    for right, found in zip(gold, spans, strict=True):
        counts += Counts.of({tuple(s[:3]) for s in found}, {tuple(g) for g in right})
    return counts.f1


def fit_decision(pairs: Sequence[tuple[Any, Any]]) -> DecisionConfig:
    """The decision fitted to runs: weights on what decoding leaves, the threshold of best F1."""
    decision = DecisionConfig(rule="joint")
    for _ in range(2):  # which candidates are left depends on the weights a little
        left = [
            (gold, [[c for _, c in decided(s, decision, 0.0)] for s in found])
            for gold, found in pairs
        ]
        evidence = Evidence.of(left)
        weights = fit_weights(
            {
                "boundary": evidence.boundary,
                "type": evidence.type_log_probability,
                "distance": evidence.distance,
            },
            evidence.correct,
        )
        decision = replace(decision, **weights)

    def quality(threshold: float) -> float:
        return fmean(
            f1(gold, [[c for _, c in decided(s, decision, threshold)] for s in found])
            for gold, found in pairs
        )

    best = max((t / 100 for t in range(20, 71, 5)), key=quality)
    return replace(decision, threshold=best)


@app.command()
def report(
    files: Annotated[list[Path], typer.Argument(help="What `run` wrote, of several domains.")],
    output: Annotated[Path, typer.Option("--output", "-o")] = Path("results/transfer.json"),
) -> None:
    """Score all runs; the decision for a domain is fitted on the others, the last one on all."""
    loaded = []
    for path in files:
        with gzip.open(path, "rt") as stream:
            loaded.append(json.load(stream))
    domains = sorted({content["domain"] for content in loaded})
    by_domain = {
        domain: [
            (run, content["gold"])
            for content in loaded
            if content["domain"] == domain
            for run in content["runs"]
        ]
        for domain in domains
    }

    def pairs(chosen: Sequence[str]) -> list[tuple[Any, Any]]:
        return [
            (gold, run["found"])
            for domain in chosen
            for run, gold in by_domain[domain]
            if run["method"] == "adapted"
        ]

    cells: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    errors: dict[str, dict[str, float]] = {}
    for domain in domains:
        decision = fit_decision(pairs([other for other in domains if other != domain]))
        for run, gold in by_domain[domain]:
            if run["method"] == BASELINE:
                spans = run["found"]
            else:
                kept = [decided(s, decision, decision.threshold) for s in run["found"]]
                spans = [[c for _, c in sentence] for sentence in kept]
            cells[f"{domain}/{run['shots']}"][run["method"]].append(f1(gold, spans))
        errors[domain] = calibration(pairs([domain]), decision)
    shipped = fit_decision(pairs(domains))
    content = {
        "f1": {
            cell: {
                method: {"mean": fmean(values), "std": pstdev(values), "draws": len(values)}
                for method, values in methods.items()
            }
            for cell, methods in cells.items()
        },
        "calibration": errors,
        "decision": to_dict(shipped),
        **{
            key: next((content[key] for content in loaded if key in content), None)
            for key in ("adaptation", "baseline", "model")
        },
        "seeds": sorted({run["seed"] for content in loaded for run in content["runs"]}),
        "runs": [content["provenance"] for content in loaded],
        "provenance": provenance(None, files),
    }
    with atomic_writer(output) as stream:
        stream.write(json.dumps(content, indent=2) + "\n")
    for cell, methods in content["f1"].items():
        print(cell, {method: round(value["mean"], 2) for method, value in methods.items()})
    print(json.dumps(errors, indent=1), shipped)


def calibration(pairs: Sequence[tuple[Any, Any]], decision: DecisionConfig) -> dict[str, float]:
    """Expected calibration error of the scores, before and after the decision was fitted."""
    errors = {}
    for name, config in (("before", DecisionConfig(rule="joint")), ("after", decision)):
        scores, correct = [], []
        for gold, found in pairs:
            for right, sentence in zip(gold, found, strict=True):
                kept = decided(sentence, config, 0.05)
                scores += [score for score, _ in kept]
                correct += [tuple(c[:3]) in {tuple(g) for g in right} for _, c in kept]
        errors[name] = expected_calibration_error(torch.tensor(scores), torch.tensor(correct))
        errors[f"predictions_{name}"] = len(scores)
    return errors


if __name__ == "__main__":
    in_one_sentence(app)
