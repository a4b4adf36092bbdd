"""Gold spans that components learn from, and what is wrong where a corpus does not have them."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import logger

from ..errors import TrainingError
from ..types import Texts
from .corpus import GetExamples, check_labels
from .examples import ENTITIES
from .scripts import tokenizer_for
from .spans.gold import (
    GoldSpans,
    PartsOfGold,
    exact_bounds,
    gold_flags,
    is_negative,
    of_level,
    place_of,
    read_gold,
    read_own_gold,
)
from .spans.placing import ENTITY

_SHOWN = 40
"""Characters of a text in a message."""
_LEARNT = {
    "neither": "nothing",
    "covering": "the span from its first to its last word",
    "parts": "all parts, as spans of their own",
}


class Learner(Protocol):
    """A component that learns from spans; typed: whether it tells their labels apart.

    gold_level: which of gold spans that are inside others it learns (`spans.nesting.LEVELS`), or
    all; None where spans that overlap are an error. gold_parts: what it learns of discontinuous
    annotations.
    """

    name: str
    typed: bool
    gold_level: str | None
    gold_parts: PartsOfGold
    _told_of_parts: str
    gold_key: str | None
    gold_labels: Texts | None
    n_examples: int | None

    @property
    def pipeline(self) -> Language | None: ...


@dataclass(frozen=True)
class SpanGold:
    """The gold spans of a component: those of its `gold_key` with one of its `gold_labels`."""

    pipe: Learner

    def read(self, example: Example) -> GoldSpans:
        """What to learn. Raises `TrainingError` where gold spans overlap that must not."""
        pipe, gold = self.pipe, self.read_to_judge(example)
        return of_level(gold, pipe.gold_level, example.predicted, pipe.gold_key)

    def read_to_judge(self, example: Example) -> GoldSpans:
        """What to compare with: gold spans, which may overlap."""
        pipe = self.pipe
        gold = read_gold(example, pipe.gold_key, pipe.gold_labels, pipe.gold_parts)
        if gold.has_parts and pipe.gold_parts != pipe._told_of_parts:
            pipe._told_of_parts = pipe.gold_parts
            logger.info(
                "'%s' meets discontinuous annotations in %s, and learns %s of each (gold_parts).",
                pipe.name,
                place_of(pipe.gold_key),
                _LEARNT[pipe.gold_parts],
            )
        return gold

    def reads(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Attributes of tokens of the reference, and keys of its groups, that gold is read of."""
        key = self.pipe.gold_key
        return (ENTITIES, ()) if key is None else ((), (key,))

    def told_apart(self, labels: set[str]) -> set[str]:
        """What a span is not (`is_negative`) is no label; without types, all others are one."""
        known = {label for label in labels if not is_negative(label)}
        return known if self.pipe.typed or not known else {ENTITY}

    flags = staticmethod(gold_flags)

    def labels_present(self, gold: GoldSpans) -> Iterable[str]:
        """All labels of one example, also those that the component does not tell apart."""
        return (label for _, _, label in gold.spans)

    def n_cut(self, gold: GoldSpans) -> int:
        """How many spans of one example cut tokens."""
        return gold.n_cut

    def check_found(
        self, found: Collection[str], present: Counter[str], n_cut: int, get_examples: GetExamples
    ) -> None:
        """Raise `TrainingError` where there is no gold span, or none of a label that is wanted.

        found: the labels to be. present, n_cut: those of `labels_present` and `n_cut`, of all
        examples. That most spans cut tokens is worth a warning.
        """
        name, key, wanted = self.pipe.name, self.pipe.gold_key, self.pipe.gold_labels
        if n_cut > present.total():
            cut = self._of_cut_spans(n_cut, n_cut + present.total(), get_examples())
            if not present:
                raise TrainingError(cut)
            logger.warning(cut)
        if not present:
            _refuse_none(name, key, wanted, get_examples())
        if wanted is not None:
            others = _labels_under(key, get_examples())
            _check_wanted(wanted, present, others, name, "gold_labels")
        elif self.pipe.typed:
            where = "the labels given to initialize (in a config, [initialize.components])"
            _check_wanted(found, present, present, name, where)
            left = sorted(set(present) - set(found) - {""})
            if left:
                logger.warning(
                    "'%s' does not learn the label '%s', but spans that have it are found and get "
                    "another label. To leave them out, set gold_labels in all components that "
                    "learn from gold spans, instead of labels under [initialize.components].",
                    name,
                    left[0],
                )
        place = "entities, or gold spans under the component's gold_key"
        n_examples, sought = self.pipe.n_examples or 0, "labelled gold span"
        check_labels(found, n_examples, name, sought, place, get_examples)

    def _of_cut_spans(self, n_cut: int, n: int, examples: Iterable[Example]) -> str:
        """What to say of spans that cut tokens, with the first of them."""
        pipe, nlp = self.pipe, self.pipe.pipeline
        read = pipe.gold_key, pipe.gold_labels, pipe.gold_parts
        first, text = next(
            (each.reference[start:end].text, each.text)
            for each in examples
            if read_gold(each, *read).n_cut
            for start, end, _ in read_own_gold(each.reference, *read).spans
            if exact_bounds(each, start, end) is None
        )
        return (
            f"'{pipe.name}' cannot learn {n_cut:,} of {n:,} gold spans: they begin or end inside "
            f"of tokens of the pipeline, such as '{first[:_SHOWN]}' in '{text[:_SHOWN]}'. "
            f"{tokenizer_for(first, None if nlp is None else nlp.lang)}"
        )


