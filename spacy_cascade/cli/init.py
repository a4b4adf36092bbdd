"""The command `spacy cascade init`: a complete training config."""

import sys
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from ..errors import ConfigError
from ..workflows.recipes import Choices, Domain, Recipe, config_text, make_config
from .options import argument, option
from .output import print_good, reports_errors, write_text

Choice = TypeVar("Choice", Recipe, Domain)

_DEFAULT = Choices()


@reports_errors
def init_command(
    output: Annotated[Path, argument("OUTPUT.cfg", "Config to write")],
    lang: Annotated[str | None, option("Language code. Default: en", "--lang", "-l")] = None,
    domain: Annotated[
        Domain | None,
        option(
            "biomedical (the default) keeps names such as NF-kappa in one token; general uses the "
            "standard tokenizer of the language"
        ),
    ] = None,
    model: Annotated[
        Recipe | None,
        option(
            "memb (the default): the cascade with maximum entropy and a margin; ocr: the online "
            "cascade with reranking, faster to train and slightly less accurate; crf: a single "
            "conditional random field, for comparison"
        ),
    ] = None,
    tags: Annotated[
        bool | None, option("Use parts of speech as features. Default: no", "--tags/--no-tags")
    ] = None,
    small: Annotated[
        bool | None, option("The corpus has a few hundred sentences, or more", "--small/--large")
    ] = None,
    labels: Annotated[
        str | None, option("Entity types, separated by commas. Default: those of the corpus")
    ] = None,
    force: Annotated[bool, option("Replace OUTPUT.cfg", "--force", "-F")] = False,
) -> None:
    """
    Write a complete training config.

    In a terminal, the command asks for the options that describe the corpus if none of them is
    given. All other settings have the values of the configs in `configs/`.
    """
    given: dict[str, Any] = {
        "lang": lang, "domain": domain, "recipe": model, "tags": tags, "small": small,
        "labels": None if labels is None else _split(labels),
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    if output.exists() and not force:
        raise ConfigError(f"{output} already exists. Replace it with --force.")
    choices = Choices(**given) if given or not _is_terminal() else _ask()
    write_text(output, _comment(output, choices) + config_text(make_config(choices)))
    print_good(f"Config -> {output}. Its first lines say how to train it.")


def _split(labels: str) -> tuple[str, ...]:
    return tuple(label.strip() for label in labels.split(",") if label.strip())


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _ask() -> Choices:
    return Choices(
        lang=typer.prompt("Language", default=_DEFAULT.lang),
        domain=_ask_which("Domain", _DEFAULT.domain),
        recipe=_ask_which("Model", _DEFAULT.recipe),
        tags=typer.confirm("Use the parts of speech in the corpus as features?", default=False),
        small=typer.confirm("Does the corpus have fewer than 1,000 sentences?", default=False),
        labels=_split(
            typer.prompt(
                "Entity types, separated by commas (leave empty for those of the corpus)",
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
            "The trained pipeline needs tags, too: add a cascade_tagger as its first component.",
        ]
    return "".join(f"# {line}\n" for line in lines) + "\n"
