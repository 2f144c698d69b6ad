"""How every system was trained and fine-tuned, and what else was tried on validation data."""

import math
from statistics import fmean
from typing import Any

from system_figures import SEEN, SYSTEMS, not_run

from spanproto.experiments.foreign_choices import FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.foreign_systems import COMPARED, TRAINED_AS_FOR, foreign_scorings
from spanproto.experiments.schedules import (
    SCHEDULED_ON,
    SHARES,
    TOO_LONG,
    TUNED_LONGER,
    lengths,
    longer_tuning,
    trained_for,
    tuned_for,
)
from spanproto.experiments.systems import SEEDS, alike, by_nearest, compared_seeds
from spanproto.experiments.variants import VARIANTS, VARIED_ON, scored_titles
from spanproto.methods import METHODS, method_named
from spanproto.methods.base import Method
from spanproto.paper.comparison import column_title
from spanproto.paper.page import NOT_RUN, Table, signed
from spanproto.paper.scores import F1, Scores, standard_error

TITLES = {name: entry.title for name, entry in METHODS.items()}
TRAINED = {
    "spanproto": "SpanProto",
    "words-fitted": "SpanProto with words",
    "broad-fitted": "SpanProto with words, trained broadly",
    **TITLES,
    **{name: SYSTEMS[name] for name in (alike("protobert"), by_nearest("nnshot"))},
}
SCHEDULED = ("news-1", "news-5", "inter-5w1", "inter-5w5")  # one of each schedule
ACROSS_DOMAINS, ON_FEWNERD, FOR_FIVE_SHOTS = SCHEDULED_ON
DASH = "\N{EN DASH}"
JUDGED_ON = {
    ACROSS_DOMAINS: "OntoNotes",
    ON_FEWNERD: "Few-NERD's dev types",
    FOR_FIVE_SHOTS: "Few-NERD's dev types for five shots",
}


def schedule_table(scores: Scores) -> Table:
    """How each system was trained, those that were."""
    rows = []
    for name, title in TRAINED.items():
        contents = [_first_score(scores, column, name) for column in SCHEDULED]
        method = method_named(method_name(name))
        if any(contents) and method.trains_on is not None:
            shown = [
                _length(method, content) if content else not_run(name, [column])
                for column, content in zip(SCHEDULED, contents, strict=True)
            ]
            rows.append((title, [*shown, _own_schedule(method)]))
    return Table(("", *map(column_title, SCHEDULED), "its authors'"), rows)


def _own_schedule(method: type[Method]) -> str:
    """What a method's defaults say of its authors' schedule."""
    own = method.training_defaults
    per_step = own.get(f"{method.trains_on}_per_step")
    parts = [
        f"{own['steps']} steps" if "steps" in own else "",
        f"{per_step} {method.trains_on} a step" if per_step else "",
        shown_rate(own["learning_rate"]) if "learning_rate" in own else "",
    ]
    return ", ".join(part for part in parts if part)


def length_table(scores: Scores) -> Table:
    """What trainings of other lengths give on validation data."""
    rows = []
    for name in METHODS:
        if method_named(name).trains_on is None:
            continue
        judged = [_judged_lengths(scores, name, column) for column in SCHEDULED_ON]
        if any(judged):
            rows.append((TITLES[name], judged))
        if name in TUNED_LONGER:
            longer = [_judged_tuned_longer(scores, name, column) for column in SCHEDULED_ON]
            steps = TUNED_LONGER[name]
            rows.append((f"{TITLES[name]}, {steps} steps of fine-tuning, whole", longer))
    tried = " → ".join(SHARES)
    return Table(("", *(f"{tried}, {column_title(column)}" for column in SCHEDULED_ON)), rows)


def gained_on_half(scores: Scores) -> str:
    """What trainings too long to be doubled gain on half of their length, and how sure that is."""
    known = []
    for name, column in TOO_LONG:
        steps = _steps(scores, column, name)
        tried = {} if steps is None else lengths(name, column, steps)
        judged = [
            content
            for number in tried.values()
            if (content := _validated(scores, column, trained_for(name, number))) is not None
        ]
        if judged and len(judged) == len(tried):
            f1 = [one["micro"]["f1"] for one in judged]
            error = math.hypot(*map(standard_error, judged))
            gained = f"{signed(f1[-1] - f1[0], 1)} ± {error:.1f}"
            known.append(f"{TITLES[name]} on {column_title(column)} {gained}")
    if not known:
        return ""
    return (
        "A dash: not run, so it is not shown that more would not help there. What the whole gains "
        f"on\nhalf is all there is to go by: {', '.join(known)}.\n(± is the standard error of a "
        "difference on other episodes each; these are the same, so it is less.)"
    )


