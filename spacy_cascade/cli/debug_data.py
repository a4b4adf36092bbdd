"""The command `spacy cascade debug-data`: a look at a corpus before training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import resolve_dot_names
from wasabi import msg
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import read_overrides
from spacy_cascade.cli.output import print_line
from spacy_cascade.errors import CascadeError, ConfigError
from spacy_cascade.reports import corpus
from spacy_cascade.workflows.folds import refused
from spacy_cascade.workflows.jackknife import read_config

RARE = 50
"""Entities of a label below which a model learns little of it."""
_EXAMPLES = 5
_VECTORS = 6
"""Arrays as long as the parameters that training holds beside the history of L-BFGS."""


def debug_data_command(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Training config")],
) -> None:
    """
    Look at the corpora of a training config.

    Labels and how often they occur, entities that may be slips of an annotator or that cannot be
    learnt, what train and dev share, and how large the models will be. Nothing is trained.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --paths.train TRAIN.spacy --paths.dev DEV.spacy
    """
    try:
        nlp, train, dev = _read(config, read_overrides(context.args))
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None
    references = [[example.reference for example in examples] for examples in (train, dev)]
    _print_sizes(*references)
    _print_labels(references[0], references[1], _labels_of(nlp))
    _print_oddities(references[0], train)
    _print_overlap(*references)
    _print_models(nlp)


def _read(config: Path, overrides: dict[str, Any]) -> tuple[Language, list[Example], list[Example]]:
    """The initialized pipeline and both corpora, as training reads them."""
    read = read_config(config, overrides)
    try:
        nlp = init_nlp(read)
        training = nlp.config.interpolate()["training"]
        names = [training["train_corpus"], training["dev_corpus"]]
        readers = resolve_dot_names(nlp.config.interpolate(), names)
        train, dev = (list(reader(nlp)) for reader in readers)
    except CascadeError:
        raise
    except ValueError as error:
        raise refused(str(config), error) from error
    if not any(example.reference.ents for example in train):
        raise ConfigError("The training corpus has no entities in doc.ents. Check --paths.train.")
    return nlp, train, dev


def _print_sizes(train: Sequence[Doc], dev: Sequence[Doc]) -> None:
    sizes = [corpus.measure_size(docs) for docs in (train, dev)]
    names = ("documents", "sentences", "tokens", "entities", "empty", "unannotated")
    titles = (*names[:4], "documents without entities", "tokens without annotation")
    rows = [
        (title, *(_number(getattr(size, name)) for size in sizes))
        for name, title in zip(names, titles, strict=True)
    ]
    msg.table(rows, header=("", "train", "dev"), divider=True, aligns=("l", "r", "r"))


def _number(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"


def _labels_of(nlp: Language) -> set[str]:
    """Labels of the cascade's components that set entities; none where there are none."""
    pipes: list[Any] = [pipe for _, pipe in nlp.pipeline]
    setting = [pipe for pipe in pipes if getattr(pipe, "cfg", {}).get("set_ents")]
    return {label for pipe in setting for label in pipe.labels}


def _print_labels(train: Sequence[Doc], dev: Sequence[Doc], known: set[str]) -> None:
    counts = [corpus.measure_size(docs).labels for docs in (train, dev)]
    labels = sorted(counts[0] | counts[1])
    rows = [(label, *(f"{count[label]:,}" for count in counts)) for label in labels]
    msg.table(rows, header=("label", "train", "dev"), divider=True, aligns=("l", "r", "r"))
    for label in labels:
        if counts[0][label] == 0:
            _warn(f"'{label}' is in dev only: it cannot be learnt.")
        elif counts[0][label] < RARE:
            _warn(f"'{label}' has {counts[0][label]} entities in train: few to learn from.")
        if known and counts[0][label] and label not in known:
            _warn(
                f"'{label}' is not among the labels under [initialize.components]: its entities "
                "are not learnt, and where some are found they get another label."
            )


def _print_oddities(docs: Sequence[Doc], examples: Sequence[Example]) -> None:
    for kind, entities in corpus.find_oddities(docs).items():
        texts = list(dict.fromkeys(_clip(entity.text) for entity in entities))
        shown = "; ".join(texts[:_EXAMPLES])
        _warn(f"An entity {kind.value}: {len(entities):,} times in train. {shown}")
    misaligned = corpus.count_misaligned(examples)
    if misaligned:
        _warn(
            f"{misaligned:,} entities of train cannot be expressed with the tokens of the "
            "pipeline, and are not learnt. Choose another [nlp.tokenizer]."
        )
    ambiguous = corpus.find_ambiguous(docs)
    if ambiguous:
        texts = [
            f"{_clip(text)} ({', '.join(f'{label} {n}' for label, n in counts.most_common())})"
            for text, counts in ambiguous.items()
        ]
        shown = "; ".join(texts[:_EXAMPLES])
        print_line(MESSAGES.INFO, f"{len(texts):,} texts have several labels in train. {shown}")


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _print_overlap(train: Sequence[Doc], dev: Sequence[Doc]) -> None:
    found = corpus.measure_overlap(train, dev)
    if found.documents:
        _warn(f"{100 * found.documents:.1f} % of the documents of dev are in train, too.")
    print_line(
        MESSAGES.INFO,
        f"Of dev, train has {100 * found.sentences:.1f} % of the sentences, and of the entities "
        f"{100 * found.mentions:.1f} % with the same words and label.",
    )


def _print_models(nlp: Language) -> None:
    rows = []
    for name, pipe in nlp.pipeline:
        model: Any = getattr(pipe, "model", None)
        trainer = getattr(pipe, "trainer", None)
        if trainer is None or not model.has_param("W"):
            continue
        features, weights = model.get_param("W").shape[0], model.get_param("W").size
        vectors = _VECTORS + 2 * getattr(trainer, "history", 0)
        rows.append(
            (
                name,
                f"{features:,}",
                f"{weights:,}",
                f"{weights * 2 / 1e6:.1f} MB",
                f"{weights * 8 * vectors / 1e6:,.0f} MB",
            )
        )
    header = ("component", "features", "weights", "on disk, at most", "vectors in training")
    msg.table(rows, header=header, divider=True, aligns=("l", "r", "r", "r", "r"))


def _warn(text: str) -> None:
    print_line(MESSAGES.WARN, text)
