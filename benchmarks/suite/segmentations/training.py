"""Training on draws of a share of the documents, in a process of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...lib.corpora import read_docs
from ...lib.package import SEGMENTER, component, size
from ...lib.timing import Stopwatch

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example


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
