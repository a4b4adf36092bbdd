"""Reading Docs and examples as the templates of a component look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Protocol

import numpy as np
from spacy.language import Language
from spacy.pipeline import SpanRuler
from spacy.tokens import Doc
from spacy.util import logger
from spacy.vocab import Vocab

from ..errors import ConfigError, MissingStageError
from ..features.resources import FlaggedTokens, Tokenize
from ..features.space import FeatureSpace
from ..features.span_context import NONE_FOUND, FoundSpans, SpanContext
from ..features.tokens import Tokens, read_tokens
from ..features.units import NO_CONTEXT, SegmentSource, Units
from ..types import Bools1d, Ints2d, Keys1d
from .spans.gold import GoldOf, ruled_spans
from .spans.placing import BoundsArray
from .vocabulary_vectors import VocabularyVectors


def read(
    docs: Sequence[Doc], space: FeatureSpace, vocab: Vocab, labels: Sequence[str], name: str
) -> Tokens:
    """The tokens of a batch of Docs, as far as the templates look at them.

    vocab, labels, name: of the component. Raises `MissingStageError` where templates look at tags
    or at spans of an earlier component, and no Doc has any.
    """
    for doc in docs:
        check_doc(doc, f"'{name}'")
    _share_strings(docs, vocab, labels)
    vectors = VocabularyVectors.of_vocabulary(vocab)
    tokens = read_tokens(docs, space.reads, space.span_keys, vectors)
    for key, group in tokens.groups.items():
        advice = f'cascade_segmenter with spans_key = "{key}"'
        _check_stage(group.is_given, f"doc.spans['{key}']", advice, name)
    if "tags" in space.reads:
        _check_stage(tokens.tags, "token.tag", "cascade_tagger", name)
    if "parts_of_speech" in space.reads:
        _check_stage(tokens.parts_of_speech, "token.pos", "tagger or morphologizer", name)
    return space.with_abbreviations(tokens, vocab.strings.__getitem__)


def check_doc(doc: object, who: str) -> None:
    """Raise `ConfigError` for what is no Doc, such as a text."""
    if not isinstance(doc, Doc):
        raise ConfigError(
            f"{who} takes a Doc, not {type(doc).__name__} {str(doc)[:50]!r}. Make one with "
            "nlp(text), or with nlp.make_doc(text)."
        )


def _share_strings(docs: Sequence[Doc], vocab: Vocab, labels: Sequence[str]) -> None:
    """Let Docs of another vocabulary know the labels, and this one their words.

    `spacy find-threshold` gives Docs of one pipeline to another one.
    """
    for doc in docs:
        if doc.vocab is not vocab:
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


def learn_resources(space: FeatureSpace, blocks: FlaggedTokens, name: str) -> None:
    """Let what templates look at learn from a corpus, and say in the log what segments leave out.

    blocks: tokens, and what the gold annotation says of them (`features.word_counts`). name: of
    the component.
    """
    space.learn_resources_in_blocks(blocks)
    cut = space.too_long()
    if cut is not None:
        logger.info("'%s' %s", name, cut)


def read_resources(space: FeatureSpace, nlp: Language | None) -> None:
    """Read the lexicons that templates look at, as the pipeline's tokenizer splits their terms.

    Without a pipeline, terms are split at spaces only.
    """
    if space.resources_to_read:
        with tokenizing(nlp) as tokenize:
            space.read_resources(tokenize)


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


class Reader(Protocol):
    """A component that looks at tokens by templates."""

    @property
    def space(self) -> FeatureSpace: ...

    @property
    def vocab(self) -> Vocab: ...


def token_units(pipe: Reader, tokens: Tokens, own_flags: Ints2d | None = None) -> Units:
    """Every token of a batch as a unit of its own.

    own_flags: gold flags of the tokens, in training. Templates that look at the surroundings of a
    span see a span of one token, and no other one.
    """
    space, string_of = pipe.space, pipe.vocab.strings.__getitem__
    padded = space.positions(tokens, string_of, own_flags)
    source = SegmentSource(tokens, string_of, own_flags)
    context = NO_CONTEXT
    if space.plan.units_have_context:
        start = np.arange(len(padded.of_token))
        around = SpanContext(tokens, start, start + 1, NONE_FOUND, string_of, own_flags)
        context = around.values(space.plan.context)
    return Units(padded, padded.of_token, padded.of_token, context, source)


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
    return Units(padded, first, last, context)


def untyped(found: BoundsArray) -> FoundSpans:
    """Spans of a batch, int64 `[F, 2]`, whose labels are not known yet."""
    return FoundSpans.of(found, np.ones(len(found), dtype=np.uint64))
