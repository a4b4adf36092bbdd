"""Factories of the components, with their defaults."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language
from thinc.api import Model

from ..features.units import Units
from ..losses.margin import Costs
from ..trainers.base import Trainer
from ..types import Floats2d
from .classifier import CascadeClassifier
from .reranker import CascadeReranker
from .segmenter import CascadeSegmenter
from .spans.entities import register_confidence
from .tagger import CascadeTagger

register_confidence()

SEGMENTER_DEFAULTS: dict[str, Any] = {
    "model": {
        "@architectures": "spacy_cascade.LinearChain.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "min_count": 5,
        "label_pairs": True,
    },
    "objective": {"@misc": "spacy_cascade.SoftmaxMargin.v1", "kappa": 4.5, "sigma": 0.2667},
    "trainer": {"@misc": "spacy_cascade.LBFGS.v1"},
    "scheme": "BILOU",
    "typed": False,
    "gold_key": None,
    "spans_key": "cascade",
    "confidence": True,
    "temperature": 1.0,
    "threshold": 0.0,
    "label_thresholds": {},
    "constrained": False,
    "overlapping": False,
    "set_ents": False,
    "n_best": 1,
    "scorer": {"@scorers": "spacy_cascade.segments_scorer.v1"},
}

CLASSIFIER_DEFAULTS: dict[str, Any] = {
    "model": {
        "@architectures": "spacy_cascade.SpanClassifier.v1",
        "templates": {"@misc": "spacy_cascade.ClassificationTemplates.v1"},
        "min_count": 5,
    },
    "objective": {"@misc": "spacy_cascade.SoftmaxMargin.v1", "kappa": 6.0, "sigma": 0.6325},
    "trainer": {"@misc": "spacy_cascade.LBFGS.v1"},
    "spans_key": "cascade",
    "mention_labels": None,
    "gold_key": None,
    "reject": False,
    "confidence": True,
    "temperature": 1.0,
    "threshold": 0.0,
    "label_thresholds": {},
    "set_ents": True,
    "scorer": {"@scorers": "spacy_cascade.types_scorer.v1"},
}

RERANKER_DEFAULTS: dict[str, Any] = {
    "model": {
        "@architectures": "spacy_cascade.SpanClassifier.v1",
        "templates": {"@misc": "spacy_cascade.RerankingTemplates.v1"},
        "min_count": 4,
    },
    "spans_key": "cascade",
    "weight": 1.0,
    "scale": 1.0,
    "rate": 0.1,
    "keep_candidates": False,
    "set_ents": True,
}


TAGGER_DEFAULTS: dict[str, Any] = {
    "model": {
        "@architectures": "spacy_cascade.LinearChain.v1",
        "templates": {"@misc": "spacy_cascade.TaggingTemplates.v1"},
        "min_count": 2,
        "label_pairs": False,
    },
    "objective": {"@misc": "spacy_cascade.Hinge.v1"},
    "trainer": {
        "@misc": "spacy_cascade.PassiveAggressive.v1",
        "C": 0.01,
        "average_power": 1,
        "passes": 3,
    },
    "overwrite": True,
    "scorer": {"@scorers": "spacy_cascade.tags_scorer.v1"},
}


@Language.factory(
    "cascade_segmenter",
    assigns=["doc.spans", "span._.confidence"],
    default_config=SEGMENTER_DEFAULTS,
    default_score_weights={"segments_f": 1.0, "segments_p": 0.0, "segments_r": 0.0},
)
def make_segmenter(
    nlp: Language,
    name: str,
    model: Model[Units, Floats2d],
    objective: Costs,
    trainer: Trainer,
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
    scorer: Callable[..., dict[str, Any]] | None,
) -> CascadeSegmenter:
    """The factory `cascade_segmenter`.

    model: a linear chain. objective: what training minimises. trainer: how.
    scheme: `BILOU` or `IOB2`. typed: keep the gold labels (single-phase recogniser)
    instead of collapsing them. gold_key: `doc.spans` key of the gold spans; None for
    `doc.ents`. spans_key: `doc.spans` key for the spans found. confidence: give each span
    its posterior probability. temperature: what scores are divided by for that (see
    `calibration`). threshold, label_thresholds: spans of less confidence are dropped.
    constrained: find the best spans beside the entities and blocked tokens that are on the Doc
    already. overlapping: list all spans that reach the threshold, not those of the best
    segmentation. set_ents: write `doc.ents` too. n_best: above 1, also write the so many best
    segmentations of each sentence (at most 100). scorer: the scorer.
    """
    return CascadeSegmenter(
        nlp, model, name, objective=objective, trainer=trainer, scheme=scheme, typed=typed,
        gold_key=gold_key, spans_key=spans_key, confidence=confidence, temperature=temperature,
        threshold=threshold, label_thresholds=label_thresholds, constrained=constrained,
        overlapping=overlapping, set_ents=set_ents, n_best=n_best, scorer=scorer,
    )  # fmt: skip


@Language.factory(
    "cascade_classifier",
    requires=["doc.spans"],
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "span._.confidence"],
    default_config=CLASSIFIER_DEFAULTS,
    default_score_weights={
        "ents_f": 1.0,
        "ents_p": 0.0,
        "ents_r": 0.0,
        "ents_per_type": None,
        "types_acc": 0.0,
    },
)
def make_classifier(
    nlp: Language,
    name: str,
    model: Model[Units, Floats2d],
    objective: Costs,
    trainer: Trainer,
    spans_key: str | None,
    mention_labels: list[str] | None,
    gold_key: str | None,
    reject: bool,
    confidence: bool,
    temperature: float,
    threshold: float,
    label_thresholds: dict[str, float],
    set_ents: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> CascadeClassifier:
    """The factory `cascade_classifier`.

    model: a span classifier. objective: what training minimises. trainer: how.
    spans_key: `doc.spans` key of the spans to type; None for `doc.ents`.
    mention_labels: type only spans that have one of these labels; None for all.
    gold_key: `doc.spans` key of the gold spans; None for `doc.ents`. reject: learn a class
    for wrong proposals (needs the segmenter in `annotating_components`). confidence: give
    each span the probability of its type. temperature: what scores are divided by for that (see
    `calibration`). threshold, label_thresholds: spans of less confidence do not become entities.
    set_ents: write `doc.ents`. scorer: the scorer.
    """
    return CascadeClassifier(
        nlp, model, name, objective=objective, trainer=trainer, spans_key=spans_key,
        mention_labels=mention_labels, gold_key=gold_key, reject=reject, confidence=confidence,
        temperature=temperature, threshold=threshold,
        label_thresholds=label_thresholds, set_ents=set_ents, scorer=scorer,
    )  # fmt: skip


@Language.factory(
    "cascade_reranker",
    requires=["doc.spans"],
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "span._.confidence"],
    default_config=RERANKER_DEFAULTS,
)
def make_reranker(
    nlp: Language,
    name: str,
    model: Model[Units, Floats2d],
    spans_key: str,
    weight: float,
    scale: float,
    rate: float,
    keep_candidates: bool,
    set_ents: bool,
) -> CascadeReranker:
    """The factory `cascade_reranker`.

    model: a span classifier, for the features that training gives weights to. spans_key: that
    of the two components before it. weight: of the type scores, beside the score of the
    segmentation. scale: of both, beside what training adds. rate: of learning.
    keep_candidates: leave the N-best list on the Doc. set_ents: write `doc.ents`.
    """
    return CascadeReranker(
        nlp, model, name, spans_key=spans_key, weight=weight, scale=scale, rate=rate,
        keep_candidates=keep_candidates, set_ents=set_ents,
    )  # fmt: skip


@Language.factory(
    "cascade_tagger",
    assigns=["token.tag"],
    default_config=TAGGER_DEFAULTS,
    default_score_weights={"tag_acc": 1.0},
)
def make_tagger(
    nlp: Language,
    name: str,
    model: Model[Units, Floats2d],
    objective: Costs,
    trainer: Trainer,
    overwrite: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> CascadeTagger:
    """The factory `cascade_tagger`.

    model: a linear chain. objective: what training minimises. trainer: how. overwrite: replace
    tags that are there already. scorer: the scorer.
    """
    return CascadeTagger(
        nlp, model, name, objective=objective, trainer=trainer, overwrite=overwrite, scorer=scorer
    )
