"""Training configs that fit a corpus: what is seen in it, the rules, and the configs they make."""

from .config_text import comment, config_text
from .configs import Choices, Domain, Recipe, check_language, make_config

__all__ = [
    "Choices", "Domain", "Recipe", "check_language", "comment", "config_text", "make_config",
]  # fmt: skip
