"""Trainings that may go wrong: corpora and settings, and the errors that they should give."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import broken_corpora as corpora
from broken_corpora import Corpus

NAN, INF = math.nan, math.inf
SEGMENTER, CLASSIFIER = "components.cascade_segmenter", "components.cascade_classifier"


@dataclass(frozen=True)
class Case:
    """A training that may go wrong.

    error: what the message says, all of it in this order; without it a model comes of the training.
    """

    name: str
    corpus: Corpus = corpora.common
    config: str = "memb"
    settings: Mapping[str, Any] = field(default_factory=dict)
    dev: Corpus = corpora.common
    error: Sequence[str] = ()


def of(prefix: str, **settings: Any) -> dict[str, Any]:
    """Settings of a section; `__` stands for the dot of a deeper one."""
    return {f"{prefix}.{name.replace('__', '.')}": value for name, value in settings.items()}


def both(**settings: Any) -> dict[str, Any]:
    """Settings of segmenter and classifier."""
    return {**of(SEGMENTER, **settings), **of(CLASSIFIER, **settings)}


GROUP = both(gold_key="gold")
REJECT = of(CLASSIFIER, reject=True)
TYPES = "components.cascade_types"
TAGGER = "components.cascade_tagger"

NO_LABEL = ("found no labelled gold span", "[corpora.train]")
DIVERGED = ("Training of 'cascade_", "has diverged", "[loss]", "[penalty]", "[trainer]")

CASES = [
    Case("no entity, cascade", corpora.no_entity, error=NO_LABEL),
    Case("no entity, online", corpora.no_entity, "ocr", error=NO_LABEL),
    Case("no entity, one phase", corpora.no_entity, "crf", error=NO_LABEL),
    Case("no entity, joint", corpora.no_entity, "icrf", error=NO_LABEL),
    Case("no entity, chunks", corpora.no_entity, "conll2000", error=NO_LABEL),
    Case("no entity, rejecting", corpora.no_entity, settings=REJECT, error=NO_LABEL),
    Case("no entity, tagger", corpora.no_entity, "tagger"),
    Case("one label, cascade", corpora.one_label),
    Case("one label, online", corpora.one_label, "ocr"),
    Case("one label, one phase online", corpora.one_label, "crf_online"),
    Case("one label, joint", corpora.one_label, "icrf"),
    Case("one label, rejecting", corpora.one_label, settings=REJECT),
    Case("one sentence", corpora.one_sentence),
    Case("one sentence, online", corpora.one_sentence, "ocr"),
    Case("one sentence, joint", corpora.one_sentence, "icrf"),
    Case("only entities", corpora.only_entities),
    Case("only entities, online", corpora.only_entities, "ocr"),
    Case("only entities, one phase", corpora.only_entities, "crf"),
    Case("each Doc an entity", corpora.whole_docs),
    Case("each Doc an entity, online", corpora.whole_docs, "ocr"),
    Case("duplicates", corpora.duplicates),
    Case("duplicates, online", corpora.duplicates, "ocr"),
    Case("contradictions", corpora.contradictions),
    Case("contradictions, online", corpora.contradictions, "ocr"),
    Case("contradictions, joint", corpora.contradictions, "icrf"),
    Case("nothing annotated", corpora.no_annotation, error=NO_LABEL),
    Case("all missing, cascade", corpora.all_missing, error=NO_LABEL),
    Case("all missing, online", corpora.all_missing, "ocr", error=NO_LABEL),
    Case("all missing, one phase", corpora.all_missing, "crf", error=NO_LABEL),
    Case("all missing, joint", corpora.all_missing, "icrf", error=NO_LABEL),
    Case("one entity, the rest missing", corpora.mostly_missing),
    Case("one entity, the rest missing, online", corpora.mostly_missing, "ocr"),
    Case(
        "one entity, the rest missing, joint",
        corpora.mostly_missing,
        "icrf",
        error=("Joint training needs every token annotated", "Leave their Docs out"),
    ),
    Case("entities across sentences", corpora.across_sentences),
    Case(
        "no chunks",
        corpora.across_sentences,
        "conll2003",
        error=("'cascade_chunker'", NO_LABEL[0], "Set gold_key = null"),
    ),
    Case("entities across sentences, chunks", corpora.across_sentences, "conll2000"),
    Case(
        "no Docs", corpora.no_docs, error=("'cascade_segmenter' got no examples", "[corpora.train]")
    ),
    Case(
        "no Docs, online",
        corpora.no_docs,
        "ocr",
        error=("'cascade_segmenter' got no examples", "[corpora.train]"),
    ),
    Case(
        "no Docs, tagger",
        corpora.no_docs,
        "tagger",
        error=("'cascade_tagger' got no examples", "[corpora.train]"),
    ),
    Case(
        "empty Docs",
        corpora.empty_docs,
        error=("'cascade_segmenter' got no examples", "[corpora.train]"),
    ),
    Case(
        "empty Docs, tagger",
        corpora.empty_docs,
        "tagger",
        error=("'cascade_tagger' got no examples", "[corpora.train]"),
    ),
    Case("empty Docs among others", corpora.some_empty_docs),
    Case("empty Docs among others, online", corpora.some_empty_docs, "ocr"),
    Case("single tokens", corpora.single_tokens),
    Case("single tokens, online", corpora.single_tokens, "ocr"),
    Case("single tokens, joint", corpora.single_tokens, "icrf"),
    Case("a token of 10,000 characters", corpora.long_token),
    Case("a Doc of 20,000 tokens", corpora.long_doc),
    Case("a Doc of 20,000 tokens, online", corpora.long_doc, "ocr"),
    Case("500 labels", corpora.many_labels),
    Case("500 labels, online", corpora.many_labels, "ocr"),
    Case(
        "500 labels, one phase",
        corpora.many_labels,
        "crf",
        error=("not enough memory for 'cascade_segmenter'", "500 labels", "label_pairs = false"),
    ),
    Case("odd labels", corpora.odd_labels),
    Case("odd labels, one phase", corpora.odd_labels, "crf"),
    Case("an empty label", corpora.empty_label, settings=GROUP, error=NO_LABEL),
    Case("whitespace in entities", corpora.whitespace_in_entities),
    Case("nothing but whitespace", corpora.only_whitespace, error=NO_LABEL),
    Case("gold in a group", corpora.in_group, settings=GROUP),
    Case(
        "overlapping gold",
        corpora.overlapping,
        settings=GROUP,
        error=("doc.spans['gold'] overlap", "filter_spans"),
    ),
    Case(
        "gold under another key",
        corpora.in_group,
        settings=both(gold_key="glod"),
        error=(NO_LABEL[0], "doc.spans['glod']", 'Set gold_key = "gold"'),
    ),
    Case(
        "gold not in entities",
        corpora.in_group,
        error=("'cascade_segmenter' found no labelled gold span", 'Set gold_key = "gold"'),
    ),
    Case(
        "no tags, tagger",
        corpora.no_tags,
        "tagger",
        error=("'cascade_tagger' found no tagged token", "[corpora.train]"),
    ),
    Case(
        "no tags, templates with tags",
        corpora.no_tags,
        "conll2000",
        error=("'cascade_segmenter' look at token.tag", "cascade_tagger"),
    ),
    Case("one tag", corpora.one_tag, "tagger"),
    Case("few tags", corpora.some_tags, "tagger"),
    Case("no dev Docs", dev=corpora.no_docs),
    Case("no dev Docs, online", config="ocr", dev=corpora.no_docs),
    Case("empty dev Docs", dev=corpora.empty_docs),
    Case("dev without entities", dev=corpora.no_entity),
    Case("dev without entities, joint", config="icrf", dev=corpora.no_entity),
    Case("dev without annotation", dev=corpora.no_annotation),
    Case(
        "dev with overlapping gold",
        corpora.in_group,
        settings=GROUP,
        dev=corpora.overlapping,
        error=("doc.spans['gold'] overlap", "filter_spans"),
    ),
    Case("sigma nan", settings=of(SEGMENTER, penalty__sigma=NAN), error=("E961", "'sigma': nan")),
    Case("sigma inf", settings=of(SEGMENTER, penalty__sigma=INF), error=("E961", "'sigma': inf")),
    Case(
        "sigma 0",
        settings=of(SEGMENTER, penalty__sigma=0.0),
        error=("sigma must be a finite number above 0", "not 0.0", "[penalty]"),
    ),
    Case(
        "sigma below 0",
        settings=of(CLASSIFIER, penalty__sigma=-1.0),
        error=("sigma must be a finite number above 0", "not -1.0", "[penalty]"),
    ),
    Case(
        "sigma of no number",
        settings=of(SEGMENTER, penalty__sigma="wide"),
        error=("cascade_segmenter.penalty -> sigma", "'wide'"),
    ),
    Case(
        "sigma tiny",
        settings=both(penalty__sigma=1e-300),
        error=("sigma must be a finite number above 0", "not 1e-300"),
    ),
    Case("sigma small", settings=both(penalty__sigma=1e-100)),
    Case(
        "sigma huge",
        settings=both(penalty__sigma=1e300),
        error=("sigma must be a finite number above 0", "not 1e+300"),
    ),
    Case("sigma large", settings=both(penalty__sigma=1e100)),
    Case("sigma huge, contradictions", corpora.contradictions, settings=both(penalty__sigma=1e9)),
    Case("sigma huge, one phase", config="crf", settings=of(SEGMENTER, penalty__sigma=1e9)),
    Case("sigma huge, joint", config="icrf", settings=of(TYPES, penalty__sigma=1e9)),
    Case("kappa nan", settings=of(SEGMENTER, loss__kappa=NAN), error=("E961", "'kappa': nan")),
    Case("kappa inf", settings=of(SEGMENTER, loss__kappa=INF), error=("E961", "'kappa': inf")),
    Case("kappa huge", settings=both(loss__kappa=1e300)),
    Case("kappa large", settings=both(loss__kappa=1e6)),
    Case(
        "kappa huge, online",
        config="ocr",
        settings=both(loss__kappa=1e300),
        error=("kappa must be a finite number above 0", "not 1e+300"),
    ),
    Case("kappa large, online", config="ocr", settings=both(loss__kappa=1e6)),
    Case(
        "false_negative_weight 0",
        settings=of(SEGMENTER, loss__false_negative_weight=0.0),
        error=("false_negative_weight must be a finite number above 0", "[loss]"),
    ),
    Case(
        "false_negative_weight huge, online",
        config="ocr",
        settings=of(SEGMENTER, loss__false_negative_weight=1e100),
    ),
    Case("C nan", config="ocr", settings=of(SEGMENTER, trainer__C=NAN), error=("E961", "'C': nan")),
    Case(
        "C 0",
        config="ocr",
        settings=of(SEGMENTER, trainer__C=0.0),
        error=("finite C > 0", "C=0.0", "[trainer]"),
    ),
    Case("C huge", config="ocr", settings=both(trainer__C=1e300)),
    Case(
        "C and kappa huge",
        config="ocr",
        settings={**both(trainer__C=1e300), **both(loss__kappa=1e100)},
        error=DIVERGED,
    ),
    Case("C huge, contradictions", corpora.contradictions, "ocr", both(trainer__C=1e12)),
    Case("C huge, joint", config="icrf", settings=of(TYPES, trainer__C=1e300)),
    Case("C large, joint", config="icrf", settings=of(TYPES, trainer__C=1e6)),
    Case(
        "C nan, joint",
        config="icrf",
        settings=of(TYPES, trainer__C=NAN),
        error=("E961", "'C': nan"),
    ),
    Case(
        "iterations 0",
        settings=of(SEGMENTER, trainer__iterations=0),
        error=("iterations >= 1", "iterations=0", "[trainer]"),
    ),
    Case(
        "history 0",
        settings=of(SEGMENTER, trainer__history=0),
        error=("history >= 1", "history=0", "[trainer]"),
    ),
    Case(
        "tolerance nan",
        settings=of(SEGMENTER, trainer__tolerance=NAN),
        error=("E961", "'tolerance': nan"),
    ),
    Case(
        "tolerance inf",
        settings=of(SEGMENTER, trainer__tolerance=INF),
        error=("E961", "'tolerance': inf"),
    ),
    Case("tolerance 0", settings=both(trainer__tolerance=0.0)),
    Case(
        "passes 0",
        config="ocr",
        settings=of(SEGMENTER, trainer__passes=0),
        error=("passes >= 1", "passes=0", "[trainer]"),
    ),
    Case(
        "average_power huge",
        config="ocr",
        settings=both(trainer__average_power=1000),
        error=DIVERGED,
    ),
    Case(
        "first not there",
        config="icrf",
        settings=of(TYPES, trainer__first="x"),
        error=("'cascade_types' is trained jointly with 'x'", "'first'"),
    ),
    Case(
        "min_count 0",
        settings=of(SEGMENTER, model__min_count=0),
        error=("min_count must be 1 or more", "[model]"),
    ),
    Case("min_count above everything", settings=both(model__min_count=10**9)),
    Case("min_count above all, online", config="ocr", settings=both(model__min_count=10**9)),
    Case(
        "min_count above everything, joint",
        config="icrf",
        settings={**of(SEGMENTER, model__min_count=10**9), **of(TYPES, model__min_count=10**9)},
    ),
    Case(
        "temperature nan",
        settings=of(SEGMENTER, temperature=NAN),
        error=("E961", "'temperature': nan"),
    ),
    Case(
        "temperature 0",
        settings=of(CLASSIFIER, temperature=0.0),
        error=("temperature of 'cascade_classifier'", "above 0"),
    ),
    Case("temperature tiny", settings=both(temperature=1e-300)),
    Case(
        "threshold above 1",
        settings=of(SEGMENTER, threshold=1.5),
        error=("threshold of 'cascade_segmenter'", "less than or equal to 1", "1.5"),
    ),
    Case(
        "threshold nan", settings=of(CLASSIFIER, threshold=NAN), error=("E961", "'threshold': nan")
    ),
    Case(
        "threshold of a label",
        settings=of(CLASSIFIER, label_thresholds={"DNA": -1}),
        error=(
            "label_thresholds['DNA'] of 'cascade_classifier'",
            "greater than or equal to 0",
            "-1",
        ),
    ),
    Case("max_steps 1", settings={"training.max_steps": 1}),
    Case("accumulate_gradient 2", settings={"training.accumulate_gradient": 2}),
    Case(
        "accumulate_gradient 2, online", config="ocr", settings={"training.accumulate_gradient": 2}
    ),
    Case(
        "batches of 1",
        settings={
            "training.batcher": {
                "@batchers": "spacy.batch_by_sequence.v1",
                "size": 1,
                "get_length": None,
            }
        },
    ),
    Case(
        "batches of 1, online",
        config="ocr",
        settings={
            "training.batcher": {
                "@batchers": "spacy.batch_by_sequence.v1",
                "size": 1,
                "get_length": None,
            }
        },
    ),
]
