"""`cascade_segmenter`: finds entity spans."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import ConfigError
from ..features.tokens import Tokens
from ..features.units import Units
from ..inference.schemes import Spans, TagSet
from ..inference.structure import Potentials, Structure, require
from ..rooms import offered
from ..types import Bools1d, Floats1d, Ints1d, Pointers1d, Texts
from .base import CascadePipe
from .calibration import Outcomes
from .classifier import CascadeClassifier
from .decoding import ScoredBatch, decode, potentials_in_parts, potentials_of
from .encoder import learning_tokens
from .factories import component_factory
from .settings import Positive, SchemeName, Share, setting
from .span_gold import SpanGold
from .spans.entities import Presets, read_presets
from .spans.gold import GoldSpans, PartsOfGold
from .spans.nbest import (
    Count,
    Segmentation,
    candidates_by_doc,
    check_n,
    drop_candidates,
    segmentations,
    write_candidates,
)
from .spans.placing import ENTITY, LabelledSpan, place_spans, rows_of, split_by_doc
from .spans.results import (
    Segments,
    check_thresholds,
    no_segments,
    segments_by_doc,
    thresholds_of,
    write_segments,
)
from .spans.tables import characters_of

NO_OUTCOMES = Outcomes(np.zeros(0, dtype=np.bool_), lambda _: np.zeros(0))


class CascadeSegmenter(CascadePipe):
    """Finds non-overlapping spans by exact decoding of each sentence, or, with `overlapping`,
    lists all likely spans.

    With `typed = False` (the first stage of a cascade) all gold labels count as one, `ENT`; with
    `typed = True` it is a single-phase recogniser.
    """

    scheme: SchemeName = setting("BILOU", is_fixed=True)
    typed: bool = setting(False, is_fixed=True)
    gold_key: str | None = setting(None)
    gold_labels: Texts | None = setting(None)
    gold_level: Literal["innermost", "outermost"] | None = setting(None)
    gold_parts: PartsOfGold = setting("neither")
    spans_key: str = setting("cascade")
    confidence: bool = setting(True)
    temperature: Positive = setting(1.0)
    unseen_words: Share | None = setting(None)
    threshold: Share = setting(0.0)
    label_thresholds: dict[str, Share] = setting({})
    constrained: bool = setting(False)
    overlapping: bool = setting(False)
    set_ents: bool = setting(False)
    n_best: Count = setting(1)
    joint_key: str | None = setting(None)

    _told_of_parts = ""
    _needed = 0.0
    """As `_least_needed` was last, for a copy in a process without the pipeline."""

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigError` for settings that it, or its structure, cannot have together."""
        check_thresholds(values, self.name)
        if values["overlapping"] and not values["confidence"]:
            raise ConfigError(
                f"'{self.name}' lists overlapping spans by their confidences, but has none. Set "
                "confidence = true, or overlapping = false."
            )
        if values["overlapping"] and values["n_best"] > 1:
            raise ConfigError(
                f"'{self.name}' lists overlapping spans, and no segmentation has them all. Set "
                "n_best = 1, or overlapping = false."
            )
        needs = {
            "best": True,
            "span_posteriors": values["confidence"],
            "k_best": values["n_best"] > 1,
            "likely_spans": values["overlapping"],
            "clamp": values["constrained"],
            "log_partitions": values["joint_key"] is not None,
        }
        needed = (operation for operation, is_needed in needs.items() if is_needed)
        require(self.family.structure, needed, f"'{self.name}'")

    @property
    def gold(self) -> SpanGold:
        """What it learns of examples."""
        return SpanGold(self)

    @property
    def tag_set(self) -> TagSet:
        """The tags under the scheme and labels of this component."""
        return TagSet(self.scheme, self.labels)

    @property
    def structure_labels(self) -> list[str]:
        return self.tag_set.tags

    def _make_structure(self) -> Structure:
        return self.family.of_spans(self.tag_set)

    def _structure_size(self, n_labels: int) -> tuple[int, int]:
        return self.family.size_of_spans(self.scheme, n_labels)

    def predict(self, docs: Iterable[Doc]) -> list[Segments]:
        """Find the spans of each Doc without changing it."""
        docs = list(docs)
        tokens, parts = self._scored_parts(docs)
        is_probabilistic = self.loss.is_probabilistic
        thresholds = self._least_listed() if self.overlapping else thresholds_of(self)
        how = self, thresholds, is_probabilistic
        decoded = [(begin, decode(part, *how)) for begin, part in parts]
        if not decoded:
            return [no_segments(self.confidence, self.n_best, is_probabilistic)] * len(docs)
        return segments_by_doc(decoded, tokens)

    def nbest(self, doc: Doc, n: int) -> list[list[Segmentation]]:
        """The `n` best segmentations of each sentence, best first; the Doc is not changed.

        A short sentence has fewer. Probabilities are at the component's temperature, as confidences
        and those of `joint_hypotheses` are. Raises `ConfigError` where n is not from 1 to 100.
        """
        check_n(n, f"nbest of '{self.name}'")
        batch = self.scored([doc])
        if not len(batch):
            return []
        paths, ranked = batch.best_paths(n)
        found = batch.ranked(paths, ranked, False)
        if self.loss.is_probabilistic:
            calibrated = batch.log_probabilities(ranked, self.temperature)
            found = replace(found, log_probabilities=calibrated)
        (candidates,) = candidates_by_doc(found, batch.tokens)
        return segmentations(doc, candidates, self._label_hashes())

    def posteriors(
        self, docs: Sequence[Doc], spans: Sequence[Sequence[LabelledSpan]]
    ) -> list[Floats1d]:
        """Exact posterior probability of given spans of each Doc; the Docs are not changed.

        spans: those of each Doc, without overlap; labels count only with `typed`. Spans that no
        labelling has, across sentences or of an unknown label, have probability 0.
        """
        return self._posteriors(self.scored(docs), spans)

    def _posteriors(
        self, batch: ScoredBatch, spans: Sequence[Sequence[LabelledSpan]]
    ) -> list[Floats1d]:
        placed, known = self.place(batch.tokens, spans)
        values = np.zeros(len(known))
        if known.any():
            possible = placed.take(known)
            path = self.structure.observed(possible, np.ones(len(batch), dtype=np.bool_))
            values[known] = batch.posteriors(path, possible, self.temperature)
        return split_by_doc(values, spans)

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """The spans found in the predicted Docs, and whether each is right.

        Spans with tokens that have no annotation are left out.
        """
        batch = self.scored([example.predicted for example in examples])
        if not len(batch):
            return NO_OUTCOMES
        path = batch.best_path()
        spans = batch.spans(path)
        gold, known = self.gold_in(batch.tokens, [self.gold.read_to_judge(e) for e in examples])
        found, wanted = rows_of(spans), set(rows_of(gold))
        judged = np.array([known[start:end].all() for start, end, _ in found], dtype=np.bool_)
        right = [span in wanted for span in found]
        return Outcomes(
            np.array(right, dtype=np.bool_)[judged],
            lambda temperature: batch.posteriors(path, spans, temperature)[judged],
        )

    @property
    def finders(self) -> list["CascadeSegmenter"]:
        """The components that find the spans of its group: itself, or levels of them."""
        return [self]

    def as_found(self, doc: Doc, span: LabelledSpan) -> tuple["CascadeSegmenter", Doc]:
        """The one of `finders` that would find a span, and the Doc as that sees it."""
        return self, doc

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Segments]) -> None:
        """Write `doc.spans[spans_key]`, and `doc.ents` with `set_ents`.

        With `n_best` above 1 also `doc.spans["<spans_key>/k"]` (`pipeline.spans.nbest`); what an
        earlier run left there is removed.
        """
        docs, key, labels = list(docs), self.spans_key, self._label_hashes()
        listed = [found.candidates for found in scores if found.candidates is not None]
        characters = characters_of(docs) if listed else None
        write_segments(docs, key, scores, labels, thresholds_of(self), self.set_ents, characters)
        for doc in docs:
            drop_candidates(doc, key)
        if characters is not None:
            write_candidates(docs, key, listed, labels, characters)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the registered scorer, told whether entities are chosen from the spans."""
        is_chosen = self.set_ents or any(choosers(self.pipeline, self.spans_key))
        scores: dict[str, Any] = super().score(examples, is_chosen_from=is_chosen, **kwargs)
        return scores

    def __reduce__(self) -> Any:
        self._least_needed()
        return super().__reduce__()

    def gold_spans(self, example: Example) -> list[LabelledSpan]:
        """Start, end and label of the spans that the component should find."""
        spans, typed = self.gold.read(example).spans, self.typed
        return [(start, end, label if typed else ENTITY) for start, end, label in spans]

    def labels_in(self, gold: GoldSpans) -> Iterable[str]:
        """The labels that it learns from one example."""
        return self.gold.labels_present(gold) if self.typed else (ENTITY,)

    def fitted(
        self, tokens: Tokens, gold: Sequence[GoldSpans], examples: Sequence[Example]
    ) -> tuple[Units, Ints1d, Pointers1d]:
        """Tokens as units, their tags, and starts of sequences."""
        labels = self.structure.observed(*self.gold_in(tokens, gold))
        if self.model.has_ref("tok2vec"):
            tokens = learning_tokens(self, tokens, examples)
        return self.gold_units(tokens, gold), labels, tokens.sequence_starts

    def gold_in(self, tokens: Tokens, gold: Sequence[GoldSpans]) -> tuple[Spans, Bools1d]:
        """Gold spans of a batch that some labelling has, and which tokens `[T]` are annotated.

        No chain has a span across a sentence boundary: its tokens are left open, rather than
        taught as something else.
        """
        observed = np.concatenate([of_doc.observed for of_doc in gold])
        placed, known = self.place(tokens, [of_doc.spans for of_doc in gold])
        for i in np.flatnonzero(~known):
            observed[placed.start[i] : placed.end[i]] = False
        return placed.take(known), observed

    def scored(self, docs: Sequence[Doc]) -> ScoredBatch:
        """A batch with its potentials.

        With `constrained` tokens of presets are not annotated any more, and labellings that
        disagree with a preset have the score `-inf`.
        """
        if self.joint_key is None:
            tokens, potentials = potentials_of(self, docs)
        else:
            jointly_best = offered("joint_decoding")
            if jointly_best is None:
                raise ConfigError(
                    f"'{self.name}' has joint_key = '{self.joint_key}', and joint decoding is not "
                    "installed. Set joint_key = null, or install all of spacy-cascade."
                )
            tokens, potentials = jointly_best(self, docs, self.joint_key)
        constrains = self.constrained and len(tokens.words)
        presets = self._presets(docs, tokens) if constrains else None
        return self._constrained(tokens, potentials, presets)

    def _scored_parts(
        self, docs: Sequence[Doc]
    ) -> tuple[Tokens, Iterator[tuple[int, ScoredBatch]]]:
        """As `scored`, in parts with the first token of each; none where there are no tokens."""
        if self.joint_key is not None:
            batch = self.scored(docs)
            return batch.tokens, iter([(0, batch)] if len(batch) else [])
        tokens, parts = potentials_in_parts(self, docs)
        constrains = self.constrained and len(tokens.words)
        presets = self._presets(docs, tokens) if constrains else None
        return tokens, ((t, self._constrained(tokens, part, presets, t)) for t, part in parts)

    def _presets(self, docs: Sequence[Doc], tokens: Tokens) -> Presets | None:
        """What a labelling has to agree with; None where that is nothing."""
        hashes = self._label_hashes() if self.typed else None
        return read_presets(
            docs, tokens, self.structure, self.spans_key, hashes, self.space.longest
        )

    def _constrained(
        self, tokens: Tokens, part: Potentials, presets: Presets | None, begin: int = 0
    ) -> ScoredBatch:
        """Sequences from the token `begin` on, whose labellings have to agree with the presets."""
        own = slice(begin, begin + len(part.scores))
        taken = np.zeros(len(part.scores), dtype=np.bool_)
        if presets is not None:
            taken = presets.taken[own]
            self.structure.clamp(part, presets.tags[own])
        return ScoredBatch(tokens, self.structure, part, taken)

    def place(
        self, tokens: Tokens, spans: Sequence[Sequence[LabelledSpan]]
    ) -> tuple[Spans, Bools1d]:
        """Spans of each Doc as spans of the batch, and which of them some labelling has."""
        labels = self.labels
        are_one = labels and not self.typed
        numbers = None if are_one else {label: i for i, label in enumerate(labels)}
        placed, known = place_spans(tokens, spans, numbers)
        if self.space.longest is not None:
            known &= placed.end - placed.start <= self.space.longest
        return placed, known

    def _least_listed(self) -> Floats1d:
        """The least confidence of each label's spans in a list, float64 `[C]`.

        A list without a threshold of its own has what can become an entity.
        """
        thresholds = thresholds_of(self)
        if self.threshold:
            return thresholds
        has_own = [label in self.label_thresholds for label in self.labels]
        return np.where(has_own, thresholds, self._least_needed())

    def _least_needed(self) -> float:
        if self.pipeline is not None:
            self._needed = least_needed(self.pipeline, self.spans_key)
        return self._needed

    def _label_hashes(self) -> list[int]:
        return [self.vocab.strings.add(label) for label in self.labels]


def choosers(nlp: Language | None, key: str) -> Iterator[CascadeClassifier]:
    """The classifiers of a pipeline that write entities from the spans of a key."""
    for _, pipe in [] if nlp is None else nlp.pipeline:
        if isinstance(pipe, CascadeClassifier) and pipe.set_ents and pipe.spans_key == key:
            yield pipe


def least_needed(nlp: Language, key: str) -> float:
    """The least confidence with which a span of a key can become an entity, 0 for any.

    A span is at most as likely to be an entity of some type as its bounds are.
    """
    thresholds = [
        threshold
        for chooser in choosers(nlp, key)
        for threshold in (chooser.threshold, *chooser.label_thresholds.values())
    ]
    return min(thresholds, default=0.0)


def chain_factory(
    name: str, kind: type[CascadeSegmenter], templates: str, **meta: Any
) -> Callable[..., CascadeSegmenter]:
    """Register the factory of a component that finds spans with a linear chain.

    templates: registered name of its default set. meta: what `Language.factory` takes besides.
    """
    blocks = {
        "model": {
            "@architectures": "spacy_cascade.LinearChain.v1",
            "templates": {"@misc": templates},
            "min_count": 5,
            "label_pairs": True,
        },
        "loss": {"@misc": "spacy_cascade.SoftmaxMargin.v2", "kappa": 4.5},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 0.2667},
        "trainer": {"@misc": "spacy_cascade.LBFGS.v1"},
        "scorer": {"@scorers": "spacy_cascade.segments_scorer.v1"},
    }
    return component_factory(
        name,
        kind,
        blocks,
        assigns=["doc.spans", "span._.confidence"],
        default_score_weights={"segments_f": 1.0, "segments_p": 0.0, "segments_r": 0.0},
        **meta,
    )


make_segmenter = chain_factory(
    "cascade_segmenter", CascadeSegmenter, "spacy_cascade.SegmentationTemplates.v1"
)
