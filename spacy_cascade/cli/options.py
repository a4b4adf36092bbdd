"""Options that several commands have."""

from collections.abc import Sequence
from typing import Any

import typer


def to_try(what: str, defaults: Sequence[float], *names: str) -> Any:
    """An option that can be given several times; without any the defaults are tried."""
    listed = ", ".join(f"{value:g}" for value in defaults)
    text = f"{what} to try; give it several times. By default {listed}"
    return typer.Option(*names, help=text, show_default=False)
