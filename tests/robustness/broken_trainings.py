"""Trainings that may go wrong: corpora and settings, and the errors that they should give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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


def each(
    corpus: Corpus, *configs: str, error: Sequence[str] = (), **settings: Any
) -> Iterator[Case]:
    """A corpus by several configs, which all come to the same. settings: of both stages."""
    for config in configs:
        name = f"{corpus.__name__.replace('_', ' ')}, {config}, {', '.join(settings)}".rstrip(", ")
        yield Case(name, corpus, config, both(**settings), error=error)


def one(
    where: str, option: str, value: object, *error: str, config: str = "memb", name: str = ""
) -> Case:
    """An option of one component with some value, which is an error or not."""
    label = name or f"{option.rpartition('__')[2]} {value}, {config}"
    return Case(label, corpora.common, config, of(where, **{option: value}), error=error)


def not_finite(option: str, config: str = "memb", where: str = SEGMENTER) -> Iterator[Case]:
    """Numbers that JSON cannot hold, which spaCy refuses."""
    last = option.rpartition("__")[2]
    for value in (NAN, INF):
        yield one(where, option, value, "E961", f"'{last}': {value}", config=config)


def dev(corpus: Corpus, *configs: str) -> Iterator[Case]:
    """Odd Docs to evaluate on."""
    for config in configs:
        yield Case(f"dev: {corpus.__name__.replace('_', ' ')}, {config}", config=config, dev=corpus)


TYPES = "components.cascade_types"
NO_LABEL = ("found no labelled gold span", "[corpora.train]")
NOTHING_KNOWN = (NO_LABEL[0], "nothing in doc.ents is annotated", "doc.set_ents([])")
NO_EXAMPLES = ("' got no examples", "[corpora.train]")
DIVERGED = ("Training of 'cascade_", "has diverged", "[loss]", "[penalty]", "[trainer]")
ABOVE_0 = "must be a finite number above 0"
SINGLES = {"@batchers": "spacy.batch_by_sequence.v1", "size": 1, "get_length": None}
OVERLAP = ("doc.spans['gold'] overlap", "filter_spans")

CASES = [
    *each(corpora.no_entity, "memb", "ocr", "crf", "icrf", "conll2000", error=NO_LABEL),
    Case("no entity, rejecting", corpora.no_entity, "memb", of(CLASSIFIER, reject=True),
         error=NO_LABEL),
    *each(corpora.no_entity, "tagger"),
    *each(corpora.one_label, "memb", "ocr", "crf_online", "icrf"),
    Case("one label, rejecting", corpora.one_label, "memb", of(CLASSIFIER, reject=True)),
    *each(corpora.one_sentence, "memb", "ocr", "icrf"),
    *each(corpora.only_entities, "memb", "ocr", "crf"),
    *each(corpora.whole_docs, "memb", "ocr"),
    *each(corpora.duplicates, "memb", "ocr"),
    *each(corpora.contradictions, "memb", "ocr", "icrf"),
    *each(corpora.no_annotation, "memb", error=NOTHING_KNOWN),
    *each(corpora.all_missing, "memb", "ocr", "crf", "icrf", error=NOTHING_KNOWN),
    *each(corpora.mostly_missing, "memb", "ocr"),
    *each(corpora.mostly_missing, "icrf",
          error=("Joint training needs every token annotated", "Leave their Docs out")),
    *each(corpora.across_sentences, "memb"),
    Case("across sentences, conll2000", corpora.across_sentences, "conll2000",
         dev=corpora.across_sentences),
    *each(corpora.across_sentences, "conll2003",
          error=("'cascade_chunker'", NO_LABEL[0], "Set gold_key = null")),
    *each(corpora.no_docs, "memb", "ocr", "tagger", error=NO_EXAMPLES),
    *each(corpora.empty_docs, "memb", "tagger", error=NO_EXAMPLES),
    *each(corpora.some_empty_docs, "memb", "ocr"),
    *each(corpora.single_tokens, "memb", "ocr", "icrf"),
    *each(corpora.long_token, "memb"),
    *each(corpora.long_doc, "memb", "ocr"),
    *each(corpora.many_labels, "memb", "ocr"),
    *each(corpora.many_labels, "crf", error=("not enough memory for 'cascade_segmenter'",
                                             "500 labels", "label_pairs = false")),
    *each(corpora.odd_labels, "memb", "crf"),
    *each(corpora.empty_label, "memb", gold_key="gold", error=NO_LABEL),
    *each(corpora.whitespace_in_entities, "memb"),
    *each(corpora.only_whitespace, "memb", error=NOTHING_KNOWN),
    *each(corpora.in_group, "memb", gold_key="gold"),
    *each(corpora.overlapping, "memb", gold_key="gold", error=OVERLAP),
    Case("gold under another key", corpora.in_group, settings=both(gold_key="glod"),
         error=(NO_LABEL[0], "doc.spans['glod']", 'Set gold_key = "gold"')),
    *each(corpora.in_group, "memb", error=("'cascade_segmenter' found no labelled gold span",
                                           'Set gold_key = "gold"')),
    *each(corpora.no_tags, "tagger",
          error=("'cascade_tagger' found no tagged token", "[corpora.train]")),
    *each(corpora.no_tags, "conll2000",
          error=("'cascade_segmenter' look at token.tag", "cascade_tagger")),
    *each(corpora.one_tag, "tagger"),
    *each(corpora.some_tags, "tagger"),
    *dev(corpora.no_docs, "memb", "ocr"),
    *dev(corpora.empty_docs, "memb"),
    *dev(corpora.no_entity, "memb", "icrf"),
    *dev(corpora.no_annotation, "memb"),
    Case("dev with overlapping gold", corpora.in_group, settings=both(gold_key="gold"),
         dev=corpora.overlapping),
    *not_finite("penalty__sigma"),
    *not_finite("loss__kappa"),
    *not_finite("trainer__tolerance"),
    *not_finite("trainer__C", "ocr"),
    *not_finite("trainer__C", "icrf", TYPES),
    *not_finite("temperature"),
    *not_finite("threshold", where=CLASSIFIER),
    one(SEGMENTER, "penalty__sigma", 0.0, f"sigma {ABOVE_0}", "not 0.0", "[penalty]"),
    one(CLASSIFIER, "penalty__sigma", -1.0, f"sigma {ABOVE_0}", "not -1.0", "[penalty]"),
    one(SEGMENTER, "penalty__sigma", "wide", "cascade_segmenter.penalty -> sigma", "'wide'"),
    one(SEGMENTER, "penalty__sigma", 1e-300, f"sigma {ABOVE_0}", "not 1e-300"),
    one(SEGMENTER, "penalty__sigma", 1e300, f"sigma {ABOVE_0}", "not 1e+300"),
    Case("sigma small", settings=both(penalty__sigma=1e-100)),
    Case("sigma large", settings=both(penalty__sigma=1e100)),
    Case("sigma huge, contradictions", corpora.contradictions, settings=both(penalty__sigma=1e9)),
    one(SEGMENTER, "penalty__sigma", 1e9, config="crf"),
    one(TYPES, "penalty__sigma", 1e9, config="icrf"),
    Case("kappa huge", settings=both(loss__kappa=1e300)),
    Case("kappa large", settings=both(loss__kappa=1e6)),
    Case("kappa huge, online", config="ocr", settings=both(loss__kappa=1e300),
         error=(f"kappa {ABOVE_0}", "not 1e+300")),
    Case("kappa large, online", config="ocr", settings=both(loss__kappa=1e6)),
    one(SEGMENTER, "loss__false_negative_weight", 0.0, f"false_negative_weight {ABOVE_0}",
        "[loss]"),
    one(SEGMENTER, "loss__false_negative_weight", 1e100, config="ocr"),
    one(SEGMENTER, "trainer__C", 0.0, "finite C > 0", "C=0.0", "[trainer]", config="ocr"),
    Case("C huge", config="ocr", settings=both(trainer__C=1e300)),
    Case("C and kappa huge", config="ocr", error=DIVERGED,
         settings={**both(trainer__C=1e300), **both(loss__kappa=1e100)}),
    Case("C huge, contradictions", corpora.contradictions, "ocr", both(trainer__C=1e12)),
    one(TYPES, "trainer__C", 1e300, config="icrf"),
    one(TYPES, "trainer__C", 1e6, config="icrf"),
    one(SEGMENTER, "trainer__iterations", 0, "iterations >= 1", "iterations=0", "[trainer]"),
    one(SEGMENTER, "trainer__history", 0, "history >= 1", "history=0", "[trainer]"),
    Case("tolerance 0", settings=both(trainer__tolerance=0.0)),
    one(SEGMENTER, "trainer__passes", 0, "passes >= 1", "passes=0", "[trainer]", config="ocr"),
    Case("average_power huge", config="ocr", settings=both(trainer__average_power=1000),
         error=DIVERGED),
    one(TYPES, "trainer__first", "x", "'cascade_types' is trained jointly with 'x'", "'first'",
        config="icrf"),
    one(SEGMENTER, "model__min_count", 0, "min_count must be 1 or more", "[model]"),
    Case("min_count above everything", settings=both(model__min_count=10**9)),
    Case("min_count above all, online", config="ocr", settings=both(model__min_count=10**9)),
    Case("min_count above everything, joint", config="icrf",
         settings={**of(SEGMENTER, model__min_count=10**9), **of(TYPES, model__min_count=10**9)}),
    one(CLASSIFIER, "temperature", 0.0, "temperature of 'cascade_classifier'",
        "greater than 0"),
    Case("temperature tiny", settings=both(temperature=1e-300)),
    one(SEGMENTER, "threshold", 1.5, "threshold of 'cascade_segmenter'", "less than or equal to 1",
        "1.5"),
    one(CLASSIFIER, "label_thresholds", {"DNA": -1},
        "label_thresholds['DNA'] of 'cascade_classifier'", "greater than or equal to 0", "-1"),
    Case("max_steps 1", settings={"training.max_steps": 1}),
    *(Case(f"accumulate_gradient 2, {config}", config=config,
           settings={"training.accumulate_gradient": 2}) for config in ("memb", "ocr")),
    *(Case(f"batches of 1, {config}", config=config, settings={"training.batcher": SINGLES})
      for config in ("memb", "ocr")),
]  # fmt: skip
