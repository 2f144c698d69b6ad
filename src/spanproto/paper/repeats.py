"""What a training differs by when it is run again: a GPU does not repeat itself to the last bit."""

from collections.abc import Iterable

from spanproto.paper.comparison import column_title
from spanproto.paper.scores import Scores
from spanproto.paper.variants import PLAIN

KEPT = "margin-3-kept"  # the same model, of the training that is scored with r = 3 as well
SMALL = 0.5  # points of F1 between figures of one seed each, which may be chance


def repeated(scores: Scores, columns: Iterable[str]) -> list[str]:
    """A sentence on trainings of one setting and one seed that were run twice, if there are any."""
    found = []
    for column in columns:
        seeds = scores.files(column, PLAIN).keys() & scores.files(column, KEPT).keys()
        if seeds:
            first, second = (scores.read(column, name, {min(seeds)})[0] for name in (PLAIN, KEPT))
            times = {one["model"].get("origin", {}).get("time") for one in (first, second)}
            if len(times) > 1:
                figures = " and ".join(f"{one['micro']['f1']:.2f}" for one in (first, second))
                found.append(f"{figures} on {column_title(column)}")
    if not found:
        return []
    return [
        "The same model, trained twice with the same seed (recipes that are run apart train "
        f"again), has {', '.join(found)}: a GPU does not repeat itself, and differences as small "
        "as these say nothing."
    ]
