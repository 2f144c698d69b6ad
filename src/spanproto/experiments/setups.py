"""Whether a score that is there was measured as the one that is wanted would be.

A table that was stopped goes on where it stood, so what is there must come from the same encoder,
data, settings and training as what is added; the pages would set them side by side.
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spanproto.errors import ConfigError, DataError
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.trained import runs_of
from spanproto.provenance import sha256

if TYPE_CHECKING:
    from spanproto.experiments.cells import Cell, Grid
    from spanproto.experiments.own_columns import OwnCell
    from spanproto.experiments.scoring import Scoring

_ENCODER = "the encoder"
_NO_MATTER = ("seed", "episodes_at_once", "tokens_at_once")  # of a fine-tuning
_OF_OPTIMISER = ("learning_rate", "head_learning_rate", "weight_decay", "warmup", "clip")


class Compared(NamedTuple):
    """One thing that a score depends on, as it was and as it is."""

    what: str
    there: Any
    here: Any


def read_score_file(path: Path) -> dict[str, Any]:
    """The content of a score file; what is no JSON object is complained of."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise DataError(
            f"{path}: no score file, or one that was cut off; delete it to measure it again"
        )
    return content


def require_inputs(grid: "Grid", cells: Iterable["OwnCell"]) -> None:
    """Complain of data or an encoder that is not there, before the first of many cells is begun.

    The quick form brings its data.
    """
    wanted = list(cells)
    if not grid.quick:
        for own in wanted:
            _require_data(grid, own)
    if wanted:
        require_encoder(grid.encoder)


def _require_data(grid: "Grid", own: "OwnCell") -> None:
    """What the cell trains on and is tested on, fits a decision to, and may leave unlabelled."""
    with own.known():
        training = [name for run in runs_of(grid, own.cell) for name in run["data"]["train"]]
    fits = any(scoring.fit_decision for scoring in own.cell.scorings)
    wanted = [(name, own.column) for name in training]
    for column in own.columns:
        validating = column.validation.get("valid", []) if fits else []
        wanted += [(name, column) for name in (column.test_file, *validating)]
    for name, column in wanted:
        if not (grid.data / name).exists():
            raise DataError(
                f"{grid.data / name}: no such file, which the column {column.name} needs; "
                "check --data"
            )
    for name in own.cell.doubtful:
        if not (grid.data / name).exists():
            raise DataError(
                f"{grid.data / name}: no such file, which {own.cell.system} needs for "
                f"{own.column.name}; `make partly-labelled` or `make doubts` writes it"
            )


@lru_cache  # of those that can be read: many recipes may ask for one
def require_encoder(name: str) -> None:
    """Complain of an encoder that cannot be read."""
    from spanproto.encoder import Encoder, EncoderConfig

    Encoder.from_pretrained(EncoderConfig(name=name))


def refuse_mixture(paths: Iterable[Path], *, encoder: str | None, quick: bool) -> None:
    """Complain if any of the score files is of another encoder, or is quick and the others not.

    They would stand on one page with what is measured now. Without an encoder nothing is trained.
    """
    for path in paths:
        content = read_score_file(path)
        refuse_other_form(path, content, quick=quick)
        if encoder is not None and content.get("model") is not None:
            _refuse_difference(path, _encoders(content, encoder))


def refuse_other_setup(path: Path, grid: "Grid", cell: "Cell", scoring: "Scoring") -> None:
    """Complain if the score in the file was measured in another way than it would be now."""
    content = read_score_file(path)
    refuse_other_form(path, content, quick=grid.quick)
    for compared in _compared(content, grid, cell):
        _refuse_difference(path, compared)
    for compared in _settings(content, cell, scoring):
        _refuse_difference(path, compared)


def refuse_other_form(path: Path, content: dict[str, Any], *, quick: bool) -> None:
    """Complain if the file is of the quick form and what is wanted is not, or the reverse."""
    if content.get("quick", False) != quick:
        forms = ("in full", "in the quick form")
        raise ConfigError(
            f"{path}: measured {forms[not quick]}, and now it is to be {forms[quick]}; give "
            "--output another folder, since the two do not mix"
        )


def _refuse_difference(path: Path, compared: Compared) -> None:
    what, there, here = compared
    if there != here:
        same = f"name that one by --encoder {there}, or " if what == _ENCODER else ""
        raise ConfigError(
            f"{path}: measured with {what} {there!r}, and now it is {here!r}; {same}give --output "
            "another folder to measure it anew"
        )


def _encoders(content: dict[str, Any], named: str) -> Compared:
    there = content["model"]["config"]["encoder"]["name"]
    return Compared(_ENCODER, Path(there).name, Path(named).name)