def _check_wanted(
    wanted: Collection[str], found: Collection[str], present: Collection[str], name: str, where: str
) -> None:
    """Raise `TrainingError` for a label that no span has, while spans have one not wanted.

    A part of a corpus, such as a fold, may lack a label.
    """
    unknown, left = sorted(set(wanted) - set(found)), sorted(set(present) - set(wanted) - {""})
    if unknown and left:
        near = get_close_matches(unknown[0], left, 1, 0.0)[0]
        raise TrainingError(
            f"No gold span for '{name}' has the label '{unknown[0]}'. The nearest label that is "
            f"not listed is '{near}'; all in the corpus: {', '.join(sorted(present))}. Change "
            f"{where}."
        )


def _refuse_none(
    name: str, key: str | None, labels: Collection[str] | None, examples: Iterable[Example]
) -> None:
    """Raise `TrainingError` that says which spans there are instead of those that are sought.

    Nothing where the corpus says that it has none: a segmenter can learn that, too.
    """
    n_docs, n_tokens, is_annotated, labels_there = 0, 0, False, set[str]()
    there: Counter[str | None] = Counter()
    for doc in (example.reference for example in examples):
        n_docs += 1
        n_tokens += len(doc)
        is_annotated |= len(doc) > 0 and _is_annotated(doc, key)
        labels_there.update(span.label_ for span in _gold_group(doc, key))
        there[None] += len(doc.ents)
        there.update({group: len(spans) for group, spans in doc.spans.items()})
    others = sorted(labels_there)
    listed = [(group, n) for group, n in there.most_common() if n and group != key]
    problem = f"'{name}' found no labelled gold span in {n_docs} examples"
    if others and labels:
        near = get_close_matches(sorted(labels)[0], others, 1, 0.0)[0]
        raise TrainingError(
            f"{problem} with a label of gold_labels ({', '.join(sorted(labels))}). The nearest "
            f"label is '{near}'; all in the corpus: {', '.join(others)}. Change gold_labels."
        )
    if listed and not is_annotated:
        first = "null" if listed[0][0] is None else f'"{listed[0][0]}"'
        raise TrainingError(
            f"{problem} in {place_of(key)}, but there are "
            f"{', '.join(f'{n:,} in {place_of(group)}' for group, n in listed)}. Set gold_key = "
            f"{first} to use them."
        )
    if n_tokens and not is_annotated:
        none = "doc.set_ents([])" if key is None else f"doc.spans['{key}'] = []"
        raise TrainingError(
            f"{problem}: nothing in {place_of(key)} is annotated. Annotate it. Where a Doc has no "
            f"spans, say so by {none}."
        )


def _is_annotated(doc: Doc, key: str | None) -> bool:
    return bool(doc.has_annotation("ENT_IOB")) if key is None else key in doc.spans


def _labels_under(key: str | None, examples: Iterable[Example]) -> set[str]:
    return {span.label_ for example in examples for span in _gold_group(example.reference, key)}


def _gold_group(doc: Doc, key: str | None) -> Iterable[Span]:
    return doc.ents if key is None else doc.spans.get(key, ())
