"""What `initialize` does, and what components that learn read of examples."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.util import logger

from ..errors import TrainingError
from ..features.resources import FlaggedTokens
from ..features.tokens import Tokens
from ..features.units import Units
from .component import Component
from .corpus import (
    CorpusBlocks,
    GetExamples,
    examples_from,
    forget_words,
    is_placeholder,
    read_blocks,
)
from .encoder import initialize_encoder
from .examples import Awaited, CorpusReader, Parts, words_of
from .first_compilation import expect_training
from .progress import progress
from .reading import earlier_space, read_as_marked, stand_ins, tokenizing
from .sequences import ATTRIBUTE, Shown, cut
from .sizes import check_labels, set_to_zero
from .spans.gold import as_seen
from .splitting import ATTRIBUTE as SPLITTING
from .splitting import splitting_of

_SAMPLE = 10
"""Docs that an encoder is initialized with."""
MAXIMUM_LEXEMES = 1 << 18
"""Words that are known from one batch of training to the next; beyond that they are forgotten."""


def learn_features(
    pipe: Component,
    nlp: Language | None,
    tokens: FlaggedTokens,
    make_units: Callable[[], Iterable[Units]],
) -> None:
    """Learn the feature space of units and set all weights to zero; labels are known.

    tokens: blocks of the corpus, with what the gold annotation says of them
    (`features.resources`). make_units: gives the units of the same blocks, called when lexicons
    are read and words are counted.
    """
    space = pipe.space
    if space.resources_to_read:
        with tokenizing(nlp) as tokenize:
            space.read_resources(tokenize)
    if nlp is not None:
        name_sources(nlp, space.resources.sources())
    space.learn_resources_in_blocks(tokens)
    cut = space.too_long()
    if cut is not None:
        logger.info("'%s' %s", pipe.name, cut)
    space.learn_in_blocks(make_units(), pipe.model.attrs["min_count"])
    set_to_zero(pipe)


def name_sources(nlp: Language, sources: Iterable[Mapping[str, str]]) -> None:
    """Add what a model knows from others to the meta of the pipeline, as spaCy has it there.

    sources: each with `name`, `url`, `author` and `license`.
    """
    listed: list[Any] = nlp.meta.get("sources") or []
    new = [dict(source) for source in sources if source not in listed]
    if new:
        nlp.meta["sources"] = [*listed, *new]


def _listed(labels: Iterable[str] | None, name: str) -> Iterable[str]:
    """Labels that were given, if any. Raises `TrainingError` where they are no list.

    A text is one of characters; and spaCy's `ner` saves its labels as a table.
    """
    if isinstance(labels, str | bytes | Mapping) or not isinstance(labels, Iterable | None):
        raise TrainingError(
            f"labels of '{name}' must be a list of texts, as 'spacy init labels' writes it for "
            f"this component, not {repr(labels)[:50]}."
        )
    return labels or ()


def read_examples(pipe: Component, examples: Iterable[Example]) -> Tokens:
    """The tokens of predicted Docs, as the templates see them in training.

    Tags and spans of earlier components are gold ones where predicted Docs have none.
    """
    others, (_, gold_keys) = stand_ins(pipe.pipeline, pipe.space.span_keys, pipe), pipe.gold.reads()
    seen = [as_seen(example, pipe.space, others, gold_keys) for example in examples]
    return cut(read_as_marked(pipe, seen), pipe.model)


def units_of(pipe: Component, examples: Sequence[Example]) -> Units:
    """The units of examples from which features are learnt."""
    tokens = read_examples(pipe, examples)
    units: Units = pipe.gold_units(tokens, [pipe.gold.read(example) for example in examples])
    return units


def begin_anew(pipe: Component) -> None:
    """Forget what an earlier training has left."""
    pipe.warm_start, pipe._parts, pipe._reader = False, Parts(), CorpusReader()
    pipe._awaited, pipe._shown, pipe.model.attrs[ATTRIBUTE] = None, Shown(), None
    pipe.model.attrs[SPLITTING] = None
    if pipe.before_induction is not None:
        pipe.before_induction.restore(pipe)


def initialize(
    pipe: Component,
    get_examples: GetExamples,
    nlp: Language | None,
    labels: Sequence[str] | None,
    corpus: Callable[[Language], Iterable[Example]] | None,
) -> None:
    """Collect labels, learn the feature space and set all weights to zero.

    The examples are read once, in bounded memory (`corpus.CorpusBlocks`). Where `nlp.initialize`
    was given none, the component learns nothing yet, and is initialized from those of `update`.
    """
    given = pipe._told_apart(_listed(labels, pipe.name))
    pipe.n_examples = 0
    begin_anew(pipe)
    expect_training(pipe)
    pipe.space.earlier = earlier_space(pipe.pipeline, pipe)
    get_examples, examples = examples_from(get_examples, corpus, nlp, pipe)
    pipe._reader = CorpusReader(None if corpus is None else get_examples)
    sample: list[Doc] = []
    shown = progress(f"Reading for {pipe.name}", iterable=_sampled(examples, sample))
    learnt, present, blocks = set(pipe._labels), Counter[str](), CorpusBlocks[Any]()
    n_cut = 0
    pipe._annotation_read, times, in_docs = 0, Counter[int](), Shown()
    shard = _tokens_of_shard(pipe)
    for tokens, gold in read_blocks(shown, partial(_read, pipe, times=times), shard):
        learnt.update(label for g in gold for label in pipe.labels_in(g))
        present.update(label for g in gold for label in pipe.gold.labels_present(g))
        n_cut += sum(map(pipe.gold.n_cut, gold))
        pipe.n_examples += len(gold)
        in_docs.add(tokens)
        blocks.append(tokens, gold)
    found = given or learnt
    if is_placeholder(get_examples):
        pipe._set_labels(found)
        initialize_encoder(pipe, nlp or pipe.pipeline, sample)
        learn_features(pipe, nlp, lambda: iter(()), lambda: ())
        _begin_to_await(pipe, labels)
        return
    pipe.gold.check_found(found, present, n_cut, get_examples)
    check_labels(pipe, found)
    pipe._set_labels(found)
    in_docs.decide(pipe.model)
    pipeline = nlp or pipe.pipeline
    with tokenizing(pipeline) as tokenize:
        pipe.model.attrs[SPLITTING] = splitting_of(pipeline, sample, tokenize)
    initialize_encoder(pipe, pipeline, sample)
    learn_features(
        pipe,
        nlp,
        lambda: (
            (tokens, pipe.gold.flags(tokens, gold)) for tokens, gold in in_sequences(pipe, blocks)
        ),
        lambda: _units_of_blocks(pipe, blocks),
    )
    pipe.reset_fit()
    pipe._reader.kept = None if shard is None else blocks
    pipe._parts = Parts({words: n for words, n in times.items() if n > 1})


def _tokens_of_shard(pipe: Component) -> int | None:
    """Of which size to keep blocks for its trainer, which is to train on what its reader gives.

    None where it asks for the corpus in another way, or learns from more than tokens and gold
    annotation: vectors, or spans that were proposed.
    """
    sees_more = pipe.model.has_ref("tok2vec") or getattr(pipe, "reject", False)
    if pipe._reader.read is None or sees_more or not pipe.trainer.reads_corpus:
        return None
    return getattr(pipe.trainer, "tokens", None)


def _sampled(examples: Iterable[Example], sample: list[Doc]) -> Iterator[Example]:
    """The examples; the Docs of the first ones are added to a sample, as spaCy's components do."""
    for example in examples:
        if len(sample) < _SAMPLE and isinstance(example, Example):
            sample.append(example.x)
        yield example


