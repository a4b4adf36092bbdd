"""Tags and spans for a training corpus, by pipelines that have not seen its text."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from configparser import InterpolationError
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.scorer import PRFScore
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.util import load_config
from spacy.vocab import Vocab
from thinc.api import Config

from .._version import __version__
from ..errors import ConfigError, TrainingError
from ..features.scored_spans import RECORD_ATTRIBUTE
from ..files import temporary_folder
from ..pipeline.progress import progress
from ..pipeline.readers import SENTENCES, TAGS, gold_inputs_of, input_doc, read_docs
from ..stages import Stages
from .folds import check_folds, refused, train_pipeline

_TELLING = 5
"""Tokens from which on a sentence that two Docs share is no coincidence."""

Words = tuple[str, ...]


@dataclass(frozen=True)
class Jackknifed:
    """Docs as annotated, the number of trainings, and how far they agree with what was there.

    tag_accuracy: share of gold tags, None where there are none or tags were not predicted.
    span_f1: for each group predicted, F1 of bounds and labels; None where none is gold.
    sets_tags: whether tags were predicted.
    """

    docs: list[Doc]
    n_trainings: int
    sets_tags: bool
    tag_accuracy: float | None
    span_f1: dict[str, float | None]


def read_config(path: Path, overrides: dict[str, Any] | None = None) -> Config:
    """A training config, its variables not filled in.

    overrides: values by their dotted names. Raises `ConfigError` where it cannot be read as one.
    """
    try:
        config = load_config(path, overrides=overrides or {})
    except (ValueError, InterpolationError) as error:
        raise refused(str(path), error) from error
    for section in ("nlp", "training"):
        if section not in config:
            raise ConfigError(
                f"{path} has no section [{section}]. Give a config as `spacy train` takes it."
            )
    return config


def jackknife(
    config: Config,
    corpus_path: Path,
    dev_path: Path,
    *,
    train_path: Path | None = None,
    folds: int = 5,
    work: Path | None = None,
) -> Jackknifed:
    """The Docs of a corpus with tags and span groups as its components will set them on new text.

    For each fold, Docs i with equal `i % folds`, the config's pipeline is trained on those Docs of
    the training corpus that share no sentence of five or more words with the fold, and annotates
    Docs of bare words, spaces and sentence starts, and of tags where the config's reader gives them
    (`readers.make_corpus`). A Doc without sentence starts counts as one sentence. Folds with the
    same Docs to train on share a training. What is predicted replaces tags and the groups of the
    same keys; everything else, entities too, stays.

    train_path: the training corpus, by default the corpus itself; a fold's own Docs are left out
    then, however short. dev_path: what `[training]` scores on. work: folder in which each training
    leaves the Docs that it annotated, so that the same call goes on after Ctrl-C. Raises
    `ConfigError` for folds out of range, configs that set neither tags nor spans, and a folder that
    another process has; `CorpusError` for files that cannot be read, `TrainingError` where nothing
    is left to train on.
    """
    vocab = Vocab()
    corpus = read_docs(corpus_path, vocab)
    check_folds(len(corpus), folds, corpus_path)
    train_path = train_path or corpus_path
    train = corpus if train_path.samefile(corpus_path) else read_docs(train_path, vocab)
    kept = plan(corpus, train, folds)
    for fold, numbers in enumerate(kept):
        if not numbers:
            raise TrainingError(
                f"Every Doc of {train_path} shares a sentence with fold {fold} of "
                f"{corpus_path}, Docs {fold}, {fold + folds} …, so none is left to train on. Give "
                "more folds, or other Docs to train on."
            )
    given = {SENTENCES, *(gold_inputs_of(config) or ())}
    trainings = list(dict.fromkeys(kept))
    predicted: dict[int, Doc] = {}
    task = [__version__, config.to_str(), folds, *map(_digest, (corpus_path, train_path, dev_path))]
    with temporary_folder() as folder, Stages(work or folder) as stages:
        bar = progress("Training without each fold", iterable=trainings)
        for number, numbers in enumerate(bar):
            unseen = [i for i in range(len(corpus)) if kept[i % folds] == numbers]
            docs = [train[i] for i in numbers], [corpus[i] for i in unseen]
            fill = partial(_train_and_annotate, config, *docs, dev_path, given)
            path = stages.file(f"training-{number}", task, fill)
            predicted.update(zip(unseen, DocBin().from_disk(path).get_docs(vocab), strict=True))
    found = [predicted[i] for i in range(len(corpus))]
    sets_tags = TAGS not in given and any(doc.has_annotation("TAG") for doc in found if len(doc))
    return _replaced(corpus, found, len(trainings), sets_tags)


def _digest(path: Path) -> str:
    """Of the contents of a file, or of all files in a folder."""
    files = sorted(path.rglob("*.spacy")) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def plan(corpus: Sequence[Doc], train: Sequence[Doc], folds: int) -> list[tuple[int, ...]]:
    """For each fold of the corpus the numbers of the Docs of train that share nothing with it.

    Where train is the corpus itself, a fold's own Docs are left out, however short.
    """
    sentences = [_sentences(doc) for doc in train]
    kept = []
    for fold in range(folds):
        own = set[Words]().union(*(_sentences(doc) for doc in corpus[fold::folds]))
        apart = [i for i, known in enumerate(sentences) if own.isdisjoint(known)]
        kept.append(tuple(i for i in apart if train is not corpus or i % folds != fold))
    return kept


def _sentences(doc: Doc) -> set[Words]:
    """Words of the sentences that are long enough to tell where they come from."""
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc]
    return {tuple(t.text for t in s) for s in sentences if len(s) >= _TELLING}


def _train_and_annotate(
    config: Config,
    train: Sequence[Doc],
    unseen: Sequence[Doc],
    dev_path: Path,
    given: Collection[str],
    path: Path,
) -> None:
    """Write what a pipeline that is trained now makes of unseen Docs."""
    nlp = train_pipeline(config, train, dev_path)
    DocBin(docs=_annotated(nlp, unseen, given)).to_disk(path)


def _annotated(nlp: Language, docs: Sequence[Doc], given: Collection[str]) -> Iterator[Doc]:
    """What the pipeline makes of the words, spaces and what else is given of each Doc."""
    bare = (input_doc(doc, given, nlp.vocab) for doc in docs)
    for doc, predicted in zip(docs, nlp.pipe(bare), strict=True):
        if len(predicted) != len(doc):
            raise ConfigError(
                f"{nlp.pipe_names} made {len(predicted)} of {len(doc)} tokens in the Doc that "
                f"begins '{doc.text[:50]}'. Take out the component that splits or merges tokens."
            )
        yield predicted


def _replaced(
    docs: list[Doc], predicted: list[Doc], n_trainings: int, sets_tags: bool
) -> Jackknifed:
    """The Docs with the tags and groups predicted, compared before they are replaced."""
    keys = sorted({key for doc in predicted for key in doc.spans})
    if not sets_tags and not keys:
        raise ConfigError(
            "The components of the config set neither token.tag nor doc.spans, so there is nothing "
            "to write. Give a config with a cascade_tagger or a cascade_segmenter."
        )
    accuracy = _accuracy(docs, predicted) if sets_tags else None
    f1 = {key: _f1(docs, predicted, key) for key in keys}
    for doc, found in zip(docs, predicted, strict=True):
        if sets_tags:
            for token, its in zip(doc, found, strict=True):
                token.tag_ = its.tag_
        for key in keys:
            doc.spans.pop(key, None)
            if key in found.spans:
                doc.spans[key] = _moved(found.spans[key], doc)
    return Jackknifed(docs, n_trainings, sets_tags, accuracy, f1)


def _moved(group: SpanGroup, doc: Doc) -> SpanGroup:
    """The group on another Doc of the same tokens."""
    spans = [Span(doc, s.start, s.end, s.label_, kb_id=s.kb_id_, span_id=s.id_) for s in group]
    attributes = {name: v for name, v in group.attrs.items() if name != RECORD_ATTRIBUTE}
    return SpanGroup(doc, name=group.name, attrs=attributes, spans=spans)


def _accuracy(docs: Sequence[Doc], predicted: Sequence[Doc]) -> float | None:
    """Share of the tags of docs that are predicted, None where there are none."""
    right = [
        token.tag_ == its.tag_
        for doc, found in zip(docs, predicted, strict=True)
        for token, its in zip(doc, found, strict=True)
        if token.tag_
    ]
    return sum(right) / len(right) if right else None


def _f1(docs: Sequence[Doc], predicted: Sequence[Doc], key: str) -> float | None:
    """F1 of bounds and labels in Docs that have such a group, None where there are none."""
    pairs = [pair for pair in zip(docs, predicted, strict=True) if key in pair[0].spans]
    score = PRFScore()
    for gold, found in pairs:
        score.score_set(_bounds(found, key), _bounds(gold, key))
    return float(score.fscore) if pairs else None


def _bounds(doc: Doc, key: str) -> set[tuple[int, int, str]]:
    return {(span.start, span.end, span.label_) for span in doc.spans.get(key, ())}
