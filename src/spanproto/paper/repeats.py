"""What a training differs by when it is run again: a GPU does not repeat itself to the last bit."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from spanproto.paper.comparison import column_title
from spanproto.paper.scores import Scores
from spanproto.paper.variants import PLAIN

KEPT = "margin-3-kept"  # the same model, of the training that is scored with r = 3 as well
SMALL = 1.0  # points of F1 between trainings with one seed each, which may be chance


def repeated(scores: Scores, columns: Iterable[str]) -> list[str]:
    """A sentence on trainings of one setting and one seed that were run twice, if there are any."""
    found = []
    for column in columns:
        seeds = scores.files(column, PLAIN).keys() & scores.files(column, KEPT).keys()
        if seeds:
            first, second = (scores.read(column, name, {min(seeds)})[0] for name in (PLAIN, KEPT))
            if _trained(first) != _trained(second):
                figures = " and ".join(f"{one['micro']['f1']:.2f}" for one in (first, second))
                found.append(f"{figures} on {column_title(column)}")
    if not found:
        return []
    return [
        "The same model, trained twice with the same seed (recipes that are run apart train "
        f"again), has {', '.join(found)}: a GPU does not repeat itself, and differences as small "
        "as these say nothing."
    ]


def other_training(
    scores: Scores, column: str, settings: Mapping[str, str], seeds: Collection[int]
) -> list[str]:
    """Those settings of a sweep in prediction alone that were scored after another training.

    `settings` has the name of each one's scoring. The training that most of them share is the one
    that the others are other than.
    """
    trained = {
        setting: _trained(contents[0])
        for setting, name in settings.items()
        if (contents := scores.read(column, name, seeds))
    }
    if not trained:
        return []
    most = Counter(trained.values()).most_common(1)[0][0]
    return [setting for setting, time in trained.items() if time != most]


def _trained(content: Mapping[str, Any]) -> str | None:
    """When the model behind a score was trained."""
    time: str | None = (content["model"].get("origin") or {}).get("time")
    return time
