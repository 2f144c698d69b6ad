"""The paper's tables and figures as recipes: one object for each, and the list of all."""

from spanproto.errors import ConfigError, nearest_name
from spanproto.paper import main_results
from spanproto.paper.recipe import Recipe

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        main_results.FEWNERD,
        main_results.CROSSDOMAIN,
    )
}
"""Every recipe by name, in the order of the paper."""


def recipe_named(name: str) -> Recipe:
    """The recipe of that name."""
    if name not in RECIPES:
        raise ConfigError(f"there is no recipe {name!r}; {nearest_name(name, RECIPES)}")
    return RECIPES[name]
