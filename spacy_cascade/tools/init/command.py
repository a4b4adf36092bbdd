"""The command `spacy cascade init`: a complete training config."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from ...cli.options import (
    Folds,
    Force,
    Labels,
    OtherDev,
    OtherTrain,
    Processes,
    argument,
    option,
    refuse_existing,
    split_labels,
)
from ...cli.output import print_good, print_info, reports_errors, write_text
from ...errors import ConfigError
from ...parallel import available_cores
from ..recipes.configs import Choices, Domain, Recipe
from .shipped import shipped_configs, shipped_text


@reports_errors
def init_command(
    output: Annotated[Path, argument("OUTPUT.cfg", "Config to write")],
    train: OtherTrain = None,
    dev: OtherDev = None,
    hold_out: Annotated[
        float | None,
        option(
            "Share of --train to score on where there is no --dev, by documents. Default: 0.1; "
            "with --auto 0",
            "--hold-out",
        ),
    ] = None,
    auto: Annotated[
        bool, option("Also train, try variants, and keep the best config and pipeline", "--auto")
    ] = False,
    lang: Annotated[str | None, option("Language code", "--lang", "-l")] = None,
    domain: Annotated[
        Domain | None,
        option(
            "biomedical keeps names such as NF-kappa in one token; general uses the standard "
            "tokenizer of the language. Default: as in --train, else biomedical"
        ),
    ] = None,
    recipe: Annotated[
        Recipe | None,
        option(
            "memb (the default): the cascade with maximum entropy and a margin; semi: the same, "
            "whose segmenter scores spans as wholes, too; memm: the same, whose segmenter is a "
            "maximum entropy Markov model, for comparison; ocr: the online cascade with reranking, "
            "faster to train and slightly less accurate; crf: a single conditional random field, "
            "for comparison"
        ),
    ] = None,
    shipped: Annotated[
        str | None,
        option(f"Only copy a config of the package: {', '.join(shipped_configs())}", "--from"),
    ] = None,
    tags: Annotated[
        bool | None, option("Use parts of speech as features. Default: no", "--tags/--no-tags")
    ] = None,
    small: Annotated[
        bool | None, option("The corpus has a few hundred sentences, or more", "--small/--large")
    ] = None,
    labels: Labels = "",
    words: Annotated[
        list[Path] | None,
        option(
            "Table of words to look at, besides what the package knows of the language: a file of "
            "'spacy cascade words make', or a list of clusters; can be given several times",
        ),
    ] = None,
    no_words: Annotated[
        bool, option("Leave out what the package knows of the words of the language", "--no-words")
    ] = False,
    network: Annotated[
        bool, option("Score words by a small network, too; training takes about twice as long")
    ] = False,
    plain_copies: Annotated[
        bool,
        option(
            "Also learn copies of documents in lower case and without accents, for texts in use "
            "that are typed so",
            "--plain-copies",
        ),
    ] = False,
    trainings: Annotated[int, option("With --auto: the largest number of trainings")] = 5,
    folds: Folds = 3,
    processes: Processes = 0,
    output_model: Annotated[
        Path | None,
        option(
            "With --auto: folder for model-best. Default: OUTPUT without .cfg", "--output-model"
        ),
    ] = None,
    force: Force = False,
) -> None:
    """
    Write a complete training config.

    With --train, the command looks at the corpus and chooses the settings for it. The comments in
    the config say what it saw, and why it chose so. Without --dev, a part of the corpus is held out
    to score on, and written beside the config. Options that are given win. The language is
    that of the corpus if its words tell, else en. All components look at the tables of words:
    those of the package, which has some for English, and those of --words.

    With --auto, it also trains with these settings, tries the changes that are most likely to
    gain on this corpus, and leaves the best pipeline in OUTPUT/model-best. Ctrl-C keeps the best
    one so far. Processes run trainings at the same time; without --dev each training is one for
    each of the folds.

    In a terminal, the command asks for what describes the corpus if none of these options is
    given. All other settings have the values of the configs in `configs/`.
    """
    from ..recipes import config_text, make_config
    from ..recipes.describing import describe, heading, suggested_text, train_command
    from ..recipes.suggesting import look_at, named_tables, suggest
    from .auto import Budget, search_config
    from .holding_out import SHARE, make_parts
    from .questions import ask

    given: dict[str, Any] = {
        "train": train, "dev": dev, "lang": lang, "domain": domain, "recipe": recipe, "tags": tags,
        "small": small, "labels": split_labels(labels) or None,
    }  # fmt: skip
    given |= {"words": named_tables(words)} if words else {}
    given |= {"no_words": True} if no_words else {}
    given |= {"network": True} if network else {}
    given |= {"plain_copies": True} if plain_copies else {}
    given = {name: value for name, value in given.items() if value is not None}
    _check(output, force, train, {"--auto": auto, "--dev": dev, "--hold-out": hold_out})
    if shipped is not None:
        if given:
            raise ConfigError("--from copies a config as it is. Leave out the other options.")
        _write(output, shipped_text(shipped, output))
        return
    share = hold_out if hold_out is not None else 0.0 if auto else SHARE

    def parted(corpus: Path) -> tuple[Path, Path | None]:
        return make_parts(corpus, share, output, force) if share else (corpus, None)

    if train is not None and dev is None:
        train, dev = parted(train)
        given |= {"train": train} if dev is None else {"train": train, "dev": dev}
    profile = None if train is None else look_at(train, dev, given)
    if not given and _is_terminal():
        profile, given = ask(parted)
    if profile is None:
        choices = Choices(**given)
        _write(output, heading(output, choices) + config_text(make_config(choices)))
        return
    suggestion = suggest(profile, given)
    for text in describe(profile):
        print_info(text)
    if auto:
        budget = Budget(trainings, folds, processes or available_cores())
        search_config(output, output_model or output.with_suffix(""), profile, suggestion, budget)
        return
    write_text(output, suggested_text(output, profile, suggestion))
    command = train_command(output, suggestion.choices)
    print_good(f"Config -> {output}. Its comments say why. Train it: {command}")


def _write(output: Path, text: str) -> None:
    """A config for no corpus in particular."""
    write_text(output, text)
    print_good(f"Config -> {output}. Its first lines say how to train it.")


def _check(output: Path, force: bool, train: Path | None, options: Mapping[str, object]) -> None:
    """options: those that say what to do with the corpus."""
    refuse_existing(output, force)
    given = [name for name, value in options.items() if value]
    if train is None and given:
        raise ConfigError(f"{given[0]} needs a corpus to train on. Add --train.")
    if "--dev" in given and "--hold-out" in given:
        raise ConfigError("--dev has Docs to score on: none are held out. Leave out one of both.")


def _is_terminal() -> bool:
    return sys.stdin.isatty()
