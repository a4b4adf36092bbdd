"""Options that several commands have."""

from collections.abc import Sequence
from typing import Any

import typer
from spacy.cli._util import parse_config_overrides

from spacy_cascade.errors import ConfigError
from spacy_cascade.features.strings import is_valid

OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Context settings of a command that takes overrides of a config after its own arguments."""


def valid_text(text: str | None) -> str | None:
    """A callback for what goes into a Doc; raises `BadParameter` for what no Doc can have."""
    if text is not None and not is_valid(text):
        raise typer.BadParameter("It is not valid UTF-8. Check the encoding of the terminal.")
    return text


def to_try(what: str, defaults: Sequence[float], *names: str) -> Any:
    """An option that can be given several times; without any the defaults are tried."""
    listed = ", ".join(f"{value:g}" for value in defaults)
    text = f"{what} to try; give it several times. By default {listed}"
    return typer.Option(*names, help=text, show_default=False)


def read_overrides(arguments: Sequence[str]) -> dict[str, Any]:
    """Values by dotted names, as `spacy train` takes them after a config.

    arguments: what is left of the command line. Raises `ConfigError` where it is something else.
    """
    for i, argument in enumerate(arguments):
        is_value = i > 0 and arguments[i - 1].startswith("--") and "=" not in arguments[i - 1]
        is_name = argument.startswith("--")
        if (is_name and "." not in argument.split("=")[0]) or not (is_name or is_value):
            raise ConfigError(
                f"There is no option or argument {argument} here. --help shows all; settings of "
                "the config have a dot, as --training.max_epochs 3."
            )
    overrides: dict[str, Any] = parse_config_overrides(list(arguments))
    return overrides