def _compared(content: dict[str, Any], grid: "Grid", cell: "Cell") -> Iterator[Compared]:
    """What the file says of how it was measured, beside how it would be now."""
    if "limit" in content:
        yield Compared("the episode limit", content["limit"], grid.limit)
    if grid.precision != "auto" and "precision" in content:
        yield Compared("precision", content["precision"], grid.precision)
    wanted = json.loads(json.dumps(cell.averaged))
    yield Compared("the mean of trainings that change", content.get("averaged", []), wanted)
    model = content.get("model")
    if model is not None:
        named = cell.run.get("model", {}).get("encoder", {}).get("name", grid.encoder)
        yield _encoders(content, named)
        origin = model["origin"] or {}
        data, asked = origin.get("data_config", {}), cell.run.get("data", {})
        for key, usual in (("doubtful", []), ("train_share", 1.0)):
            yield Compared(f"data.{key}", data.get(key, usual), asked.get(key, usual))
        if "train" in data and cell.column in COLUMNS and not cell.averaged:
            yield Compared("data.train", data["train"], list(cell.data["train"]))
        yield from _trainings(origin.get("training_config", {}), cell)
    column = COLUMNS.get(cell.column)
    if column is not None and "provenance" in content:
        tested = grid.data / column.test_file
        known = [file["sha256"] for file in content["provenance"]["data"]]
        if tested.exists() and known:
            what = f"test data ({tested.name}) of SHA-256"
            yield Compared(what, known[0][:12], _digest(tested, tested.stat().st_mtime_ns)[:12])


def _trainings(trained: dict[str, Any], cell: "Cell") -> Iterator[Compared]:
    """The settings of a training that tell what comes of it, its method's own among them."""
    from spanproto.config import to_dict
    from spanproto.methods import method_named
    from spanproto.training.settings import RunConfig

    items = method_named(cell.run.get("method", "spanproto")).trains_on
    matter = ("steps", f"{items}_per_step", *_OF_OPTIMISER)
    wanted = to_dict(RunConfig.of({**cell.run, "data": {}}).training)
    for key in matter:
        if key in trained:
            yield Compared(f"training.{key}", trained[key], wanted[key])


def _settings(content: dict[str, Any], cell: "Cell", scoring: "Scoring") -> Iterator[Compared]:
    """The settings of model and fine-tuning that the file tells of, beside those of now.

    Not those that are set for the score alone, and not what only bounds the memory.
    """
    from spanproto.checkpoint import configured
    from spanproto.config import to_dict
    from spanproto.methods import method_named
    from spanproto.training.settings import RunConfig

    method = method_named(scoring.method or cell.run.get("method", "spanproto"))
    if "model" in content:
        set_apart = {"encoder.name", *(["classifier.sphere"] if scoring.centred else [])}
        set_apart |= {item.partition("=")[0] for item in scoring.deciding}
        run = RunConfig.of({**cell.run, "data": {}})  # of which nothing is asked
        scored = configured(method, to_dict(run.model), scoring.configure)
        for compared in _differing("model", content["model"]["config"], to_dict(scored)):
            name = compared.what.removeprefix("model.")
            if name not in set_apart and not name.startswith("decision."):
                yield compared
    if "fitted_on" in content:
        what = "a decision fitted on so many episodes:"
        yield Compared(what, content["fitted_on"], scoring.fit_decision)
        yield Compared("the pretrained encoder asked:", content["meaning"], scoring.meaning)
        learned = how_learned(cell, scoring)
        yield Compared("a map learned of what it says:", content.get("learned"), learned)
    if scoring.fit_decision and "evidence" in content:
        evidence = None if scoring.evidence is None else list(scoring.evidence)
        yield Compared("a decision fitted to", content["evidence"], evidence)
        yield Compared("a lenience of", content.get("lenience", 0.0), scoring.lenience)
    if "adaptation" in content:
        adapts = scoring.adaptation is not None or method.always_adapts
        wanted = to_dict(method.adaptation(scoring.adaptation or {})) if adapts else None
        yield Compared("fine-tuning", content["adaptation"] is not None, adapts)
        for compared in _differing("adaptation", content["adaptation"] or {}, wanted or {}):
            if compared.what.removeprefix("adaptation.") not in _NO_MATTER:
                yield compared


def how_learned(cell: "Cell", scoring: "Scoring") -> dict[str, Any] | None:
    """How the map of what spans mean is learned that a scoring asks, if it asks one."""
    from spanproto.config import to_dict
    from spanproto.learned_meaning import MapConfig

    return {**to_dict(MapConfig()), "seed": cell.seed} if scoring.learned else None


def _differing(name: str, there: dict[str, Any], here: dict[str, Any]) -> Iterator[Compared]:
    """The settings that both know and that are not the same."""
    for key in sorted(there.keys() & here.keys()):
        pair = Compared(f"{name}.{key}", there[key], json.loads(json.dumps(here[key])))
        if isinstance(pair.there, dict) and isinstance(pair.here, dict):
            yield from _differing(pair.what, pair.there, pair.here)
        elif pair.there != pair.here:
            yield pair


@lru_cache
def _digest(path: Path, changed: int) -> str:
    """The SHA-256 of a file, read once for as long as it does not change."""
    return sha256(path)
