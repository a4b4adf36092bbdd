"""`cascade_segmenter`: finds entity spans with a linear chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.lattice import Lattice
from ..inference.schemes import SCHEMES, UNOBSERVED, Spans, TagSet
from ..losses.margin import Costs
from ..models.linear import get_weights
from ..trainers.base import Trainer
from ..types import Bools1d, Floats1d, Floats2d, Ints1d, Ints2d
from ..workflows.calibrate import Outcomes, check_temperature
from .chain import ChainPipe
from .scored_batch import ScoredBatch
from .spans.constraints import clamp_scores, preset_tags, read_presets
from .spans.entities import write_entities, write_group
from .spans.given import LabelledBounds, place_spans, select, split_by_doc
from .spans.gold import GoldSpans, gold_flags, read_gold
from .spans.nbest import (
    Candidates,
    Segmentation,
    check_n,
    drop_candidates,
    is_probabilistic,
    make_spans,
    segmentations,
    write_candidates,
)
from .spans.segments import ENTITY, Segments, by_doc
from .spans.span_lists import check_overlapping
from .spans.thresholds import check_thresholds, thresholds_of


class CascadeSegmenter(ChainPipe[GoldSpans]):
    """Finds non-overlapping spans by exact decoding of a linear chain over each sentence.

    With `overlapping` it lists all likely spans instead, whether they overlap or not.
    With `typed = False` (the first stage of a cascade) all gold labels count as one,
    `ENT`; with `typed = True` it is a single-phase recogniser.
    """

    def __init__(
        self,
        nlp: Language,
        model: Model[Units, Floats2d],
        name: str,
        *,
        scheme: str,
        typed: bool,
        gold_key: str | None,
        spans_key: str,
        confidence: bool,
        temperature: float,
        threshold: float,
        label_thresholds: dict[str, float],
        constrained: bool,
        overlapping: bool,
        set_ents: bool,
        n_best: int,
        objective: Costs,
        trainer: Trainer,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        settings = {
            "scheme": scheme,
            "typed": typed,
            "gold_key": gold_key,
            "spans_key": spans_key,
            "confidence": confidence,
            "temperature": check_temperature(temperature, name),
            "threshold": threshold,
            "label_thresholds": label_thresholds,
            "constrained": constrained,
            "overlapping": overlapping,
            "set_ents": set_ents,
            "n_best": n_best,
        }
        check_n(n_best, f"n_best of '{name}'")
        check_thresholds(settings, name)
        check_overlapping(settings, name)
        super().__init__(nlp, model, name, objective, trainer, scorer, settings)
        TagSet(scheme, ())  # an unknown scheme is an error now, not in training

    @property
    def tag_set(self) -> TagSet:
        """The tags under the scheme and labels of this component."""
        return TagSet(self.cfg["scheme"], self.labels)

    @property
    def chain_labels(self) -> list[str]:
        """The tags."""
        return self.tag_set.tags

    def make_lattice(self) -> Lattice:
        """The legal transitions between tags."""
        return self.tag_set.lattice(self.model.attrs["label_pairs"])

    def lattice_size(self, n_labels: int) -> tuple[int, int]:
        """A column for each transition, or for each tag."""
        scheme = self.cfg["scheme"]
        n_edges = TagSet.n_edges(scheme, n_labels)
        n_tags = 1 + n_labels * len(SCHEMES[scheme].prefixes)
        return n_edges, n_edges if self.model.attrs["label_pairs"] else n_tags

    def predict(self, docs: Iterable[Doc]) -> list[Segments]:
        """Find the spans of each Doc without changing it."""
        docs = list(docs)
        batch = self._scored(docs)
        if not len(batch):
            return [self._nothing()] * len(docs)
        if self.cfg["overlapping"]:
            likely = batch.likely_spans(self._thresholds(), self.cfg["temperature"])
            return by_doc(*likely, batch.tokens)
        if self.cfg["n_best"] == 1:
            return self._found(batch, batch.best_path())
        paths, ranked = batch.best_paths(self.cfg["n_best"])
        candidates = batch.candidates(paths, ranked, is_probabilistic(self.objective))
        found = self._found(batch, paths[0])
        return [replace(doc, candidates=c) for doc, c in zip(found, candidates, strict=True)]

    def nbest(self, doc: Doc, n: int) -> list[list[Segmentation]]:
        """The `n` best segmentations of each sentence, best first; the Doc is not changed.

        A short sentence has fewer. Raises `ConfigError` where n is not from 1 to 100.
        """
        check_n(n, f"nbest of '{self.name}'")
        batch = self._scored([doc])
        if not len(batch):
            return []
        paths, ranked = batch.best_paths(n)
        (candidates,) = batch.candidates(paths, ranked, is_probabilistic(self.objective))
        return segmentations(doc, candidates, self._label_hashes())

    def posteriors(
        self, docs: Sequence[Doc], spans: Sequence[Sequence[LabelledBounds]]
    ) -> list[Floats1d]:
        """Exact posterior probability of given spans of each Doc; the Docs are not changed.

        spans: those of each Doc, without overlap; labels count only with `typed`. Spans that no
        path has, across sentences or of a label that is not known, have probability 0.
        """
        batch = self._scored(docs)
        placed, known = self._place(batch.tokens, spans)
        values = np.zeros(len(known))
        if known.any():
            possible = select(placed, known)
            path = np.zeros(len(batch), dtype=np.int32)
            self.tag_set.write(path, *possible)
            values[known] = batch.posteriors(path, possible, self.cfg["temperature"])
        return split_by_doc(values, spans)

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """The spans found in the predicted Docs, and whether each is right.

        Spans with tokens that have no annotation are left out.
        """
        batch = self._scored([example.predicted for example in examples])
        if not len(batch):
            return Outcomes(np.zeros(0, dtype=np.bool_), lambda _: np.zeros(0))
        path = batch.best_path()
        spans = batch.spans(path)
        tags = self.gold_tags(batch.tokens, [self.read_gold(example) for example in examples])
        judged = np.array(
            [(tags[s:e] >= 0).all() for s, e in zip(spans.start, spans.end, strict=True)],
            dtype=np.bool_,
        )
        of_gold = batch.spans(np.maximum(tags, 0))
        wanted = set(zip(*(part.tolist() for part in of_gold), strict=True))
        right = [span in wanted for span in zip(*(part.tolist() for part in spans), strict=True)]
        return Outcomes(
            np.array(right, dtype=np.bool_)[judged],
            lambda temperature: batch.posteriors(path, spans, temperature)[judged],
        )

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Segments]) -> None:
        """Write `doc.spans[spans_key]`, and `doc.ents` with `set_ents`.

        With `n_best` above 1 also `doc.spans["<spans_key>/k"]` (see `spans.nbest`); what an
        earlier run left there is taken off.
        """
        labels, thresholds = self._label_hashes(), self._thresholds()
        key = self.cfg["spans_key"]
        for doc, found in zip(docs, scores, strict=True):
            spans = make_spans(doc, found.spans, labels)
            write_group(doc, key, spans, found.confidences)
            if found.candidates is not None:
                write_candidates(doc, key, found.candidates, labels)
            else:
                drop_candidates(doc, key)
            if self.cfg["set_ents"]:
                sure = found.confidences
                gains = None if sure is None else sure - thresholds[found.spans.label]
                write_entities(doc, spans, gains=gains)

    def gold_spans(self, example: Example) -> list[tuple[int, int, str]]:
        """Start, end and label of the spans that the component should find."""
        return self._collapsed(self.read_gold(example).spans)

    def labels_in(self, gold: GoldSpans) -> Iterable[str]:
        """Labels that the component learns from one example."""
        return (label for _, _, label in gold.spans) if self.cfg["typed"] else (ENTITY,)

    def read_gold(self, example: Example) -> GoldSpans:
        """Gold spans of an example."""
        return read_gold(example, self.cfg["gold_key"])

    def gold_flags(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Ints2d:
        """Which tokens are in gold spans."""
        return gold_flags(tokens, gold)

    def gold_tags(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> Ints1d:
        """Tag of each token, `UNOBSERVED` or `ENDED` where there is no annotation.

        A span across a sentence boundary cannot be had by a chain: its tokens are left
        open too, rather than taught as something else.
        """
        tags = np.zeros(len(tokens.words), dtype=np.int32)
        for offset, doc_gold in zip(tokens.doc_starts.tolist(), gold, strict=False):
            tags[offset : offset + len(doc_gold.observed)][~doc_gold.observed] = UNOBSERVED
        placed, known = self._place(tokens, [doc_gold.spans for doc_gold in gold])
        for i in np.flatnonzero(~known):
            tags[placed.start[i] : placed.end[i]] = UNOBSERVED
        self.tag_set.write(tags, *select(placed, known))
        return tags

    def _scored(self, docs: Sequence[Doc]) -> ScoredBatch:
        """The scores of a batch.

        With `constrained` tokens of presets are not to be annotated any more, and the scores of
        paths that disagree with a preset are `-inf`.
        """
        tokens, scores = self.score_tokens(docs)
        preset = np.zeros(len(scores), dtype=np.bool_)
        if self.cfg["constrained"] and len(scores):
            presets = read_presets(docs, tokens.doc_starts, self.cfg["spans_key"])
            preset = presets.taken
            if preset.any():
                hashes = self._label_hashes() if self.cfg["typed"] else None
                tags = preset_tags(presets, tokens, self.tag_set, hashes)
                clamp_scores(scores, self.lattice, tags)
        transitions = get_weights(self.model)[1]
        return ScoredBatch(tokens, self.tag_set, self.lattice, scores, transitions, preset)

    def _found(self, batch: ScoredBatch, path: Ints1d) -> list[Segments]:
        """The spans of a path that are sure enough, for each Doc."""
        spans, confidences = batch.spans(path), None
        if self.cfg["confidence"]:
            confidences = batch.posteriors(path, spans, self.cfg["temperature"])
            kept = confidences >= self._thresholds()[spans.label]
            spans, confidences = select(spans, kept), confidences[kept]
        return by_doc(spans, confidences, batch.tokens)

    def _place(
        self, tokens: Tokens, spans: Sequence[Sequence[LabelledBounds]]
    ) -> tuple[Spans, Bools1d]:
        numbers = {label: i for i, label in enumerate(self.labels)}
        return place_spans(tokens, [self._collapsed(of_doc) for of_doc in spans], numbers)

    def _collapsed(self, spans: Sequence[LabelledBounds]) -> list[LabelledBounds]:
        typed = self.cfg["typed"]
        return [(start, end, label if typed else ENTITY) for start, end, label in spans]

    def _nothing(self) -> Segments:
        """What is found in a Doc without tokens."""
        empty = Spans(*(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0, dtype=np.int32))
        n = self.cfg["n_best"]
        scores = np.zeros((n, 0))
        log_probabilities = scores if is_probabilistic(self.objective) else None
        return Segments(
            empty,
            np.zeros(0) if self.cfg["confidence"] else None,
            Candidates([], [empty] * n, scores, log_probabilities) if n > 1 else None,
        )

    def _thresholds(self) -> Floats1d:
        return thresholds_of(self.cfg, self.labels, self.name)

    def _label_hashes(self) -> list[int]:
        return [self.vocab.strings.add(label) for label in self.labels]
