"""The figures of the paper that explain and measure nothing, and where they are explained here."""

from spanproto.paper.page import Page, Table
from spanproto.paper.recipe import Recipe
from spanproto.paper.scores import Scores

_WHERE = {
    "An example of the 2-way 1-shot problem (Figure 1)": (
        "`spanproto demo` shows a larger one, 5-way 3-shot, and solves it"
    ),
    "The architecture (Figure 2)": "docs/method.md, with a drawing of both stages",
}


class Drawings(Recipe):
    """Figures without figures."""

    name = "drawings"
    title = "Drawings"
    place = "Figures 1 and 2 (fig:example, fig:model)"
    reads_data = trains = False

    def page(self, scores: Scores) -> Page:
        """Where each is explained."""
        rows = [(name, [where]) for name, where in _WHERE.items()]
        return Page("These explain and measure nothing.", [Table(("", "here"), rows)])
