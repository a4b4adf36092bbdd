"""Docs that the processes of `nlp.pipe` send back: a batch as arrays, not each Doc as bytes.

To write and to read the bytes of a short Doc takes longer than to annotate it (spaCy 3.8), so that
two processes were slower than one. What the Docs of a batch have in common, such as the texts of
their words, is sent once, and spans go as the tables that components of this package make.

It belongs into spaCy, whose method for several processes is replaced: the rest of its work is left
to it. The last step in a process puts a carrier in place of the Docs of a batch.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import IDS
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup
from spacy.tokens.doc import DOCBIN_ALL_ATTRS
from spacy.vocab import Vocab

from ..features.space import FeatureSpace
from ..types import Bools1d, Keys2d
from .spans.groups import LastingGroup, table_of_group
from .spans.tables import SpanTable, join_tables, split_table

_NAMES = ("SPACY", *DOCBIN_ALL_ATTRS)
_ATTRIBUTES = [IDS[name] for name in _NAMES]
_SPACE, _WORD, _HEAD, _DEP = map(_NAMES.index, ("SPACY", "ORTH", "HEAD", "DEP"))
_NUMBERS = {"SPACY", "HEAD", "POS", "ENT_IOB", "SENT_START"}
_HASHES = {i for i, name in enumerate(_NAMES) if name not in _NUMBERS}


def _is_given(context: object) -> bool:
    return context is not None


_FIELDS: dict[str, Callable[[Any], object]] = {
    "user_data": len,
    "cats": len,
    "tensor": len,
    "sentiment": bool,
    "has_unknown_spaces": bool,
    "_context": _is_given,
}
"""What else a Doc has, and whether it has any."""
_HOOKS = ("user_hooks", "user_token_hooks", "user_span_hooks")


class _Batch(NamedTuple):
    """The Docs of a batch.

    columns: numbers of the attributes that are set, after space and word; tokens: their values,
    uint64 `[T, 2 + columns]`. n_tokens: of each Doc. strings: of all hashes. fields: of those that
    any Doc has, the value of each Doc. groups: of each Doc its span groups by key: their name and
    attributes, or their bytes. spans: of the groups that are not bytes, one after the other;
    n_spans: of each.
    """

    columns: list[int]
    tokens: Keys2d
    n_tokens: list[int]
    strings: list[str]
    fields: dict[str, list[Any]]
    groups: list[dict[str, tuple[str, dict[str, Any]] | bytes]]
    spans: SpanTable
    n_spans: list[int]


class _Sent(NamedTuple):
    """A batch on its way."""

    pickled: bytes


class _Carrier:
    """Stands for all Docs of a batch where spaCy sends one Doc; the batch is its context."""

    def __init__(self, docs: list[Doc]) -> None:
        # Pickled here: what cannot be is an error that spaCy reports, and not the process's end.
        self._context = _Sent(pickle.dumps(_pack(docs), pickle.HIGHEST_PROTOCOL))
        self._vocab = docs[0].vocab

    def to_bytes(self) -> bytes:
        """Those of a Doc without tokens."""
        return Doc(self._vocab).to_bytes()


_pipe_of_spacy: Any = getattr(Language, "_multiprocessing_pipe", None)


def send_batches() -> None:
    """Have the processes of pipelines with components of this package send batches."""
    if _pipe_of_spacy is not None:
        spacys: Any = Language
        spacys._multiprocessing_pipe = _pipe


def _pipe(
    nlp: Language, texts: Iterable[Any], pipes: Iterable[Callable[..., Any]], *settings: Any
) -> Iterator[Doc]:
    """In place of the method of spaCy; settings: numbers of processes and of texts in a batch."""
    components: list[tuple[str, Any]] = nlp.pipeline
    are_ours = any(isinstance(getattr(p, "space", None), FeatureSpace) for _, p in components)
    steps = [*pipes, _send] if are_ours else pipes
    for doc in _pipe_of_spacy(nlp, texts, steps, *settings):
        if isinstance(doc._context, _Sent):
            yield from _unpack(pickle.loads(doc._context.pickled), nlp.vocab)
        else:
            yield doc


def _send(docs: Iterable[Doc]) -> Iterator[Doc | _Carrier]:
    """The last step in a process; spaCy itself says that hooks of Docs are lost."""
    docs = list(docs)
    if any(getattr(doc, hooks) for doc in docs for hooks in _HOOKS):
        yield from docs
    elif docs:
        yield _Carrier(docs)


def _pack(docs: list[Doc]) -> _Batch:
    rows = [doc.to_array(_ATTRIBUTES) for doc in docs]
    tokens, strings = np.concatenate(rows), docs[0].vocab.strings
    tables, others = list[SpanTable](), list[SpanTable]()
    groups = [
        {key: _packed(group, tables, others) for key, group in doc.spans.items()} for doc in docs
    ]
    is_set: Bools1d = np.any(tokens, axis=0)
    is_set[_HEAD] |= is_set[_DEP]  # where spaCy has both, it finds sentences
    is_set[[_SPACE, _WORD]] = False
    columns = np.flatnonzero(is_set).tolist()
    spans = join_tables(tables)
    hashed = tokens[:, [_WORD, *(column for column in columns if column in _HASHES)]]
    of_spans = join_tables([spans, *others])[-3:]
    hashes = np.unique(np.concatenate([hashed.ravel(), *of_spans])).tolist()
    return _Batch(
        columns,
        tokens[:, [_SPACE, _WORD, *columns]],
        list(map(len, rows)),
        [strings[each] for each in hashes if each in strings],
        {
            name: values
            for name, is_any in _FIELDS.items()
            if any(map(is_any, values := [getattr(doc, name) for doc in docs]))
        },
        groups,
        spans,
        [table.n_spans for table in tables],
    )


def _packed(
    group: SpanGroup, tables: list[SpanTable], others: list[SpanTable]
) -> tuple[str, dict[str, Any]] | bytes:
    """A group; its spans are added to the tables where these say all of them, else to others."""
    table = table_of_group(group)
    if isinstance(group, LastingGroup) and group.is_as_written and not group.is_renumbered:
        tables.append(table)
        return group.name, group.attrs
    others.append(table)
    return group.to_bytes()


def _unpack(batch: _Batch, vocab: Vocab) -> Iterator[Doc]:
    for string in batch.strings:
        vocab.strings.add(string)
    attributes = [_ATTRIBUTES[column] for column in batch.columns]
    spaces, words = (column.tolist() for column in batch.tokens.T[:2])
    tables = iter(split_table(batch.spans, batch.n_spans))
    cuts = np.cumsum([0, *batch.n_tokens]).tolist()
    for i, (begin, end) in enumerate(pairwise(cuts)):
        doc = Doc(vocab, words=words[begin:end], spaces=spaces[begin:end])
        if begin < end and attributes:
            doc.from_array(attributes, batch.tokens[begin:end, 2:])  # type: ignore[arg-type]
        for name, values in batch.fields.items():
            setattr(doc, name, values[i])
        for key, sent in batch.groups[i].items():
            if isinstance(sent, bytes):
                doc.spans[key] = SpanGroup(doc).from_bytes(sent)
            else:
                name, attrs = sent
                doc.spans[key] = LastingGroup(doc, name=name, table=next(tables), attrs=attrs)
        yield doc
