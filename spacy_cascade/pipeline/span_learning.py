"""Components that learn from gold spans, and what is wrong where a corpus does not have them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import logger

from ..errors import TrainingError
from ..features.tokens import Tokens
from ..types import Ints2d
from .corpus import GetExamples, check_labels
from .example_sums import ENTITIES
from .learning import LearningPipe
from .spans.gold import (
    GoldSpans,
    gold_flags,
    is_negative,
    place_of,
    read_gold,
    refuse_overlap,
)
from .spans.placing import ENTITY


class SpanLearningPipe(LearningPipe[GoldSpans]):
    """A component whose gold annotation are the spans of `gold_key` with one of `gold_labels`."""

    gold_key: str | None
    gold_labels: list[str] | None

    def _read_gold(self, example: Example) -> GoldSpans:
        """What to learn. Raises `TrainingError` where gold spans overlap."""
        gold = self._read_to_judge(example)
        refuse_overlap(gold, example.predicted, self.gold_key)
        return gold

    def _read_to_judge(self, example: Example) -> GoldSpans:
        """What to compare with: gold spans, which may overlap."""
        return read_gold(example, self.gold_key, self.gold_labels)

    def _gold_reads(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        key = self.gold_key
        return (ENTITIES, ()) if key is None else ((), (key,))

    def _told_apart(self, labels: Iterable[str]) -> set[str]:
        """What a span is not (`is_negative`) is no label; without types, all others are one."""
        known = {label for label in super()._told_apart(labels) if not is_negative(label)}
        return known if self._is_typed or not known else {ENTITY}

    @property
    def _is_typed(self) -> bool:
        """Whether it learns the types of spans; without, a classifier behind it does."""
        return getattr(self, "typed", True)

    def _gold_flags(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Ints2d:
        return gold_flags(tokens, gold)

    def _labels_present(self, gold: GoldSpans) -> Iterable[str]:
        return (label for _, _, label in gold.spans)

    def _check_found(
        self, found: Collection[str], present: Collection[str], get_examples: GetExamples
    ) -> None:
        """Raise `TrainingError` where there is no gold span, or none of a label that is wanted."""
        if not present:
            _refuse_none(self.name, self.gold_key, self.gold_labels, get_examples())
        if self.gold_labels is not None:
            others = _labels_under(self.gold_key, get_examples())
            _check_wanted(self.gold_labels, present, others, self.name, "gold_labels")
        elif self._is_typed:
            where = "the labels given to initialize (in a config, [initialize.components])"
            _check_wanted(found, present, present, self.name, where)
            left = sorted(set(present) - set(found) - {""})
            if left:
                logger.warning(
                    "'%s' does not learn the label '%s', but spans that have it are found and get "
                    "another label. To leave them out, set gold_labels in all components that "
                    "learn from gold spans, instead of labels under [initialize.components].",
                    self.name,
                    left[0],
                )
        place = "entities, or gold spans under the component's gold_key"
        n_examples, sought = self.n_examples or 0, "labelled gold span"
        check_labels(found, n_examples, self.name, sought, place, get_examples)


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
