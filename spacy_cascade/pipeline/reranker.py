"""`cascade_reranker`: chooses among the N best segmentations by both stages' scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from spacy.attrs import ENT_IOB
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples
from thinc.api import Model, Optimizer

from ..errors import ConfigError, TrainingError
from ..models import storage
from ..types import Floats1d, Floats2d, Ints1d
from .annotation import CONFIDENCE_ATTRIBUTE, read_gold, write_entities, write_group
from .candidates import TypedList, count_outcomes, features_of, read_typed_list
from .hypotheses import FEATURES
from .nbest import drop_candidates
from .reranking import Judged, Learner, choose, judge
from .typed_groups import Bounds

WEIGHTS = "theta"
"""Name of the model's parameter: one weight for each of `FEATURES`, float64 `[F]`."""

OUTSIDE = 2
"""spaCy's `ent_iob` of a token that is known to be outside of all entities."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one Doc.

    ranks: int32 `[S]`, from 0. spans, is_typed, confidences: of the new `doc.spans[spans_key]`,
    confidences None where the first-best have none. earlier: the entities that the cascade set.
    """

    ranks: Ints1d
    spans: list[Span]
    is_typed: list[bool]
    confidences: Floats1d | None
    earlier: list[Span]


class CascadeReranker(TrainablePipe):  # type: ignore[misc]
    """Chooses, sentence by sentence, the segmentation and types with the highest total score.

    Comes after `cascade_segmenter` with `n_best` above 1 and `cascade_classifier`, under the
    same `spans_key`. Works without training; `update` learns weights of further features.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        *,
        spans_key: str,
        weight: float,
        keep_candidates: bool,
        set_ents: bool,
        rate: float,
    ) -> None:
        if not (np.isfinite(weight) and np.isfinite(rate) and rate > 0):
            raise ConfigError(
                f"'{name}' needs a finite weight and a finite rate above 0, not weight = {weight} "
                f"and rate = {rate}. Mend the [components.{name}] block."
            )
        self.vocab = nlp.vocab
        self.name = name
        self.cfg: dict[str, Any] = {
            "spans_key": spans_key,
            "weight": weight,
            "keep_candidates": keep_candidates,
            "set_ents": set_ents,
            "rate": rate,
        }
        self.model: Model[Any, Any] = Model("cascade_reranker", _no_forward)
        self.theta = np.zeros(len(FEATURES))

    @property
    def theta(self) -> Floats1d:
        """Weights of `hypotheses.FEATURES`, float64 `[F]`; zeros until it is trained."""
        return np.asarray(self.model.get_param(WEIGHTS), dtype=np.float64)

    @theta.setter
    def theta(self, theta: Floats1d) -> None:
        parameter: Any = np.array(theta, dtype=np.float64)
        self.model.set_param(WEIGHTS, parameter)
        self._learner: Learner | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """None: it only chooses among what others found."""
        return ()

    def add_label(self, label: str) -> int:
        """Raises `TrainingError`: labels belong to the classifier."""
        raise TrainingError(f"'{self.name}' has no labels. Add '{label}' to cascade_classifier.")

    def predict(self, docs: Iterable[Doc]) -> list[Chosen]:
        """Choose for each sentence of each Doc, without changing it.

        Raises `ConfigError` where a Doc has no typed N-best list.
        """
        return [self._choose(doc) for doc in docs]

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Chosen]) -> None:
        """Write `doc.spans[spans_key]` and `doc.ents`, take off the N-best list.

        Only entities that the classifier set give way; those of other components stay.
        """
        key = self.cfg["spans_key"]
        for doc, found in zip(docs, scores, strict=True):
            if found.ranks.any() or self.cfg["keep_candidates"]:
                if self.cfg["set_ents"]:
                    typed = [
                        s for s, typed in zip(found.spans, found.is_typed, strict=True) if typed
                    ]
                    _replace_entities(doc, found.earlier, typed)
                write_group(doc, key, found.spans, found.confidences)
            if not self.cfg["keep_candidates"]:
                drop_candidates(doc, key)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
    ) -> None:
        """Set all feature weights to zero."""
        self.theta = np.zeros(len(FEATURES))

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """One step for each sentence that has a better and a worse candidate.

        The predicted Docs need typed N-best lists: put the segmenter and the classifier into
        `annotating_components`, and train on Docs that they were not trained on (or use
        `spacy cascade tune-reranker`). Raises `TrainingError` where there are none.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        sentences = [sentence for example in examples for sentence in self._judged(example)]
        losses[self.name] += self.learn(sentences, range(len(sentences)))
        return losses

    def learn(self, sentences: Sequence[Judged], order: Sequence[int]) -> float:
        """Pass over sentences in the given order; the sum of their losses."""
        learner = self._learner or Learner(self.theta, self.cfg["rate"])
        loss = learner.pass_over(sentences, order)
        self.theta = learner.theta
        self._learner = learner
        return loss

    def finish_update(self, sgd: Optimizer) -> None:
        """Nothing: `update` has stepped already."""

    def _judged(self, example: Example) -> list[Judged]:
        doc = example.predicted
        try:
            candidates = self._read(doc)
        except ConfigError as error:
            raise TrainingError(
                f"{error} In training both must be among the annotating_components, "
                f"or '{self.name}' among the frozen_components."
            ) from None
        right, found = count_outcomes(candidates, read_gold(example, None))
        errors = found - 2.0 * right  # a wrong entity and a missed one, but for a constant
        return judge(self._base(candidates), features_of(doc, candidates), errors)

    # Choosing

    def _read(self, doc: Doc) -> TypedList:
        return read_typed_list(doc, self.cfg["spans_key"], f"'{self.name}'")

    def _base(self, candidates: TypedList) -> Floats2d:
        return candidates.totals(self.cfg["weight"])

    def _choose(self, doc: Doc) -> Chosen:
        candidates = self._read(doc)
        features = features_of(doc, candidates) if self.theta.any() else None
        ranks = choose(self._base(candidates), features, self.theta)
        picked = [
            (span.start, span, bool(typed), probability)
            for k, ranked in enumerate(candidates.ranked)
            for span, i, typed, probability in zip(
                ranked.spans,
                ranked.sequences,
                ranked.is_typed,
                ranked.type_probabilities,
                strict=True,
            )
            if ranks[i] == k
        ]
        picked.sort(key=lambda item: item[0])
        spans = [span for _, span, _, _ in picked]
        confidences = self._confidences(doc, candidates, spans, [item[3] for item in picked])
        earlier = _typed_before(doc, self.cfg["spans_key"], candidates)
        return Chosen(ranks, spans, [typed for _, _, typed, _ in picked], confidences, earlier)

    def _confidences(
        self,
        doc: Doc,
        candidates: TypedList,
        spans: Sequence[Span],
        type_probabilities: Sequence[float],
    ) -> Floats1d | None:
        """Of each span: as before where it was found before, else from the N-best list."""
        group = doc.spans[self.cfg["spans_key"]]
        known = group.attrs.get(CONFIDENCE_ATTRIBUTE)
        if known is None:
            return None
        earlier = {(s.start, s.end): float(c) for s, c in zip(group, known, strict=False)}
        confidences = np.empty(len(spans))
        masses: dict[Bounds, float] | None = None
        for i, span in enumerate(spans):
            bounds = (span.start, span.end)
            if bounds in earlier:
                confidences[i] = earlier[bounds]
                continue
            if masses is None:
                masses = candidates.span_masses()
            confidences[i] = type_probabilities[i] * min(1.0, masses[bounds])
        return confidences

    # Saving: the weights only; settings belong to the config.

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The weights as bytes; see `models.storage` for the format."""
        return storage.pack(*storage.vector_state(self.model.name, list(FEATURES), self.theta))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> CascadeReranker:
        """Load from bytes. Raises `ModelFileError` for anything that is not such weights."""
        self._load(data, f"the bytes given to '{self.name}'")
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into the folder `path`, as the single file `cascade.npz`."""
        storage.write_file(path, self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> CascadeReranker:
        """Load from the folder `path`. Raises `ModelFileError` where that cannot be done."""
        self._load(*storage.read_file(path))
        return self

    def _load(self, data: bytes, where: str) -> None:
        header, arrays = storage.unpack(data, where)
        storage.check_identity(header, self.model.name, {"features": list(FEATURES)})
        self.theta = storage.read_vector(arrays, len(FEATURES), where)


def _no_forward(model: Model[Any, Any], inputs: Any, is_train: bool) -> Any:
    raise NotImplementedError("The reranker's model only holds its weights.")


def _typed_before(doc: Doc, key: str, candidates: TypedList) -> list[Span]:
    """The entities that the cascade set: typed spans of `doc.spans[key]`."""
    typed = {
        (span.start, span.end, span.label)
        for ranked in candidates.ranked
        for span, is_typed in zip(ranked.spans, ranked.is_typed.tolist(), strict=True)
        if is_typed
    }
    set_by_cascade = typed & {(s.start, s.end, s.label) for s in doc.spans[key]}
    return [e for e in doc.ents if (e.start, e.end, e.label) in set_by_cascade]


def _replace_entities(doc: Doc, earlier: Sequence[Span], typed: Sequence[Span]) -> None:
    """Make `doc.ents` have the typed spans instead of the earlier ones."""
    wanted = {(s.start, s.end, s.label) for s in typed}
    known = {(e.start, e.end, e.label) for e in earlier}
    removed = [e for e in earlier if (e.start, e.end, e.label) not in wanted]
    added = [s for s in typed if (s.start, s.end, s.label) not in known]
    if removed:
        # As if they had never been set: beside tokens known as outside, outside too.
        where = "outside" if (doc.to_array(ENT_IOB) == OUTSIDE).any() else "missing"
        doc.set_ents([], **{where: removed}, default="unmodified")
    write_entities(doc, added)