def _read(
    pipe: Component, examples: Sequence[Example], times: Counter[int]
) -> tuple[Tokens, list[Any]]:
    validate_examples(examples, f"{type(pipe).__name__}.initialize")
    found = read_examples(pipe, examples), [pipe.gold.read(example) for example in examples]
    gold_sum = pipe.reads().gold_sum
    pipe._annotation_read += sum(gold_sum(example.reference) for example in examples)
    if pipe.trainer.sees_all and pipe._reader.read is None:
        times.update(words_of(example.reference) for example in examples)
    forget_words(examples)
    return found


def _units_of_blocks(
    pipe: Component, blocks: Iterable[tuple[Tokens, list[Any]]]
) -> Iterator[Units]:
    for tokens, gold in in_sequences(pipe, blocks):
        yield pipe.gold_units(tokens, gold)
        pipe.space.forget_lexemes(MAXIMUM_LEXEMES)


def in_sequences(
    pipe: Component, blocks: Iterable[tuple[Tokens, list[Any]]]
) -> Iterator[tuple[Tokens, list[Any]]]:
    """The blocks in the sequences that were decided on when all had been read."""
    return ((cut(tokens, pipe.model), gold) for tokens, gold in blocks)


def _begin_to_await(pipe: Component, labels: Sequence[str] | None) -> None:
    pipe.n_examples, pipe._awaited = 0, Awaited(labels)
    logger.info(
        "'%s' was initialized without examples. It collects those that update is given, and "
        "is made of all of them when the first ones come again, or when it is used.",
        pipe.name,
    )


def awaited_until_now(
    pipe: Component, awaited: Awaited, examples: Sequence[Example]
) -> list[Example]:
    """What to learn from where `initialize` had no examples; nothing until all have come."""
    awaited.add(examples)
    if awaited.is_complete:
        return _made_of(pipe, awaited)
    return list(examples) if awaited.n_made else []


def _made_of(pipe: Component, awaited: Awaited) -> list[Example]:
    """Initialize with all examples that have come, which are the first to learn from."""
    examples, labels = awaited.examples, awaited.labels
    logger.info("'%s' is made of %d examples of update.", pipe.name, len(examples))
    awaited.n_made = len(examples)
    initialize(pipe, lambda: examples, pipe.pipeline, labels, None)
    pipe._awaited = awaited
    return examples


def make_of_awaited(pipe: Component, awaited: Awaited) -> None:
    """Make a component that awaits examples of those that have come, where it is to be used."""
    if awaited.is_needed:
        pipe.update(_made_of(pipe, awaited))
