"""Training configs that fit a corpus: what is seen in it, the rules, and the configs they make."""

from .choices import Choices, Domain, Recipe
from .config_text import comment, config_text
from .configs import check_language, make_config

__all__ = [
    "Choices", "Domain", "Recipe", "check_language", "comment", "config_text", "make_config",
]  # fmt: skip
