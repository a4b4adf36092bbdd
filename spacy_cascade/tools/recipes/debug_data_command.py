"""The command `spacy cascade debug-data`: a check of a corpus before training."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import resolve_dot_names

from ...cli.options import argument, read_overrides
from ...cli.output import counted, print_info, print_table, print_warning, reports_errors
from ...errors import CascadeError, ConfigError
from ...pipeline.base import CascadePipe
from ...pipeline.sizes import room_of
from ...workflows.folds import refused
from ...workflows.jackknife import read_config
from ..formats.contradictions import pieces_of
from ..formats.converted import print_contradictions
from ..reports import corpus
from ..tokenizers.lost_spans import count_lost
from .describing import lost_text
from .tokenizer_options import print_tokenizers

RARE = 50
"""A label with fewer entities is hard to learn."""
_EXAMPLES = 5


@reports_errors
def debug_data_command(
    context: typer.Context, config: Annotated[Path, argument("CONFIG", "Training config")]
) -> None:
    """
    Check the corpora of a training config.

    The command counts the labels, lists entities that look like annotation errors or cannot be
    learnt, measures how tokenizers agree with the corpus, and the overlap of train and dev, and
    estimates the sizes of the models. It trains nothing.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --paths.train TRAIN.spacy --paths.dev DEV.spacy
    """
    nlp, train, dev = _read(config, read_overrides(context.args))
    train_docs, dev_docs = ([example.reference for example in part] for part in (train, dev))
    sizes = [corpus.measure_size(docs) for docs in (train_docs, dev_docs)]
    _print_sizes(sizes)
    _print_labels(sizes[0].labels, sizes[1].labels, _labels_of(nlp))
    _print_oddities(train_docs)
    print_contradictions(chain(pieces_of(train_docs, "train"), pieces_of(dev_docs, "dev")))
    if lost := count_lost(train_docs):
        print_warning(lost_text(lost))
    print_tokenizers(nlp, train)
    _print_overlap(train_docs, dev_docs)
    _print_models(nlp)
    _print_cut_spans(nlp)


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


def _print_sizes(sizes: Sequence[corpus.Size]) -> None:
    titles = {"empty": "documents without entities", "unannotated": "tokens without annotation"}
    rows = []
    for name in ("documents", "sentences", "tokens", "entities", *titles):
        counts = [getattr(size, name) for size in sizes]
        shown = ["unknown" if count is None else f"{count:,}" for count in counts]
        rows.append((titles.get(name, name), *shown))
    print_table(rows, ("", "train", "dev"), "lrr")


def _labels_of(nlp: Language) -> set[str]:
    """Labels of the components of the cascade that set entities."""
    pipes: list[Any] = [pipe for _, pipe in nlp.pipeline]
    setting = [pipe for pipe in pipes if getattr(pipe, "cfg", {}).get("set_ents")]
    return {label for pipe in setting for label in pipe.labels}


def _print_labels(train: Counter[str], dev: Counter[str], known: set[str]) -> None:
    labels = sorted(train | dev)
    rows = [(label, f"{train[label]:,}", f"{dev[label]:,}") for label in labels]
    print_table(rows, ("label", "train", "dev"), "lrr")
    for label in labels:
        if train[label] == 0:
            print_warning(f"'{label}' occurs in dev only: it cannot be learnt.")
        elif train[label] < RARE:
            n = counted(train[label], "entity", "entities")
            print_warning(f"'{label}' has only {n} in train: it is hard to learn.")
        if known and train[label] and label not in known:
            print_warning(
                f"'{label}' is not among the labels under [initialize.components]: its entities "
                "are not learnt, and those that are found get another label."
            )


def _print_oddities(docs: Sequence[Doc]) -> None:
    for kind, entities in corpus.find_oddities(docs).items():
        texts = list(dict.fromkeys(_clip(entity.text) for entity in entities))
        shown = "; ".join(texts[:_EXAMPLES])
        times = counted(len(entities), "time")
        print_warning(f"An entity {kind.value}: {times} in train. {shown}")
    ambiguous = corpus.find_ambiguous(docs)
    if ambiguous:
        texts = [
            f"{_clip(text)} ({', '.join(f'{label} {n}' for label, n in counts.most_common())})"
            for text, counts in ambiguous.items()
        ]
        shown = "; ".join(texts[:_EXAMPLES])
        print_info(f"{len(texts):,} texts have more than one label in train. {shown}")


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _print_overlap(train: Sequence[Doc], dev: Sequence[Doc]) -> None:
    found = corpus.measure_overlap(train, dev)
    if found.documents:
        print_warning(f"{100 * found.documents:.1f} % of the documents in dev are also in train.")
    print_info(
        f"{100 * found.sentences:.1f} % of the sentences in dev are also in train, and so are "
        f"{100 * found.mentions:.1f} % of its entities, with the same words and label."
    )


def _print_models(nlp: Language) -> None:
    rows = []
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for name, pipe in pipes:
        model: Any = getattr(pipe, "model", None)
        if getattr(pipe, "trainer", None) is None or not model.has_param("W"):
            continue
        features, weights = model.get_param("W").shape[0], model.get_param("W").size
        on_disk = f"{weights * 2 / 1e6:.1f} MB"
        in_training = f"{room_of(pipe, *model.get_param('W').shape).n_bytes / 1e6:,.0f} MB"
        rows.append((name, f"{features:,}", f"{weights:,}", on_disk, in_training))
    header = ("component", "features", "weights", "disk space, at most", "memory, at least")
    print_table(rows, header, "lrrrr")


def _print_cut_spans(nlp: Language) -> None:
    """What components with a longest segment leave out."""
    for name, pipe in nlp.pipeline:
        cut = pipe.space.too_long() if isinstance(pipe, CascadePipe) else None
        if cut is not None:
            print_warning(f"'{name}' {cut}")
