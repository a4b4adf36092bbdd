"""The command group `spacy cascade`.

spaCy imports this module through the entry point group `spacy_cli` before it reads its command
line, so the group is part of spaCy's commands by then.
"""

from typing import Annotated

import typer
from spacy.cli._util import app as spacy_app

from .joined import CommandGroup
from .output import DEBUG

app = typer.Typer(name="cascade", cls=CommandGroup, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def cascade(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors")] = False,
) -> None:
    """Commands for cascaded taggers and their training data."""
    DEBUG.is_on = debug


spacy_app.add_typer(app)
