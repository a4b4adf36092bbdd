"""Components that learn from examples: what they read of these, and how they are initialized."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

from spacy.attrs import POS, SENT_START, TAG
from spacy.language import Language
from spacy.training import Example, validate_examples
from spacy.util import logger

from ..errors import TrainingError
from ..features.resources import FlaggedTokens
from ..features.tokens import Tokens
from ..features.units import Units
from ..trainers.base import Trainer
from ..types import Ints2d
from .component import CascadePipe
from .corpus import GetExamples, forget_words, is_placeholder
from .corpus_blocks import CorpusBlocks, examples_from, read_blocks
from .example_sums import ENTITIES, Reads, words_of
from .examples import Awaited, Parts
from .progress import progress
from .reading import earlier_space, learn_resources, read_resources, stand_ins, token_units
from .sizes import check_labels, set_to_zero
from .source import Reader
from .spans.gold import as_seen

MAXIMUM_LEXEMES = 1 << 18
"""Words that are known from one batch of training to the next; beyond that they are forgotten."""

Gold = TypeVar("Gold")
"""What a component reads of the reference of one example."""


def learn_features(
    pipe: CascadePipe,
    nlp: Language | None,
    tokens: FlaggedTokens,
    make_units: Callable[[], Iterable[Units]],
) -> None:
    """Learn the feature space of units and set all weights to zero; labels are known.

    tokens: blocks of the corpus, with what the gold annotation says of them
    (`features.word_counts`). make_units: gives the units of the same blocks, called when lexicons
    are read and words are counted.
    """
    read_resources(pipe.space, nlp)
    learn_resources(pipe.space, tokens, pipe.name)
    pipe.space.learn_in_blocks(make_units(), pipe.model.attrs["min_count"])
    set_to_zero(pipe)


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


class InitializingPipe(CascadePipe, Generic[Gold]):
    """A component whose feature space is learnt from examples.

    n_examples: how many `initialize` has seen, None in a component that was loaded.
    _annotation_read: a checksum of their annotation.
    """

    trainer: Trainer
    n_examples: int | None
    _annotation_read = 0
    _reader: Reader
    _parts: Parts
    _awaited: Awaited | None = None

    # What a component has to say

    @abstractmethod
    def _read_gold(self, example: Example) -> Gold:
        """Gold annotation of an example."""

    @abstractmethod
    def _gold_flags(self, tokens: Tokens, gold: Sequence[Gold]) -> Ints2d:
        """What the gold annotation says of the tokens (see `features.word_counts`)."""

    @abstractmethod
    def _labels_in(self, gold: Gold) -> Iterable[str]:
        """Labels that the component learns from one example."""

    def _labels_present(self, gold: Gold) -> Iterable[str]:
        """All labels of one example, also those that the component does not tell apart."""
        return self._labels_in(gold)

    @abstractmethod
    def _check_found(
        self, found: Collection[str], present: Collection[str], get_examples: GetExamples
    ) -> None:
        """Raise `TrainingError` where there is nothing to learn.

        found: the labels to be. present: those of `_labels_present`, of all examples.
        """

    def _gold_units(self, tokens: Tokens, gold: Sequence[Gold]) -> Units:
        """The units of a corpus from which features are learnt: by default all tokens."""
        return self.token_units(tokens, self._gold_flags(tokens, gold))

    @abstractmethod
    def _gold_reads(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Attributes of tokens of the reference, and keys of its groups, that gold is read of."""

    @abstractmethod
    def _begin_anew(self) -> None:
        """Forget what an earlier training has left."""

    # Reading

    def token_units(self, tokens: Tokens, own_flags: Ints2d | None = None) -> Units:
        """Every token of a batch as a unit (`pipeline.reading`)."""
        return token_units(self.space, self.vocab.strings.__getitem__, tokens, own_flags)

    def _read_examples(self, examples: Iterable[Example]) -> Tokens:
        """The tokens of predicted Docs, as the templates see them in training.

        Tags and spans of earlier components are gold ones where predicted Docs have none.
        """
        others = stand_ins(self.pipeline, self.space.span_keys, self)
        return self.read([as_seen(example, self.space, others) for example in examples])

    def units_of(self, examples: Sequence[Example]) -> Units:
        """The units of examples from which features are learnt."""
        tokens = self._read_examples(examples)
        return self._gold_units(tokens, [self._read_gold(example) for example in examples])

    def _reads(self) -> Reads:
        """What it reads of an example; where that changes, the example is encoded anew."""
        space = self.space
        gold, gold_keys = self._gold_reads()
        tags = (TAG, POS) if {"tags", "parts_of_speech"} & set(space.reads) else ()
        if space.span_keys:  # `as_seen` takes them from wherever they are
            return Reads((*gold, *tags, *ENTITIES), (SENT_START, *tags), None, None)
        return Reads((*gold, *tags), (SENT_START, *tags), gold_keys)

    # Initializing

    def initialize(
        self,
        get_examples: GetExamples,
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
        corpus: Callable[[Language], Iterable[Example]] | None = None,
    ) -> None:
        """Collect labels, learn the feature space and set all weights to zero.

        The examples are read once, in bounded memory (`pipeline.corpus_blocks`). Where
        `nlp.initialize` was given none, the component learns nothing yet, and is initialized from
        those of `update`.

        labels: the labels, as saved by `spacy init labels`; else those in the examples, and those
        that were added. corpus: a reader to take the examples from, for a stream, of which spaCy
        shows the first ones only. A trainer with a corpus in a file takes them from there, too,
        whatever `update` is given. Raises `TrainingError` where there is nothing to learn from,
        and for labels that are none, `ConfigError` for a stream that cannot be learnt from, and
        `SavingError` where the disk is full.
        """
        given = self._told_apart(_listed(labels, self.name))
        self.n_examples = 0
        self._begin_anew()
        self.space.earlier = earlier_space(self.pipeline, self)
        get_examples, examples = examples_from(get_examples, corpus, nlp, self)
        self._reader = Reader(None if corpus is None else get_examples)
        read = progress(f"Reading for {self.name}", iterable=examples)
        learnt, present, blocks = set(self._labels), set[str](), CorpusBlocks[Gold]()
        self._annotation_read, times = 0, Counter[int]()
        for tokens, gold in read_blocks(read, partial(self._read, times=times)):
            learnt.update(label for g in gold for label in self._labels_in(g))
            present.update(label for g in gold for label in self._labels_present(g))
            self.n_examples += len(gold)
            blocks.append(tokens, gold)
        found = given or learnt
        if is_placeholder(get_examples):
            self._set_labels(found)
            learn_features(self, nlp, lambda: iter(()), lambda: ())
            self._begin_to_await(labels)
            return
        self._check_found(found, present, get_examples)
        check_labels(self, found)
        self._set_labels(found)
        learn_features(
            self,
            nlp,
            lambda: ((tokens, self._gold_flags(tokens, gold)) for tokens, gold in blocks),
            lambda: self._units_of_blocks(blocks),
        )
        self.reset_fit()
        self._parts = Parts({words: n for words, n in times.items() if n > 1})

    def _read(self, examples: Sequence[Example], times: Counter[int]) -> tuple[Tokens, list[Gold]]:
        validate_examples(examples, f"{type(self).__name__}.initialize")
        found = self._read_examples(examples), [self._read_gold(example) for example in examples]
        gold_sum = self._reads().gold_sum
        self._annotation_read += sum(gold_sum(example.reference) for example in examples)
        if self.trainer.sees_all and self._reader.read is None:
            times.update(words_of(example.reference) for example in examples)
        forget_words(examples)
        return found

    def _units_of_blocks(self, blocks: Iterable[tuple[Tokens, list[Gold]]]) -> Iterator[Units]:
        for tokens, gold in blocks:
            yield self._gold_units(tokens, gold)
            self.space.forget_lexemes(MAXIMUM_LEXEMES)

    # Initializing later, where there were no examples

    def _begin_to_await(self, labels: Sequence[str] | None) -> None:
        self.n_examples, self._awaited = 0, Awaited(labels)
        logger.info(
            "'%s' was initialized without examples. It collects those that update is given, and "
            "is made of all of them when the first ones come again, or when it is used.",
            self.name,
        )

    def _awaited_until_now(self, awaited: Awaited, examples: Sequence[Example]) -> list[Example]:
        """What to learn from where `initialize` had no examples; nothing until all have come."""
        awaited.add(examples)
        if awaited.is_complete:
            return self._made_of(awaited)
        return list(examples) if awaited.n_made else []

    def _made_of(self, awaited: Awaited) -> list[Example]:
        """Initialize with all examples that have come, which are the first to learn from."""
        examples, labels = awaited.examples, awaited.labels
        logger.info("'%s' is made of %d examples of update.", self.name, len(examples))
        awaited.n_made = len(examples)
        self.initialize(lambda: examples, nlp=self.pipeline, labels=labels)
        self._awaited = awaited
        return examples

    def sync_weights(self) -> None:
        """As of all components; one that awaits examples is made of those that have come."""
        awaited = self._awaited
        if awaited is not None and awaited.is_needed:
            self.update(self._made_of(awaited))
        super().sync_weights()

    def _get_ready(self) -> None:
        self.sync_weights()