def variant_table(scores: Scores) -> Table:
    """What other settings give on validation data, beside those of the tables."""
    rows = [
        (
            title,
            [
                _judged(scores, column, scoring) if column in variant.columns else ""
                for column in VARIED_ON
            ],
        )
        for key, variant in VARIANTS.items()
        for scoring, title in scored_titles(key).items()
    ]
    return Table(("", *(f"as for {column_title(column)}" for column in VARIED_ON)), rows)


def without_gpu(scores: Scores) -> str:
    """Which of these were run on a CPU, in a sentence, if any was."""
    found = [
        title
        for key in VARIANTS
        for scoring, title in scored_titles(key).items()
        for column in VARIED_ON
        if (content := _validated(scores, column, scoring)) is not None
        and content["provenance"]["hardware"]["gpu"] is None
    ]
    return f"On a CPU, in bf16 too: {'; '.join(dict.fromkeys(found))}." if found else ""


def foreign_table(scores: Scores) -> Table:
    """What a longer fine-tuning gives with five shots, on domains that no table tests on."""
    folders = [foreign_column(TRAINED_AS_FOR, domain).name for domain in FOREIGN_DOMAINS]
    rows = []
    for system in COMPARED:
        titles = (TITLES[system], f"{TITLES[system]}, {TUNED_LONGER.get(system)} steps")
        for scoring, title in zip(foreign_scorings(system), titles, strict=False):
            found = [_scored(scores, folder, scoring.name) for folder in folders]
            known = [one["micro"]["f1"] for one in found if one is not None]
            shown = [NOT_RUN if one is None else f"{one['micro']['f1']:.1f}" for one in found]
            mean = f"{fmean(known):.1f}" if len(known) == len(found) else ""
            rows.append((title, [*shown, mean]))
    domains = [domain.title for domain in FOREIGN_DOMAINS.values()]
    return Table(("", *domains, "mean"), rows)


def tuning_table(scores: Scores) -> Table:
    """How each system is fine-tuned to support sets, those that are."""
    rows = []
    for name, title in SYSTEMS.items():
        contents = [_first_score(scores, column, name) for column in SCHEDULED]
        method = method_named(method_name(name))
        tuned = [content and _tuning(method, content["adaptation"]) for content in contents]
        if any(tuned):
            shown = [
                not_run(name, [column]) if one is None else one
                for column, one in zip(SCHEDULED, tuned, strict=True)
            ]
            rows.append((title, shown))
    return Table(("", *map(column_title, SCHEDULED)), rows)


def validation_episodes(scores: Scores) -> str:
    """How many there are to judge trainings by, and how large standard errors are on them."""
    parts = []
    for column, title in JUDGED_ON.items():
        paths = sorted((scores.results / "schedules" / f"{column}-valid").glob("*.json"))
        contents = [scores.load(path) for path in paths]
        if contents:
            errors = sorted(map(standard_error, contents))
            size = f"{errors[0]:.1f} to {errors[-1]:.1f}"
            parts.append(f"{contents[0]['episodes']} of {title}, with standard errors of {size}")
    return "; ".join(parts) or NOT_RUN


def repeats(scores: Scores) -> str:
    """How far apart the same trainings with the same seed are when run again, by system.

    The trainings of the OntoNotes column are those of News, whose validation episodes it has.
    """
    found = {}
    for name in METHODS:
        again = [
            key
            for key, variant in VARIANTS.items()
            if variant.system == name and variant.trained_as_in_tables
        ]
        if trained := _trained(scores, ACROSS_DOMAINS, name):
            contents = [_validated(scores, ACROSS_DOMAINS, one) for one in (trained, *again)]
            figures = [
                *scores.values(SEEN, name, *F1, seeds=SEEDS[:1]),
                *(content["micro"]["f1"] for content in contents if content),
            ]
            if len(figures) > 1:
                found[TITLES[name]] = max(figures) - min(figures)
    farthest = sorted(found.items(), key=lambda item: item[1], reverse=True)
    return ", ".join(f"{title} {apart:.1f}" for title, apart in farthest) or NOT_RUN


