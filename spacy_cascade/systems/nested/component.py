"""`cascade_levels`: finds spans around those that a segmenter has found, level by level."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...errors import ConfigError
from ...features.tokens import Tokens
from ...features.units import Units
from ...inference.schemes import Spans
from ...pipeline.calibration import Outcomes
from ...pipeline.corpus import GetExamples
from ...pipeline.decoding import ScoredBatch, parts_of
from ...pipeline.reading import read, token_units
from ...pipeline.segmenter import NO_OUTCOMES, CascadeSegmenter, chain_factory
from ...pipeline.settings import setting
from ...pipeline.spans.confidences import records_of, scores_of
from ...pipeline.spans.entities import write_group
from ...pipeline.spans.gold import GoldSpans
from ...pipeline.spans.groups import table_of_group
from ...pipeline.spans.nbest import Count, Segmentation
from ...pipeline.spans.nesting import Nesting, nesting
from ...pipeline.spans.placing import ENTITY, LabelledSpan, rows_of
from ...pipeline.spans.results import (
    Decoded,
    Segments,
    joined,
    no_segments,
    segments_by_doc,
    thresholds_of,
)
from ...pipeline.spans.tables import join_tables, new_tables, table_of
from ...scorers.linear import parts_of as parts_of_model
from ...types import Bools1d, Floats1d, Ints1d, Pointers1d
from .gold import LevelGold, Passes, passes_over
from .sequences import Labels, fitting, take_sequences, with_any, with_spans


class _Level(NamedTuple):
    """What one pass over sequences has found.

    numbers: int64 `[T]`, which tokens of the batch its tokens are. parts: the first token of each
    part, its scores, its best path and the spans of that. found: spans of all parts. chosen: bool
    `[P]`, those that can be added. confidences: float64 `[P]`, None where there are none.
    """

    numbers: Pointers1d
    parts: list[tuple[int, ScoredBatch, Ints1d, Spans]]
    chosen: Bools1d
    found: Spans
    confidences: Floats1d | None

    def posteriors(self, temperature: float) -> Floats1d:
        """Probabilities of the spans that were chosen, given the spans below."""
        of_parts = [batch.posteriors(path, s, temperature) for _, batch, path, s in self.parts]
        return np.concatenate(of_parts)[self.chosen]

    @property
    def spans(self) -> Spans:
        """The spans that were chosen, in tokens of the batch."""
        start, end, label = self.found.take(self.chosen)
        return Spans(self.numbers[start], self.numbers[end - 1] + 1, label)


class CascadeLevels(CascadeSegmenter):
    """Adds the spans around those of `doc.spans[spans_key]`, level by level.

    A linear chain learns the level above the innermost spans, and sees these as features (Ju,
    Miwa and Ananiadou 2018, A Neural Layered Model for Nested Named Entity Recognition, has one
    network for all levels so). It annotates as long as a level adds spans, sequences without new
    ones rest. A span is added where it holds all earlier ones that it shares tokens with.
    """

    most_levels: Count = setting(2)

    gold_level = None
    n_best = 1
    overlapping = False
    constrained = False
    set_ents = False
    joint_key = None
    _may_be_untrained: ClassVar[bool] = True

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigError` for templates that do not look at the spans below."""
        fixed = {name: getattr(self, name) for name in _FIXED}
        super().check_settings({**values, **fixed})
        key = values["spans_key"]
        if list(self.space.span_keys) != [key]:
            raise ConfigError(
                f"The templates of '{self.name}' look at the span groups "
                f"{list(self.space.span_keys)}, and it finds spans around those of '{key}'. Set "
                f'key = "{key}" in [components.{self.name}.model.templates].'
            )
        if others := list(parts_of_model(self.model)):
            raise ConfigError(
                f"'{self.name}' learns the same words with other spans below them, which a "
                f"{others[0]} does not see. Set {others[0]} = null in "
                f"[components.{self.name}.model]."
            )

    @property
    def gold(self) -> LevelGold:
        """What it learns of examples."""
        return LevelGold(self)

    def labels_in(self, gold: GoldSpans) -> Iterable[str]:
        """The labels that it learns from one example."""
        return super().labels_in(gold) if gold.spans else ()

    def gold_units(self, tokens: Tokens, gold: Sequence[Any]) -> Units:
        """The tokens of all passes over a batch."""
        return self._units_and_passes(tokens, gold)[0]

    def fitted(
        self, tokens: Tokens, gold: Sequence[Any], examples: Sequence[Example]
    ) -> tuple[Units, Ints1d, Pointers1d]:
        """Tokens of all passes as units, their tags, and starts of sequences."""
        units, passes = self._units_and_passes(tokens, gold)
        labels = self.structure.observed(passes.spans, passes.observed)
        return units, labels, passes.tokens.sequence_starts

    def _units_and_passes(self, tokens: Tokens, gold: Sequence[Any]) -> tuple[Units, Passes]:
        passes = passes_over(self, tokens, gold, self._numbered)
        flags = self.gold.flags(tokens, gold)[passes.numbers]
        return token_units(self, passes.tokens, flags), passes

    def gold_spans(self, example: Example) -> list[LabelledSpan]:
        """Start, end and label of the spans of all levels."""
        return [
            (start, end, label if self.typed else ENTITY)
            for start, end, label in self.gold.read_to_judge(example).spans
        ]

    def initialize(self, get_examples: GetExamples, **settings: Any) -> None:
        """As of a segmenter; without a span around another one it stays untrained."""
        super().initialize(get_examples, **settings)
        if not self.labels and self._awaited is None:
            self._forget_weights()

    def predict(self, docs: Iterable[Doc]) -> list[Segments]:
        """The spans to add to those of each Doc, without changing it."""
        docs = list(docs)
        none = no_segments(self.confidence, 1, self.loss.is_probabilistic)
        if not docs or not self.labels:
            return [none] * len(docs)
        tokens = self._read(docs)
        levels = [(0, Decoded(level.spans, level.confidences)) for level in self._levels(tokens)]
        if not levels:
            return [none] * len(docs)
        found = joined(levels)
        order = np.argsort(found.spans.start, kind="stable")
        sure = None if found.confidences is None else found.confidences[order]
        return segments_by_doc([(0, Decoded(found.spans.take(order), sure))], tokens)

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Segments]) -> None:
        """Add spans to `doc.spans[spans_key]`: by first token, longer ones before shorter ones."""
        docs, key = list(docs), self.spans_key
        changed = [pair for pair in zip(docs, scores, strict=True) if len(pair[1].spans.start)]
        if not changed:
            return
        labels = self._numbered.hashes
        start, end, label = map(np.concatenate, zip(*(f.spans for _, f in changed), strict=True))
        sizes = [len(found.spans.start) for _, found in changed]
        new = new_tables([doc for doc, _ in changed], sizes, start, end, labels[label])
        for (doc, found), added in zip(changed, new, strict=True):
            group = doc.spans.get(key)
            below = table_of([]) if group is None else table_of_group(group)
            table, sure = join_tables([below, added]), found.confidences
            order = np.lexsort((-table.end, table.start))
            if sure is not None:
                earlier = None if group is None else scores_of(group, unknown=1.0)
                earlier = np.ones(below.n_spans) if earlier is None else earlier
                sure = np.concatenate([earlier, sure])[order]
            table = table.take(order)
            (record,) = records_of([table], [sure])
            write_group(doc, key, table, sure, {} if group is None else group.attrs, record)

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """The spans that it adds to the predicted Docs, and whether each is a gold span.

        Spans with tokens that have no annotation are left out.
        """
        if not self.labels:
            return NO_OUTCOMES
        tokens = self._read([example.predicted for example in examples])
        gold = [self.gold.read_to_judge(example) for example in examples]
        observed = np.concatenate([of_doc.observed for of_doc in gold])
        placed, known = self.place(tokens, [of_doc.spans for of_doc in gold])
        wanted = set(rows_of(placed.take(known)))
        levels = list(self._levels(tokens))
        found = [row for level in levels for row in rows_of(level.spans)]
        judged = np.array([observed[start:end].all() for start, end, _ in found], dtype=np.bool_)
        right = np.array([span in wanted for span in found], dtype=np.bool_)
        if not judged.any():
            return NO_OUTCOMES
        return Outcomes(
            right[judged],
            lambda t: np.concatenate([level.posteriors(t) for level in levels])[judged],
        )

    def nbest(self, doc: Doc, n: int) -> list[list[Segmentation]]:
        """Raises `ConfigError`: levels have no list of segmentations."""
        raise ConfigError(
            f"'{self.name}' finds levels of spans, and has no list of the best segmentations. Ask "
            "the cascade_segmenter before it."
        )

    def _read(self, docs: Sequence[Doc]) -> Tokens:
        self.begin_batch()
        return read(self, docs)

    def _levels(self, tokens: Tokens) -> Iterator[_Level]:
        """Passes over the sequences of a batch that have spans, each with those of the last one."""
        key = self.spans_key
        tokens, numbers = take_sequences(tokens, with_any(tokens, tokens.groups[key].spans.start))
        for _ in range(self.most_levels):
            level = self._level(tokens, numbers)
            if not level.chosen.any():
                return
            yield level
            new = level.found.take(level.chosen)
            tokens = with_spans(tokens, key, new, self._numbered, level.confidences)
            tokens, own = take_sequences(tokens, with_any(tokens, new.start))
            numbers = numbers[own]

    @property
    def _numbered(self) -> Labels:
        return Labels(np.array(self._label_hashes(), dtype=np.uint64), self.labels)

    def _level(self, tokens: Tokens, numbers: Pointers1d) -> _Level:
        """The spans of a level that can be added to those that the tokens have."""
        parts = []
        for begin, potentials in parts_of(self, tokens):
            free = np.zeros(len(potentials.scores), dtype=np.bool_)
            batch = ScoredBatch(tokens, self.structure, potentials, free)
            path = batch.best_path()
            parts.append((begin, batch, path, batch.spans(path)))
        if not parts:
            return _Level(numbers, [], np.zeros(0, dtype=np.bool_), _NO_SPANS, None)
        found = joined([(begin, Decoded(spans, None)) for begin, *_, spans in parts]).spans
        chosen = fitting(tokens.groups[self.spans_key].disjoint, found)
        level = _Level(numbers, parts, chosen, found, None)
        if not self.confidence:
            return level
        sure = level.posteriors(self.temperature)
        kept = sure >= thresholds_of(self)[found.label[chosen]]
        chosen[chosen] = kept
        return level._replace(confidences=sure[kept])

    # Asked about a span, whichever level it is of

    def scored(self, docs: Sequence[Doc]) -> ScoredBatch:
        """A batch with the potentials of the first level, whatever the Docs have above it."""
        return super().scored([self._with_levels(doc, 1) for doc in docs])

    @property
    def finders(self) -> list[CascadeSegmenter]:
        """The segmenter of the innermost spans, and itself where there are levels above."""
        return [self._below(), self] if self.labels else [self._below()]

    def as_found(self, doc: Doc, span: LabelledSpan) -> tuple[CascadeSegmenter, Doc]:
        """The component that would find a span, and the Doc as that sees it."""
        height = int(self._heights(doc, [span])[0])
        return (self, self._with_levels(doc, height)) if height else (self._below(), doc)

    def posteriors(
        self, docs: Sequence[Doc], spans: Sequence[Sequence[LabelledSpan]]
    ) -> list[Floats1d]:
        """Probability of given spans of each Doc, given those inside them that the Doc has.

        Else as of a segmenter, which is asked for spans that hold no other one.
        """
        heights = [self._heights(doc, of_doc) for doc, of_doc in zip(docs, spans, strict=True)]
        found = [np.zeros(len(of_doc)) for of_doc in spans]
        for height in np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *heights])).tolist():
            own = [np.flatnonzero(of_doc == height) for of_doc in heights]
            asked = [[s[i] for i in n.tolist()] for s, n in zip(spans, own, strict=True)]
            if height:
                batch = super().scored([self._with_levels(doc, height) for doc in docs])
                values = self._posteriors(batch, asked)
            else:
                values = self._below().posteriors(docs, asked)
            for of_doc, n, its in zip(found, own, values, strict=True):
                of_doc[n] = its
        return found

    def _below(self) -> CascadeSegmenter:
        """The segmenter whose spans it begins with. Raises `ConfigError` where there is none."""
        pipes: list[tuple[str, Any]] = [] if self.pipeline is None else self.pipeline.pipeline
        for _, pipe in pipes:
            if not isinstance(pipe, CascadeSegmenter) or pipe is self:
                continue
            if pipe.spans_key == self.spans_key:
                return pipe
        raise ConfigError(
            f"'{self.name}' begins with the spans of a cascade_segmenter with spans_key = "
            f'"{self.spans_key}", and its pipeline has none. Add one before it.'
        )

    def _nesting(self, doc: Doc) -> Nesting:
        group = doc.spans.get(self.spans_key, ())
        return nesting([(span.start, span.end, span.label_) for span in group])

    def _heights(self, doc: Doc, spans: Sequence[LabelledSpan]) -> Pointers1d:
        """How many levels of spans of the Doc each span holds, int64 `[P]`."""
        known = self._nesting(doc)
        start, end, above = (
            np.array(
                [(s, e, h + 1) for (s, e, _), h in zip(known.spans, known.heights, strict=True)],
                dtype=np.int64,
            )
            .reshape(-1, 3)
            .T
        )
        found = np.zeros(len(spans), dtype=np.int64)
        for i, (first, after, _) in enumerate(spans):
            inside = (start >= first) & (end <= after) & (end - start < after - first)
            found[i] = above[inside].max(initial=0)
        return found

    def _with_levels(self, doc: Doc, n: int) -> Doc:
        """A copy of a Doc with the first levels of its spans, as they were without types."""
        known, copied = self._nesting(doc), doc.copy()
        kept = known.take(lambda depth, height: height < n)
        copied.spans[self.spans_key] = [
            Span(copied, start, end, label if self.typed else ENTITY) for start, end, label in kept
        ]
        return copied


_FIXED = ("n_best", "overlapping", "constrained", "joint_key")
_NO_SPANS = Spans(*(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0, dtype=np.int32))

make_levels = chain_factory(
    "cascade_levels", CascadeLevels, "spacy_cascade.LevelTemplates.v1", requires=["doc.spans"]
)
