"""The command `spacy cascade init`: a complete training config."""

import sys
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from wasabi.util import MESSAGES

from spacy_cascade.cli.output import print_line, write_text
from spacy_cascade.errors import CascadeError, ConfigError
from spacy_cascade.workflows.recipes import (
    Choices,
    Domain,
    Recipe,
    config_text,
    make_config,
)

Choice = TypeVar("Choice", Recipe, Domain)

_DEFAULT = Choices()


def init_command(
    output: Annotated[Path, typer.Argument(metavar="OUTPUT.cfg", help="Config to write")],
    lang: Annotated[
        str | None, typer.Option("--lang", "-l", help="spaCy's code of the language. By default en")
    ] = None,
    domain: Annotated[
        Domain | None,
        typer.Option(
            help="biomedical (the default) keeps names as NF-kappa whole, general has the "
            "tokenizer of the language"
        ),
    ] = None,
    model: Annotated[
        Recipe | None,
        typer.Option(
            help="memb (the default): the cascade by L-BFGS; ocr: online, quicker, a little less "
            "accurate; crf: a single chain, for comparison"
        ),
    ] = None,
    tags: Annotated[
        bool | None, typer.Option("--tags/--no-tags", help="Look at parts of speech. By default no")
    ] = None,
    small: Annotated[
        bool | None,
        typer.Option("--small/--large", help="For a few hundred sentences. By default more"),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Types of entities, with commas. By default those of the corpus"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-F", help="Replace OUTPUT.cfg")] = False,
) -> None:
    """
    Write a complete training config.

    In a terminal, and with none of the options that describe the corpus, it asks for them.
    Everything else is in the config that it writes, with the values of `configs/`.
    """
    given: dict[str, Any] = {
        "lang": lang, "domain": domain, "recipe": model, "tags": tags, "small": small,
        "labels": None if labels is None else _listed(labels),
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    try:
        if output.exists() and not force:
            raise ConfigError(f"{output} is there already. Replace it with --force.")
        choices = Choices(**given) if given or not _is_terminal() else _ask()
        config = make_config(choices)
        write_text(output, _comment(output, choices) + config_text(config))
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    print_line(MESSAGES.GOOD, f"Config -> {output}. Its first lines say how to train it.")


def _listed(labels: str) -> tuple[str, ...]:
    return tuple(label.strip() for label in labels.split(",") if label.strip())


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _ask() -> Choices:
    """The choices, asked for one by one."""
    return Choices(
        lang=typer.prompt("Language", default=_DEFAULT.lang),
        domain=_ask_which("Domain", _DEFAULT.domain),
        recipe=_ask_which("Model", _DEFAULT.recipe),
        tags=typer.confirm("Look at parts of speech, which the corpus has?", default=False),
        small=typer.confirm("Has the corpus fewer than a thousand sentences?", default=False),
        labels=_listed(
            typer.prompt(
                "Types of entities, with commas; nothing for those of the corpus",
                default="",
                show_default=False,
            )
        ),
    )


def _ask_which(question: str, default: Choice) -> Choice:
    names = [choice.value for choice in type(default)]
    while True:
        answer = typer.prompt(f"{question} ({', '.join(names)})", default=default.value)
        if answer in names:
            return type(default)(answer)


def _comment(output: Path, choices: Choices) -> str:
    """First lines of the config: what it is and how to use it."""
    paths = "--paths.train train.spacy --paths.dev dev.spacy"
    lines = [
        f"Named entities, {choices.domain.value} text: spacy cascade init --model "
        f"{choices.recipe.value}",
        f"python -m spacy cascade debug-data {output.name} {paths}",
        f"python -m spacy train {output.name} --output OUT {paths}",
    ]
    if choices.tags:
        lines += [
            "Both corpora need predicted tags, which python -m spacy cascade jackknife sets.",
            "A trained pipeline needs what sets them: add a cascade_tagger in front.",
        ]
    return "".join(f"# {line}\n" for line in lines) + "\n"