def method_name(system: str) -> str:
    """The name of the method that a system is a form of."""
    forms = {form(name): name for name in METHODS for form in (alike, by_nearest)}
    return forms.get(system, system if system in METHODS else "spanproto")


def shown_rate(rate: float) -> str:
    """A learning rate as papers write it, such as 1.5e-4."""
    digits, _, power = f"{rate:.1e}".partition("e")
    return f"{digits.removesuffix('.0')}e{int(power)}"


def _first_score(scores: Scores, column: str, system: str) -> dict[str, Any] | None:
    """That of the first seed, if any was run."""
    return next(iter(scores.read(column, system, compared_seeds(column))), None)


def _length(method: type[Method], content: dict[str, Any]) -> str:
    config = content["model"]["origin"]["training_config"]
    items = method.trains_on
    number, rate = config[f"{items}_per_step"], shown_rate(config["learning_rate"])
    each = f"{number} {items if number > 1 else items.removesuffix('s')}"
    heads = config.get("head_learning_rate")
    rest = "" if heads is None else f", heads {shown_rate(heads)}"
    trainings = len(content.get("averaged", []))
    mean = f"mean of {trainings}: " if trainings else ""
    return f"{mean}{config['steps']} steps of {each}, {rate}{rest}"


def _steps(scores: Scores, column: str, name: str) -> int | None:
    """Of a system's training in the tables, if it was run and has any."""
    content = _first_score(scores, column, name)
    origin = content and content.get("model", {}).get("origin")
    return origin["training_config"]["steps"] if origin else None


def _trained(scores: Scores, column: str, name: str) -> str | None:
    """What the training of the tables is called where it is judged, if it was run."""
    steps = _steps(scores, column, name)
    return None if steps is None else trained_for(name, steps)


def _judged_lengths(scores: Scores, name: str, column: str) -> str:
    """F1 on validation episodes after trainings of each length, where any is known."""
    steps = _steps(scores, column, name)
    tried = {} if steps is None else lengths(name, column, steps)
    judged = {
        share: _judged(scores, column, trained_for(name, number)) for share, number in tried.items()
    }
    if set(judged.values()) <= {NOT_RUN}:
        return ""
    return " → ".join(judged.get(share, DASH) for share in SHARES)


def _judged_tuned_longer(scores: Scores, name: str, column: str) -> str:
    """F1 on validation episodes after a longer fine-tuning than the table's, where it is tried."""
    trained, steps = _trained(scores, column, name), longer_tuning(name, column)
    return _judged(scores, column, tuned_for(trained, steps)) if trained and steps else ""


def _judged(scores: Scores, column: str, scoring: str) -> str:
    """F1 of a training on the validation episodes of a column, if it was run."""
    content = _validated(scores, column, scoring)
    return NOT_RUN if content is None else f"{content['micro']['f1']:.1f}"


def _validated(scores: Scores, column: str, scoring: str) -> dict[str, Any] | None:
    """The scores of a training on the validation episodes of a column, if it was run."""
    return _scored(scores, f"{column}-valid", scoring)


def _scored(scores: Scores, folder: str, scoring: str) -> dict[str, Any] | None:
    """The scores of a training on some episodes that no table tests on, if it was run."""
    path = scores.results / "schedules" / folder / f"{scoring}.{SEEDS[0]}.json"
    return scores.load(path) if path.exists() else None


def _tuning(method: type[Method], config: dict[str, Any] | None) -> str:
    if config is None:
        return ""
    tuning = config["tuning"]
    top = f"top {tuning['top_layers']} layers"
    layers = {"top": top, "all": "all layers"}.get(tuning["tune"], tuning["tune"])
    heads = config["head_learning_rate"]
    rest = "" if heads is None else f", heads {shown_rate(heads)}"
    steps = f"{config['steps']} steps"
    if method.adapted is not Method.adapted:
        steps = f"until its loss rises, at most {steps}"
    return f"{steps}, {layers}, {shown_rate(config['learning_rate'])}{rest}"
