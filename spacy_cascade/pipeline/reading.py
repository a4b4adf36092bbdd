"""Reading Docs and examples as the templates of a component look at them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Protocol

import numpy as np
from spacy.language import Language
from spacy.pipeline import SpanRuler
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from ..errors import ConfigError, MissingStageError
from ..features.resources import Tokenize
from ..features.space import FeatureSpace
from ..features.span_context import NONE_FOUND, FoundSpans, SpanContext
from ..features.tokens import Tokens, read_tokens
from ..features.units import NO_CONTEXT, TokenSource, Units
from ..inference.structure import Structure, Weights
from ..numeric.dense import TokenVectors
from ..types import Bools1d, Ints2d, Keys1d
from .encoder import with_vectors
from .sequences import ATTRIBUTE as SENTENCES
from .spans.gold import GoldOf, ruled_spans
from .spans.placing import BoundsArray
from .splitting import ATTRIBUTE as SPLITTING
from .splitting import Splitting, check_splitting


class Scoring(Protocol):
    """A component that scores what it reads of Docs."""

    name: str
    vocab: Vocab
    model: Model[Units, Any]
    _has_warned_of_documents: bool

    @property
    def pipeline(self) -> Language | None: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def space(self) -> FeatureSpace: ...

    @property
    def structure(self) -> Structure: ...

    @property
    def weights(self) -> Weights: ...

    def begin_batch(self) -> None: ...


def read(pipe: Scoring, docs: Sequence[Doc]) -> Tokens:
    """The tokens of a batch of Docs as `read_as_marked`, in sequences as training had them.

    A model of sentences takes a Doc without any as one sequence; the first one that a pipeline
    meets is worth a warning.
    """
    tokens, of_sentences = read_as_marked(pipe, docs), pipe.model.attrs[SENTENCES]
    splitting: Splitting | None = pipe.model.attrs.get(SPLITTING)
    if splitting is not None and docs and not splitting.is_done(docs[0]):
        check_splitting(pipe, splitting, docs)
    if pipe.model.has_ref("tok2vec"):
        tokens = with_vectors(pipe, tokens, docs)
    if of_sentences is False:
        return tokens.as_documents()
    if of_sentences and not pipe._has_warned_of_documents and not tokens.has_sentences.all():
        _warn_of_documents(pipe)
    return tokens


def _warn_of_documents(pipe: Scoring) -> None:
    components: list[tuple[str, Any]] = [] if pipe.pipeline is None else pipe.pipeline.pipeline
    for each in (pipe, *(other for _, other in components)):
        if hasattr(each, "_has_warned_of_documents"):
            each._has_warned_of_documents = True
    warnings.warn(
        f"'{pipe.name}' was trained on sentences, and these Docs have no sentence starts: each is "
        "taken as one sentence, and entities may be missed. Set the starts before it, such as with "
        'nlp.add_pipe("sentencizer", first=True).',
        stacklevel=3,
    )


def read_as_marked(pipe: Scoring, docs: Sequence[Doc]) -> Tokens:
    """The tokens of a batch of Docs, as far as the templates of a component look at them.

    A sequence is a sentence where sentence starts are set, else the Doc.

    Raises `MissingStageError` where templates look at tags or at spans of an earlier component, and
    no Doc has any.
    """
    space, vocab, name = pipe.space, pipe.vocab, pipe.name
    for doc in docs:
        if not isinstance(doc, Doc):
            raise no_doc(doc, f"'{name}'")
        if doc.vocab is not vocab:
            _share_strings(doc, vocab, pipe.labels)
    tokens = read_tokens(docs, space.reads, space.span_keys)
    for key, group in tokens.groups.items():
        advice = f'cascade_segmenter with spans_key = "{key}"'
        _check_stage(group.is_given, f"doc.spans['{key}']", advice, name)
    if "tags" in space.reads:
        _check_stage(tokens.tags, "token.tag", "cascade_tagger", name)
    if "parts_of_speech" in space.reads:
        _check_stage(tokens.parts_of_speech, "token.pos", "tagger or morphologizer", name)
    return tokens


def no_doc(value: object, who: str) -> ConfigError:
    """The error for what is no Doc, such as a text."""
    return ConfigError(
        f"{who} takes a Doc, not {type(value).__name__} {str(value)[:50]!r}. Make one with "
        "nlp(text), or with nlp.make_doc(text)."
    )


def _share_strings(doc: Doc, vocab: Vocab, labels: Sequence[str]) -> None:
    """Let a Doc of another vocabulary know the labels, and this one its words.

    `spacy find-threshold` gives Docs of one pipeline to another one.
    """
    for token in doc:
        vocab.strings.add(token.text)
    for label in labels:
        doc.vocab.strings.add(label)


def _check_stage(values: Keys1d | Bools1d, where: str, component: str, name: str) -> None:
    if len(values) and not values.any():
        raise MissingStageError(
            f"The templates of '{name}' look at {where}, but these Docs have none. Add a "
            f"{component} before it in the pipeline, or, for training and evaluation, have "
            "that in the corpus."
        )


@contextmanager
def tokenizing(nlp: Language | None) -> Iterator[Tokenize]:
    """The pipeline's tokenizer for terms, until the context ends; `str.split` without a pipeline.

    The vocabulary, which is saved with the pipeline, does not keep the words of the terms.
    """
    if nlp is None:
        yield str.split
        return
    in_zone = nlp.vocab.in_memory_zone  # type: ignore[attr-defined]
    with nullcontext() if in_zone else nlp.vocab.memory_zone():
        yield lambda text: [token.text for token in nlp.tokenizer(text)]


def stand_ins(nlp: Language | None, keys: Sequence[str], own: object) -> dict[str, GoldOf]:
    """What stands in, in training, for the components that write span groups of these keys.

    Gold spans for segmenters, and for rulers what they find. own: the component that learns.
    """
    components: list[tuple[str, Any]] = [] if nlp is None else nlp.pipeline
    found: dict[str | None, GoldOf] = {}
    for _, pipe in components:
        if isinstance(pipe, SpanRuler):
            found[pipe.key] = partial(ruled_spans, pipe)
        elif hasattr(pipe, "gold_spans") and pipe is not own:
            found[pipe.spans_key] = pipe.gold_spans
    return {key: found[key] for key in keys if key in found}


def earlier_space(nlp: Language | None, own: object) -> FeatureSpace | None:
    """The feature space of the nearest component before this one, which has met its words."""
    components: list[tuple[str, Any]] = [] if nlp is None else nlp.pipeline
    found = None
    for _, pipe in components:
        if pipe is own:
            return found
        space = getattr(pipe, "space", None)
        found = space if isinstance(space, FeatureSpace) else found
    return None


def token_units(pipe: Scoring, tokens: Tokens, own_flags: Ints2d | None = None) -> Units:
    """Every token of a batch as a unit of its own.

    own_flags: gold flags of the tokens, in training. Templates that look at the surroundings of a
    span see a span of one token, and no other one.
    """
    space, string_of = pipe.space, pipe.vocab.strings.__getitem__
    padded = space.positions(tokens, string_of, own_flags)
    source = TokenSource(tokens, string_of, own_flags)
    context = NO_CONTEXT
    if space.plan.units_have_context:
        start = np.arange(len(padded.of_token))
        around = SpanContext(tokens, start, start + 1, NONE_FOUND, string_of, own_flags)
        context = around.values(space.plan.context)
    vectors = None if tokens.vectors is None else TokenVectors(tokens.vectors)
    return Units(padded, padded.of_token, padded.of_token, context, source, vectors)


def span_units(
    space: FeatureSpace,
    string_of: Callable[[int], str],
    tokens: Tokens,
    spans: BoundsArray,
    found: FoundSpans,
    own_flags: Ints2d | None = None,
) -> Units:
    """Spans of a batch as units; own_flags: as for `token_units`; string_of: text of a hash.

    spans: int64 `[P, 2]`, tokens of the batch. found: the spans that they are seen among.
    """
    padded = space.positions(tokens, string_of, own_flags)
    context = NO_CONTEXT
    if space.plan.context:
        around = SpanContext(tokens, spans[:, 0], spans[:, 1], found, string_of, own_flags)
        context = around.values(space.plan.context)
    first, last = padded.of_token[spans[:, 0]], padded.of_token[spans[:, 1] - 1]
    vectors = None if tokens.vectors is None else TokenVectors(tokens.vectors, spans)
    return Units(padded, first, last, context, vectors=vectors)


def untyped(found: BoundsArray) -> FoundSpans:
    """Spans of a batch, int64 `[F, 2]`, whose labels are not known yet."""
    return FoundSpans.of(found, np.ones(len(found), dtype=np.uint64))
