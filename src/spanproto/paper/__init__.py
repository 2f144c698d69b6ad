"""The paper's tables and figures as recipes: one object for each, and the list of all."""

from spanproto.errors import ConfigError, nearest_name
from spanproto.paper import ablation, grid_search, main_results
from spanproto.paper.boundary_case import BoundaryCase
from spanproto.paper.datasets import Datasets
from spanproto.paper.drawings import Drawings
from spanproto.paper.errors import Errors
from spanproto.paper.hyper_parameters import HyperParameters
from spanproto.paper.margin import Margin
from spanproto.paper.nested import NestedNER
from spanproto.paper.recipe import Recipe
from spanproto.paper.slot_filling import SlotFilling
from spanproto.paper.span_extraction import SpanExtraction
from spanproto.paper.span_map import SpanMap

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Drawings(),
        Datasets(),
        main_results.FEWNERD,
        main_results.CROSSDOMAIN,
        ablation.SHORT,
        ablation.FEWNERD,
        ablation.CROSSDOMAIN,
        SpanExtraction(),
        BoundaryCase(),
        HyperParameters(),
        Margin(),
        SpanMap(),
        Errors(),
        NestedNER(),
        SlotFilling(),
        grid_search.GRID_SEARCH,
        grid_search.TPE_SEARCH,
    )
}
"""Every recipe by name, in the order of the paper's main part; then what is beyond it."""


def recipe_named(name: str) -> Recipe:
    """The recipe of that name."""
    if name not in RECIPES:
        raise ConfigError(f"there is no recipe {name!r}; {nearest_name(name, RECIPES)}")
    return RECIPES[name]
