"""Components that learn from gold spans, and what is wrong where a corpus does not have them."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import logger

from ..errors import TrainingError
from ..features.tokens import Tokens
from ..types import Ints2d
from .corpus import GetExamples, check_labels
from .declared import ClassifierOptions, SegmenterOptions
from .learning import LearningPipe
from .spans.gold import GoldSpans, gold_flags, read_gold


class SpanLearningPipe(LearningPipe[GoldSpans]):
    """A component whose gold annotation are the spans of `gold_key` with one of `gold_labels`."""

    options: SegmenterOptions | ClassifierOptions

    def _read_gold(self, example: Example) -> GoldSpans:
        return read_gold(example, self.options.gold_key, self.options.gold_labels)

    def _gold_reads(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        key = self.options.gold_key
        return ((ENT_IOB, ENT_TYPE), ()) if key is None else ((), (key,))

    def _gold_flags(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Ints2d:
        return gold_flags(tokens, gold)

    def _labels_present(self, gold: GoldSpans) -> Iterable[str]:
        return (label for _, _, label in gold.spans)

    def _check_found(
        self, found: Collection[str], present: Collection[str], get_examples: GetExamples
    ) -> None:
        """Raise `TrainingError` where there is no gold span, or none of a label that is wanted."""
        options = self.options
        if not present:
            _refuse_none(self.name, options.gold_key, options.gold_labels, get_examples())
        if options.gold_labels is not None:
            others = _labels_under(options.gold_key, get_examples())
            _check_wanted(options.gold_labels, present, others, self.name, "gold_labels")
        elif not isinstance(options, SegmenterOptions) or options.typed:
            _check_wanted(found, present, present, self.name, "[initialize.components] labels")
            left = sorted(set(present) - set(found) - {""})
            if left:
                logger.warning(
                    "'%s' does not learn the label '%s', but spans that have it are found and get "
                    "another label. To leave them out, set gold_labels in all components that "
                    "learn from gold spans, instead of labels under [initialize.components].",
                    self.name,
                    left[0],
                )
        place = "has entities, or gold spans under the component's gold_key"
        check_labels(found, self.n_examples or 0, self.name, "labelled gold span", place)


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
    n_docs, is_annotated, labels_there = 0, False, set[str]()
    there: Counter[str | None] = Counter()
    for doc in (example.reference for example in examples):
        n_docs += 1
        is_annotated |= _is_annotated(doc, key)
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
            f"{problem} in {_place(key)}, but there are "
            f"{', '.join(f'{n:,} in {_place(group)}' for group, n in listed)}. Set gold_key = "
            f"{first} to use them."
        )


def _place(key: str | None) -> str:
    return "doc.ents" if key is None else f"doc.spans['{key}']"


def _is_annotated(doc: Doc, key: str | None) -> bool:
    return bool(doc.has_annotation("ENT_IOB")) if key is None else key in doc.spans


def _labels_under(key: str | None, examples: Iterable[Example]) -> set[str]:
    return {span.label_ for example in examples for span in _gold_group(example.reference, key)}


def _gold_group(doc: Doc, key: str | None) -> Iterable[Span]:
    return doc.ents if key is None else doc.spans.get(key, ())
