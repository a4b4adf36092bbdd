"""Arguments and options of commands; an option that several commands have is said once, here."""

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


def pipeline_at(path: Path | None) -> Path | None:
    """A callback that refuses the output folder of `spacy train`; raises `BadParameter`."""
    for name in ("model-best", "model-last"):
        if path is not None and (path / name).is_dir() and not (path / "config.cfg").exists():
            raise typer.BadParameter(f"{path} has several pipelines. Give {path / name}.")
    return path


def argument(name: str, text: str, **settings: Any) -> Any:
    """A positional argument; settings: those of Typer."""
    return typer.Argument(metavar=name, help=text, **settings)


def option(text: str, *names: str, **settings: Any) -> Any:
    """An option with its names, the long one first; settings: those of Typer."""
    return typer.Option(*names, help=text, **settings)


Model = Annotated[Path, argument("MODEL", "Trained pipeline", callback=pipeline_at)]
OtherModel = Annotated[
    Path | None,
    option("Trained pipeline that is asked about the texts", "--model", "-m", callback=pipeline_at),
]
Config = Annotated[Path, argument("CONFIG", "Training config")]
NewPipeline = Annotated[Path, argument("OUTPUT", "Folder for the new pipeline")]
Text = Annotated[str, argument("TEXT", "Text to annotate", callback=valid_text)]

Texts = Annotated[
    list[Path],
    argument("TEXT...", "Files .txt (a text a line), .jsonl, .spacy; .gz; or folders of them"),
]

TRAIN, DEV = "Docs to train on", "Docs to score on, not used in training"
Output = Annotated[Path, option("File or folder to write", "--output", "-o")]
OtherOutput = Annotated[Path | None, option("File or folder to write", "--output", "-o")]
Force = Annotated[bool, option("Replace OUTPUT", "--force", "-F")]
Json = Annotated[Path | None, option("Write the results to this JSON file", "--json")]
Html = Annotated[Path | None, option("Write the results to this HTML page", "--html")]
Train = Annotated[Path, option(TRAIN, "--train")]
Dev = Annotated[Path, option(DEV, "--dev")]
OtherTrain = Annotated[Path | None, option(TRAIN, "--train")]
OtherDev = Annotated[Path | None, option(DEV, "--dev")]
Unlabelled = Annotated[
    list[Path], option("Text without annotation; can be given several times", "--unlabelled")
]
Folds = Annotated[int, option("Parts of the training corpus; each is left out once", "--folds")]
Lang = Annotated[str, option("Language code", "--lang", "-l")]
Tokenizer = Annotated[
    str | None,
    option(
        "Registered tokenizer, pipeline, or training config (.cfg), that splits the text in place "
        "of that of the language",
        "--tokenizer",
    ),
]
Field = Annotated[
    str, option("JSON and Parquet: the field with the text", "--field", callback=valid_text)
]
Form = Annotated[
    str, option("Format of INPUT; auto recognises it by the content", "--format", "-f")
]
To = Annotated[str, option("Format to write", "--to")]
SpansKey = Annotated[
    str | None, option("Key of a group in doc.spans", "--spans-key", callback=valid_text)
]
Lost = Annotated[
    Path | None,
    option(
        "Write the spans that are left out to this file (.csv, .tsv or .jsonl), with their places "
        "and the reasons",
        "--lost",
    ),
]
SkipBad = Annotated[
    bool, option("Leave out records and spans that cannot be read, and list them", "--skip-bad")
]
Labels = Annotated[str, option("Entity types, separated by commas. Default: all", "--labels")]
Vectors = Annotated[
    str | None, option("Pipeline with word vectors, such as en_core_web_md", "--vectors")
]
Processes = Annotated[int, option("Processes (0: one per core)", "--processes", min=0)]
Rounds = Annotated[int, option("Largest number of rounds", "--rounds")]
Seed = Annotated[int, option("Seed of what is drawn at random", "--seed", min=0, max=2**32 - 1)]
MaxTerms = Annotated[int | None, option("Keep only so many terms, the best", "--max-terms", min=1)]


def option_to_try(what: str, defaults: Sequence[float], *names: str) -> Any:
    """An option that can be given several times, once for each value to try."""
    listed = ", ".join(f"{value:g}" for value in defaults)
    return option(f"{what} to try; can be given several times", *names, show_default=listed)


def split_labels(labels: str) -> tuple[str, ...]:
    """The names between the commas of `--labels`."""
    return tuple(label.strip() for label in labels.split(",") if label.strip())


def refuse_existing(output: Path, force: bool) -> None:
    """Raise `ConfigError` for an output that is there already, unless it is to be replaced."""
    if output.exists() and not force:
        raise ConfigError(f"{output} already exists. Replace it with --force.")


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
