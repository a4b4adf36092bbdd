"""Arguments and options that several commands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.cli._util import parse_config_overrides

from ..errors import ConfigError
from ..features.strings import is_valid

OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Context settings of a command whose own arguments may be followed by config overrides."""


def valid_text(text: str | None) -> str | None:
    """A callback that refuses text which no Doc can hold; raises `BadParameter`."""
    if text is not None and not is_valid(text):
        raise typer.BadParameter("It is not valid UTF-8. Check the encoding of the terminal.")
    return text


def argument(name: str, text: str) -> Any:
    return typer.Argument(metavar=name, help=text)


def option(text: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=text, **settings)


def pipeline_at(path: Path | None) -> Path | None:
    """A callback that refuses the output folder of `spacy train`; raises `BadParameter`."""
    for name in ("model-best", "model-last"):
        if path is not None and (path / name).is_dir() and not (path / "config.cfg").exists():
            raise typer.BadParameter(f"{path} has several pipelines. Give {path / name}.")
    return path


Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Trained pipeline", callback=pipeline_at)
]
Output = Annotated[Path, argument("OUTPUT", "Folder for the new pipeline")]
Unseen = Annotated[Path, argument("DATA.spacy", "Docs with entities, not used in training")]
Force = Annotated[bool, option("Replace OUTPUT", "--force", "-F")]
Text = Annotated[str, typer.Argument(metavar="TEXT", callback=valid_text, help="Text to annotate")]
Json = Annotated[Path | None, option("Write the results to this JSON file")]
Html = Annotated[Path | None, option("Write the results to this HTML page")]


def refuse_existing(output: Path, force: bool) -> None:
    """Raise `ConfigError` for an output that is there already, unless it is to be replaced."""
    if output.exists() and not force:
        raise ConfigError(f"{output} already exists. Replace it with --force.")


def option_to_try(what: str, defaults: Sequence[float], *names: str) -> Any:
    """An option that can be given several times, once for each value to try."""
    listed = ", ".join(f"{value:g}" for value in defaults)
    text = f"{what} to try; can be given several times. Default: {listed}"
    return typer.Option(*names, help=text, show_default=False)


def read_overrides(arguments: Sequence[str]) -> dict[str, Any]:
    """Settings by their dotted names, as `spacy train` takes them after a config.

    arguments: the rest of the command line. Raises `ConfigError` if it holds anything else.
    """
    for i, argument in enumerate(arguments):
        is_value = i > 0 and arguments[i - 1].startswith("--") and "=" not in arguments[i - 1]
        is_name = argument.startswith("--")
        if (is_name and "." not in argument.split("=")[0]) or not (is_name or is_value):
            raise ConfigError(
                f"There is no option or argument {argument} here. --help lists all of them; a "
                "setting of the config has a dot in its name, as in --training.max_epochs 3."
            )
    overrides: dict[str, Any] = parse_config_overrides(list(arguments))
    return overrides
