"""The systems under four sets of dictionaries, as settings of a `cascade_segmenter`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...lib.corpora import read_docs
from ...lib.package import SEGMENTER, component, size
from ...lib.timing import Stopwatch
from ...reports.segmentation_report import (
    BOTH,
    CRF_1,
    CRF_4,
    EXTERNAL,
    INTERNAL,
    ORDERS,
    SEMI_CRF,
    of_order,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example

Settings = dict[str, Any]

CHAINS = {
    of_order(system, order): (scheme, order)
    for system, scheme in ((CRF_1, "IO"), (CRF_4, "BILOU"))
    for order in ORDERS
}
"""Tags and order of each chain."""
MEASURES = ("jaccard", "tfidf", "jaro_winkler")
LIST = "external"
"""Name of the external dictionary."""

TOKENS = ["bias", "word@-3..3", "brief_class@-3..3"]
"""Words and their patterns at a token and up to three tokens away."""
SEGMENTS = [
    "brief_class@all", "brief_class@first-1 & brief_class@last+1",
    "brief_class@first-1 & brief_class@all & brief_class@last+1",
]  # fmt: skip
"""What a segment adds to its tokens: its pattern, and those on both sides. Indicators of lengths
belong to the model, and words with the ends of a segment are features of tokens with their tags.

The paper also has the phrase itself. It is the internal dictionary here that stands for it: a
phrase that is a feature is always an entity in the training documents (docs/chains.md).
"""
MOST_ITERATIONS = 100


def segmenter(system: str, dictionaries: str, terms: str, sigma: float) -> Settings:
    """Settings of the component. terms: file of the external dictionary. sigma: of the prior.

    Segments have all features of tokens, those of dictionaries too, and their own.
    """
    has_internal, has_external = (dictionaries in (its, BOTH) for its in (INTERNAL, EXTERNAL))
    of_tokens, of_segments = [], []
    if has_internal:
        of_tokens += [f"similar_word({measure})" for measure in MEASURES]
        of_segments += [f"similarity(training, {measure})" for measure in MEASURES]
    if has_external:
        external = [f"similarity({LIST}, {measure})" for measure in MEASURES]
        of_tokens += external
        of_segments += external
    lexicons = {LIST: terms} if has_external else {}
    scheme, order = CHAINS.get(system, ("BILOU", 1))
    model: Settings = {
        "@architectures": "spacy_cascade.LinearChain.v1",
        "min_count": 1,
        "templates": _templates([*TOKENS, *of_tokens], lexicons),
    }
    if order == 1:
        model["label_pairs"] = False
    else:
        model["@architectures"] = "spacy_cascade.HigherOrderChain.v1"
        model["order"] = model["tags_seen"] = order
    if system == SEMI_CRF:
        model["@architectures"] = "spacy_cascade.SemiMarkov.v1"
        model["segment_min_count"] = 1
        model["segments"] = _templates([*SEGMENTS, *of_segments], lexicons)
    return {
        "scheme": scheme,
        "confidence": False,
        "model": model,
        "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": sigma},
        "trainer": {
            "@misc": "spacy_cascade.LBFGS.v1", "iterations": MOST_ITERATIONS, "threads": 1,
            "tolerance": 1e-3,
        },
    }  # fmt: skip


def _templates(templates: list[str], lexicons: dict[str, str]) -> Settings:
    return {
        "@misc": "spacy_cascade.Templates.v1", "templates": templates, "patterns": {},
        "lexicons": lexicons,
    }  # fmt: skip


@dataclass(frozen=True)
class Task:
    """Entities of one label in a corpus of the suite. terms: file of the external dictionary."""

    name: str
    corpus: str
    label: str
    terms: str
    in_figure: bool = False


TASKS = (
    Task("person", "conll2003", "PER", "first_names.txt", in_figure=True),
    Task("location", "conll2003", "LOC", "places.txt"),
    Task("gene", "bionlp13cg", "Gene_or_gene_product", "genes.txt", in_figure=True),
    Task("cell type", "jnlpba", "cell_type", "cells.txt", in_figure=True),
    Task("anatomy", "anatem", "Anatomy", "cells.txt"),
)
"""`in_figure`: those of the learning curves; the paper draws three, too."""


def score_draws(
    train: str, dev: str, settings: dict[str, Any], share: float, draws: Sequence[int], lang: str
) -> dict[str, Any]:
    """F1 of spans on dev in percent for each draw, with the seconds and features of its training.

    settings: of the component (`systems.segmenter`). share: of the documents, the first ones after
    they have been shuffled by the number of the draw.
    """
    import spacy

    found: dict[str, Any] = {"f1": [], "seconds": [], "features": []}
    for draw in draws:
        nlp = spacy.blank(lang)
        nlp.add_pipe(SEGMENTER, config=settings)
        docs = read_docs(train, nlp.vocab)
        random.Random(draw).shuffle(docs)
        watch = Stopwatch()
        with watch:
            _train(nlp, _examples(docs[: max(1, round(share * len(docs)))]))
        scores = nlp.evaluate(_examples(read_docs(dev, nlp.vocab)))
        found["f1"].append(100 * scores["segments_f"])
        found["seconds"].append(watch.passed)
        found["features"].append(size(nlp, SEGMENTER)["features"])
    return found


def _train(nlp: Language, examples: Sequence[Example]) -> None:
    """To the optimum, or as many iterations as the trainer makes in one update."""
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    component(nlp, SEGMENTER).sync_weights()


def _examples(docs: Sequence[Doc]) -> list[Example]:
    """Tokens and sentences are given."""
    from spacy.training import Example

    from spacy_cascade.pipeline.readers import SENTENCES, input_doc

    return [Example(input_doc(doc, (SENTENCES,), doc.vocab), doc) for doc in docs]
