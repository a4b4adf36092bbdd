"""`cascade_reranker`: chooses among the N best segmentations by both stages' scores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from thinc.api import Model, Optimizer

from ...errors import ConfigError, TrainingError
from ...features.span_context import FoundSpans
from ...features.tokens import Tokens
from ...features.units import Units
from ...inference.structure import Structure
from ...numeric.design import Design
from ...numeric.encoded import sum_of_scores
from ...numeric.index import KeyIndex
from ...parallel import Workers
from ...pipeline.base import CascadePipe
from ...pipeline.factories import component_factory
from ...pipeline.initializing import learn_features
from ...pipeline.reading import read, span_units
from ...pipeline.sequences import Shown, decide_by
from ...pipeline.settings import NotNegative, Positive, setting
from ...pipeline.spans.gold import gold_flags, read_gold
from ...pipeline.spans.groups import table_of_group
from ...pipeline.spans.nbest import drop_candidates
from ...pipeline.spans.placing import in_batch
from ...pipeline.spans.tables import join_tables, table_of
from ...scorers.linear import set_weights
from ...types import Floats2d, Ints2d, RealsXd
from .minimum_risk import Lists, MinimumRiskFit, RiskData, choose
from .typed_lists import Chosen, TypedLists, choose_spans, read_lists, write_chosen


@dataclass(frozen=True)
class RerankerData:
    """What annotated N-best lists teach: their features, and the errors of each choice.

    design: features of the spans, None for those of an untrained reranker. errors: float64
    `[U, C]` as `TypedLists.errors` gives them. n_gold: number of gold entities.
    """

    design: Design | None
    typed: TypedLists
    errors: Floats2d
    n_gold: int

    def f1(self, lists: Lists, weights: RealsXd | None = None) -> float:
        """Entity F1 of the choice that such scores make; weights `[F, C]` of the features."""
        if weights is not None and self.design is not None:
            (learnt,) = sum_of_scores([self.design], weights, [slice(None)], Workers(1))
            lists = lists._replace(class_scores=lists.class_scores + learnt)
        chosen = np.empty(len(lists.starts) - 1, dtype=np.int32)
        classes = np.empty(len(lists.class_scores), dtype=np.int32)
        choose(lists, chosen, classes)
        spans = self.typed.chosen_spans(chosen)
        errors = self.errors[spans, classes[spans]]
        n_all = np.count_nonzero(errors) + self.n_gold
        return 2.0 * np.count_nonzero(errors < 0) / n_all if n_all else 0.0


class CascadeReranker(CascadePipe):
    """Chooses, sentence by sentence, the segmentation and types with the highest total score.

    Comes after `cascade_segmenter` with `n_best` above 1 and `cascade_classifier`, under the
    same `spans_key`. Works without training; training gives every span of a hypothesis
    features, and weights for them by its type.
    """

    spans_key: str = setting("cascade")
    weight: NotNegative = setting(1.0)
    scale: Positive = setting(1.0)
    rate: Positive = setting(0.1)
    keep_candidates: bool = setting(False)
    set_ents: bool = setting(True)
    _may_be_untrained: ClassVar[bool] = True

    def __init__(
        self, nlp: Language, model: Model[Units, Any], name: str, settings: Mapping[str, Any]
    ) -> None:
        super().__init__(nlp, model, name, settings)
        self._forget_weights()

    @property
    def structure_labels(self) -> list[str]:
        """The classes."""
        return list(self.labels)

    def _make_structure(self) -> Structure:
        """One free choice among the classes; there is one before any is known."""
        return self.family.of_classes(max(1, len(self.labels)))

    def _structure_size(self, n_labels: int) -> tuple[int, int]:
        return self.family.size_of_classes(max(1, n_labels))

    @property
    def is_trained(self) -> bool:
        """Whether there are any features with weights."""
        return len(self.space) > 0

    @property
    def label_data(self) -> None:
        """None: its labels are those of the classifier, so `spacy init labels` saves none."""
        return None

    def add_label(self, label: str) -> int:
        """Raises `TrainingError`: labels belong to the classifier."""
        raise TrainingError(f"'{self.name}' has no labels. Add '{label}' to cascade_classifier.")

    def predict(self, docs: Iterable[Doc]) -> list[Chosen]:
        """Choose for each sentence of each Doc, without changing it.

        Raises `ConfigError` where a Doc has no typed N-best list.
        """
        docs = list(docs)
        if not docs:
            return []
        self.begin_batch()
        typed = read_lists(docs, self.spans_key, f"'{self.name}'")
        lists = self.weighted(typed)
        if self.is_trained:
            self._check_classes(typed)
            units = self._units(docs, read(self, docs), typed)
            lists = lists._replace(class_scores=lists.class_scores + self.model.predict(units))
        return choose_spans(typed, lists, self.vocab.strings)

    def weighted(self, typed: TypedLists) -> Lists:
        """The lists with the scores of both stages as they are to be weighted."""
        return typed.weighted(self.scale, self.weight)

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Chosen]) -> None:
        """Write `doc.spans[spans_key]` and `doc.ents`, take off the N-best list.

        Only entities that the classifier set give way; those of other components stay. Spans
        that are what they were keep their confidence.
        """
        key, docs = self.spans_key, list(docs)
        write_chosen(docs, key, scores, self.set_ents)
        if not self.keep_candidates:
            for doc in docs:
                drop_candidates(doc, key)

    # Training

    def initialize(  # type: ignore[override]
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
    ) -> None:
        """Learn the features of the spans in the N-best lists of the examples; no weights yet.

        Where the predicted Docs have no lists, the reranker stays untrained.
        """
        examples = list(get_examples())
        validate_examples(examples, f"{type(self).__name__}.initialize")
        self._forget_weights()
        docs = [example.predicted for example in examples]
        if not docs or not all(f"{self.spans_key}/1" in doc.spans for doc in docs):
            return
        typed = read_lists(docs, self.spans_key, f"'{self.name}'")
        self._set_labels(typed.classes)
        gold = [read_gold(example, None) for example in examples]
        decide_by(docs, self.model, Shown())
        tokens = read(self, docs)
        flags = gold_flags(tokens, gold)
        learn_features(
            self,
            nlp,
            lambda: iter([(tokens, flags)]),
            lambda: [self._units(docs, tokens, typed, flags)],
        )

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """A step for each sentence; the loss is the expected number of errors.

        The predicted Docs need typed N-best lists of a cascade that was not trained on them, as
        `spacy cascade rerank train` makes them. Raises `TrainingError` where there are none.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, f"{type(self).__name__}.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        try:
            data = self.reranker_data(examples)
        except ConfigError as error:
            raise TrainingError(
                f"{error} In training both must be among the annotating_components, "
                f"or '{self.name}' among the frozen_components."
            ) from None
        if not self.is_trained:
            raise TrainingError(
                f"'{self.name}' knows no features yet. Call its initialize with examples that have "
                "N-best lists first, or use 'spacy cascade rerank train'."
            )
        losses[self.name] += self.learn(data)
        return losses

    def reranker_data(self, examples: Sequence[Example]) -> RerankerData:
        """What examples teach. Raises `ConfigError` where predicted Docs have no list."""
        docs = [example.predicted for example in examples]
        typed = read_lists(docs, self.spans_key, f"'{self.name}'")
        gold = [read_gold(example, None) for example in examples]
        design = None
        if self.is_trained:
            self._check_classes(typed)
            tokens = read(self, docs)
            units = self._units(docs, tokens, typed, gold_flags(tokens, gold))
            design = self.space.design(units)
        return RerankerData(design, typed, typed.errors(gold), sum(len(g.spans) for g in gold))

    def learn(self, data: RerankerData) -> float:
        """Pass over the sentences once; the sum of their expected numbers of errors."""
        if self._fit is None:
            self._fit = MinimumRiskFit(self.weights, self.rate)
        assert data.design is not None
        step = RiskData(data.design, self.weighted(data.typed), data.errors)
        return data.n_gold + self._fit.step(step)

    # Choosing

    def _forget_weights(self) -> None:
        """Be untrained."""
        self._set_labels(())
        self.space.index = KeyIndex()
        set_weights(self.model, np.zeros((0, 1)), np.zeros(1))
        self.reset_fit()

    def _check_classes(self, typed: TypedLists) -> None:
        if typed.classes and typed.classes != self.labels:
            raise ConfigError(
                f"'{self.name}' was trained for the types {list(self.labels)}, but the classifier "
                f"gives {list(typed.classes)}. Train the reranker again."
            )

    def _units(
        self,
        docs: Sequence[Doc],
        tokens: Tokens,
        typed: TypedLists,
        own_flags: Ints2d | None = None,
    ) -> Units:
        """The spans of the lists; own_flags as in training of the stages."""
        found = _found(docs, tokens, self.spans_key)
        spans = np.stack([typed.start, typed.end], axis=1)
        string_of = self.vocab.strings.__getitem__
        return span_units(self.space, string_of, tokens, spans, found, own_flags)


def _found(docs: Sequence[Doc], tokens: Tokens, key: str) -> FoundSpans:
    """The spans that the cascade found first."""
    groups = [doc.spans.get(key) for doc in docs]
    tables = [table_of([]) if group is None else table_of_group(group) for group in groups]
    bounds = in_batch([table.bounds for table in tables], tokens)
    return FoundSpans.of(bounds, join_tables(tables).label)


make_reranker = component_factory(
    "cascade_reranker",
    CascadeReranker,
    {
        "model": {
            "@architectures": "spacy_cascade.SpanClassifier.v1",
            "templates": {"@misc": "spacy_cascade.RerankingTemplates.v1"},
            "min_count": 4,
        }
    },
    requires=["doc.spans"],
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "span._.confidence"],
)
