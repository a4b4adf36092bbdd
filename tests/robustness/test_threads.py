"""Many threads on one pipeline: they find what one thread finds, whatever grows meanwhile."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from new_words import texts_of_new_words
from spacy.language import Language
from spacy.training import Example

from helpers import (
    SMALL,
    add_classifier,
    add_segmenter,
    annotation,
    blank,
    bounds,
    run_python,
    sample_examples,
    train,
)
from spacy_cascade import explain_spans, explain_tags, explain_types, joint_hypotheses
from spacy_cascade.tools.reports.reading import entity_probabilities

pytestmark = pytest.mark.slow(kind="threads")

N_THREADS = 16
NEW_WORDS = 5
MAXIMUM_LEXEMES = 1000
"""So few words are kept here that tables begin anew all the time."""
LARGEST_BATCH = 40


@pytest.fixture(scope="module")
def trained() -> Language:
    """Every component of the package: a tagger, a typed segmenter, and a reranked cascade."""
    nlp = blank()
    nlp.add_pipe("cascade_tagger", config={"model": SMALL["model"]})
    typed = {**SMALL, "typed": True, "spans_key": "typed", "set_ents": False}
    nlp.add_pipe("cascade_segmenter", name="typed", config=typed)
    add_segmenter(nlp, n_best=4)
    add_classifier(nlp, reject=True)
    examples = sample_examples(nlp, n_docs=20)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.text[-1]
    train(nlp, examples, updates=2)
    annotated = [Example(nlp(e.predicted.copy()), e.reference) for e in examples]
    reranker = nlp.add_pipe("cascade_reranker")
    reranker.initialize(lambda: annotated)
    reranker.update(annotated)
    return nlp


@pytest.fixture
def small_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads give way all the time, and tables of words begin anew."""
    maximum = "spacy_cascade.pipeline.base._MAXIMUM_LEXEMES"
    monkeypatch.setattr(maximum, MAXIMUM_LEXEMES)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def copy_of(nlp: Language) -> Language:
    return blank().from_config(nlp.config).from_bytes(nlp.to_bytes())


def found(doc: Any) -> dict[str, Any]:
    return {**annotation(doc), "tags": [token.tag_ for token in doc]}


def batches(texts: list[str], generator: np.random.Generator) -> list[list[str]]:
    """The texts in order, so many at once as comes."""
    cuts = np.cumsum(generator.integers(1, LARGEST_BATCH + 1, size=len(texts)))
    cuts = cuts[: np.searchsorted(cuts, len(texts))]
    return [texts[a:b] for a, b in zip([0, *cuts], [*cuts, len(texts)], strict=True)]


def test_sixteen_threads_find_what_one_finds(
    trained: Language,
    small_tables: None,
    generator: np.random.Generator,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    n = cases(10_000)
    texts = list(texts_of_new_words(NEW_WORDS, seed=1, n=n))
    serial = copy_of(trained)
    expected = [found(serial(text)) for text in texts]
    shared = copy_of(trained)

    def annotate(batch: list[str]) -> list[dict[str, Any]]:
        if len(batch) == 1:
            return [found(shared(batch[0]))]
        return [found(doc) for doc in shared.pipe(batch, batch_size=1 + len(batch) // 2)]

    begin = time.perf_counter()
    with ThreadPoolExecutor(N_THREADS) as pool:
        came = [one for of in pool.map(annotate, batches(texts, generator)) for one in of]
    assert came == expected
    assert sum(len(one["ents"]) for one in expected) > n
    figure(
        f"{N_THREADS} threads on one nlp",
        f"{n:,} Docs with {n * NEW_WORDS:,} new words equal to serial, "
        f"{time.perf_counter() - begin:.0f} s",
    )


def test_threads_that_ask_why(
    trained: Language,
    small_tables: None,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    texts = list(texts_of_new_words(NEW_WORDS, seed=2, n=cases(200)))
    expected = [_asked(nlp := copy_of(trained), text) for text in texts[:1]]
    expected += [_asked(nlp, text) for text in texts[1:]]
    shared = copy_of(trained)
    with ThreadPoolExecutor(N_THREADS) as pool:
        assert list(pool.map(lambda text: _asked(shared, text), texts)) == expected
    figure(
        f"N best, posteriors, readings and explanations in {N_THREADS} threads",
        f"those of {len(texts):,} Docs equal to serial",
    )


def _asked(nlp: Language, text: str) -> list[Any]:
    """What a pipeline answers besides annotating."""
    doc = nlp(text)
    segmenter, classifier = nlp.get_pipe("typed"), nlp.get_pipe("cascade_classifier")
    entities = [(entity.start, entity.end, entity.label_) for entity in doc.ents]
    stages = nlp.get_pipe("cascade_segmenter"), classifier
    return [
        [
            [(bounds(one.spans), one.score, one.probability) for one in of]
            for of in segmenter.nbest(doc, 3)
        ],
        [values.tolist() for values in segmenter.posteriors([doc], [entities])],
        [values.tolist() for values in entity_probabilities(stages, [doc], [entities])],
        explain_spans(segmenter, doc),
        explain_types(classifier, doc),
        explain_tags(nlp.get_pipe("cascade_tagger"), doc),
        joint_hypotheses(nlp, doc, 3),
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_processes_forked_while_threads_annotate(
    trained: Language,
    tmp_path: Path,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    trained.to_disk(tmp_path / "model")
    n = cases(60)
    script = Path(__file__).with_name("forking.py")
    result = run_python(str(script), str(tmp_path / "model"), str(n), timeout=30 + 5 * n)
    assert result.stdout.split() == ["0"] * n, result.stderr
    figure("forked while 8 threads annotate", f"{n} processes, equal results, none hangs")
