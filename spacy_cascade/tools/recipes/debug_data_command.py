"""The command `spacy cascade debug-data`: a check of a corpus before training."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thinc.api
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_model_from_config, resolve_dot_names

from ...cli.options import Config, Lost, read_overrides
from ...cli.output import (
    check_rows_file,
    counted,
    percent,
    print_info,
    print_line,
    print_table,
    print_warning,
    reports_errors,
)
from ...errors import CascadeError, ConfigError, TrainingError

if TYPE_CHECKING:
    from ..reports.corpus import Size
    from ..tokenizers.choosing import TokenizerMeasure

RARE = 50
"""A label with fewer entities is hard to learn."""
_EXAMPLES = 5
_WORTH_A_CHANGE = 0.002
"""A tokenizer is suggested if it is better by so much (`TokenizerMeasure.score`)."""


@reports_errors
def debug_data_command(context: typer.Context, config: Config, lost: Lost = None) -> None:
    """
    Check the corpora of a training config.

    The command counts the labels, lists entities that look like annotation errors or cannot be
    learnt, measures how tokenizers agree with the corpus, and the overlap of train and dev, and
    estimates the sizes of the models. It trains nothing. --lost lists the spans of both corpora
    that tokens cannot express, those that `convert` noted included.

    Settings of CONFIG can be changed at the end of the line, as for spacy train:
    --paths.train TRAIN.spacy --paths.dev DEV.spacy
    """
    from ..formats.contradictions import pieces_of
    from ..formats.converted import print_contradictions
    from ..reports.corpus import measure_size
    from ..tokenizers.lost_spans import count_lost
    from .describing import lost_text
    from .nested_spans import discontinuous_text, measure_nested, nested_text

    check_rows_file(lost)
    nlp, train, dev = _read(config, read_overrides(context.args), lost)
    train_docs, dev_docs = ([example.reference for example in part] for part in (train, dev))
    sizes = [measure_size(docs) for docs in (train_docs, dev_docs)]
    _print_sizes(sizes)
    _print_labels(sizes[0].labels, sizes[1].labels, _labels_of(nlp))
    _print_oddities(train_docs)
    print_contradictions(chain(pieces_of(train_docs, "train"), pieces_of(dev_docs, "dev")))
    if nested := measure_nested(train_docs):
        print_info(nested_text(nested))
    if discontinuous := discontinuous_text(train_docs):
        print_info(discontinuous)
    if gone := count_lost(train_docs):
        print_warning(lost_text(gone))
    if lost is not None:
        _write_left_out(lost, nlp, train, dev)
    _print_tokenizers(nlp, train)
    _print_overlap(train_docs, dev_docs)
    _print_models(nlp)
    _print_cut_spans(nlp)


def _read(
    config: Path, overrides: dict[str, Any], lost: Path | None
) -> tuple[Language, list[Example], list[Example]]:
    """The initialized pipeline and both corpora, as training reads them.

    lost: file for the spans that are not learnt, where an error says that none are.
    """
    from ...workflows.folds import refused
    from ...workflows.jackknife import read_config

    read = read_config(config, overrides)
    try:
        try:
            nlp = init_nlp(read)
        except TrainingError:
            if lost is not None:
                bare = load_model_from_config(read, auto_fill=True)
                _write_left_out(lost, bare, *_corpora(bare))
            raise
        train, dev = _corpora(nlp)
    except CascadeError:
        raise
    except ValueError as error:
        raise refused(str(config), error) from error
    if not any(example.reference.ents for example in train):
        raise ConfigError("The training corpus has no entities in doc.ents. Check --paths.train.")
    return nlp, train, dev


def _corpora(nlp: Language) -> tuple[list[Example], list[Example]]:
    """The examples to train on, and to score on."""
    from .nested_spans import take_entities

    training = nlp.config.interpolate()["training"]
    names = [training["train_corpus"], training["dev_corpus"]]
    readers = resolve_dot_names(nlp.config.interpolate(), names)
    train, dev = (list(reader(nlp)) for reader in readers)
    for part in (train, dev):
        take_entities(example.reference for example in part)
    return train, dev


def _write_left_out(
    path: Path, nlp: Language, train: Sequence[Example], dev: Sequence[Example]
) -> None:
    """Write the spans of both corpora that are not learnt."""
    from ...pipeline.misfits import left_out_spans
    from ..formats.converted import write_lost
    from ..tokenizers.lost_spans import lost_spans

    found = [
        span._replace(document=f"{name}, document {span.document}")
        for name, examples in (("train", train), ("dev", dev))
        for span in chain(
            *(lost_spans(each.reference, n) for n, each in enumerate(examples, start=1)),
            left_out_spans(nlp, examples),
        )
    ]
    write_lost(path, found)


def _print_sizes(sizes: "Sequence[Size]") -> None:
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
    from ..reports.corpus import find_ambiguous, find_oddities

    for kind, entities in find_oddities(docs).items():
        texts = list(dict.fromkeys(_clip(entity.text) for entity in entities))
        shown = "; ".join(texts[:_EXAMPLES])
        times = counted(len(entities), "time")
        print_warning(f"An entity {kind.value}: {times} in train. {shown}")
    ambiguous = find_ambiguous(docs)
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
    from ..reports.corpus import measure_overlap

    found = measure_overlap(train, dev)
    if found.documents:
        print_warning(f"{100 * found.documents:.1f} % of the documents in dev are also in train.")
    print_info(
        f"{100 * found.sentences:.1f} % of the sentences in dev are also in train, and so are "
        f"{100 * found.mentions:.1f} % of its entities, with the same words and label."
    )


def _print_models(nlp: Language) -> None:
    from ...pipeline.sizes import room_of

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
    from ...pipeline.base import CascadePipe

    for name, pipe in nlp.pipeline:
        cut = pipe.space.too_long() if isinstance(pipe, CascadePipe) else None
        if cut is not None:
            print_warning(f"'{name}' {cut}")


def _print_tokenizers(nlp: Language, examples: Sequence[Example]) -> None:
    """Show how the tokenizer of a pipeline and others agree with the train corpus."""
    from ..tokenizers.choosing import best_tokenizer, measure_tokenizer

    _print_misaligned(examples)
    docs = [example.reference for example in examples]
    others = best_tokenizer(docs, str(nlp.lang))
    if not others:
        print_info(
            "The corpus does not say where spaces are, so training takes its words as tokens, and "
            "tokenizers cannot be compared. On raw text the pipeline may split words otherwise."
        )
        return
    own: dict[str, Any] = nlp.config["nlp"]["tokenizer"]
    chosen = measure_tokenizer(own, docs, nlp)
    rows = [_row("the config's", chosen), *(_row(found.name, found) for found in _by_name(others))]
    header = ("tokenizer", "entities that do not align", "share %", "boundaries found %", "right %")
    print_table(rows, header, "lrrrr")
    best = others[0]
    if best.score > chosen.score + _WORTH_A_CHANGE:
        print_warning(
            f"{best.name} suits this corpus better than the config's tokenizer. Put this into the "
            "config in place of [nlp.tokenizer]:"
        )
        _print_section(best.tokenizer)


def _print_misaligned(examples: Sequence[Example]) -> None:
    from ..reports.corpus import count_misaligned

    misaligned = count_misaligned(examples)
    n_entities = sum(len(example.reference.ents) for example in examples)
    if misaligned:
        share = percent(misaligned / n_entities)
        print_warning(
            f"{counted(misaligned, 'entity', 'entities')} in train ({share} %) do not match the "
            "token boundaries of the pipeline, and are not learnt. Choose another [nlp.tokenizer]."
        )


def _by_name(measures: "Sequence[TokenizerMeasure]") -> "list[TokenizerMeasure]":
    """The best one of each name."""
    return list({found.name: found for found in reversed(measures)}.values())[::-1]


def _row(name: str, found: "TokenizerMeasure") -> tuple[str, ...]:
    return (
        name, f"{found.misaligned:,}", percent(1 - found.aligned), percent(found.recall),
        percent(found.precision),
    )  # fmt: skip


def _print_section(tokenizer: dict[str, Any]) -> None:
    """Print a tokenizer's section as a config has it."""
    lines = thinc.api.Config({"nlp": {"tokenizer": tokenizer}}).to_str().split("\n")
    for line in lines:
        if line and line != "[nlp]":
            print_line(line)
