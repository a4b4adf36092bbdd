"""Lists from unlabelled text, compared with counts over all entities at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from helpers import TEXTS, cascade, make_doc, make_examples, train
from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.pipeline.readers import SENTENCES, input_doc
from spacy_cascade.systems.dictionaries.growing.collecting import (
    Batch,
    GrownTerm,
    Thresholds,
    grow_list,
    squeezed,
)

TEXT = [*TEXTS, *(text.replace("The", "Our").replace("cells", "lines") for text in TEXTS)] * 2
TEXT.append("Jurkat cells express AP-1")
LOOSE = Thresholds(confidence=0.5, contexts=1, agreement=0.0)


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    trained.to_disk(path)
    return str(path)


def batches(task: str) -> Iterator[Batch]:
    for i in range(0, len(TEXT), 5):
        yield TEXT[i : i + 5]


def counted(nlp: Language, texts: Sequence[str], thresholds: Thresholds) -> list[GrownTerm]:
    """The same by going through all texts once for each phrase."""
    docs = list(nlp.pipe(texts))
    entities = [e for doc in docs for e in doc.ents]
    terms = []
    for text, label in {(e.text, e.label_) for e in entities}:
        found = [e for e in entities if (e.text, e.label_) == (text, label)]
        sure = [e for e in found if e._.confidence >= thresholds.confidence]
        contexts = {
            tuple(e.doc[i].lower_ if 0 <= i < len(e.doc) else "" for i in (e.start - 1, e.end))
            for e in sure
        }
        n = sum(
            doc[i:j].text == text
            for doc in docs
            for i in range(len(doc))
            for j in range(i + 1, len(doc) + 1)
        )
        agreement = round(len(found) / n, 4)
        if sure and len(contexts) >= thresholds.contexts and agreement >= thresholds.agreement:
            mean = round(sum(e._.confidence for e in sure) / len(sure), 4)
            n_docs = len({id(e.doc) for e in sure})
            terms.append(GrownTerm(label, text, len(sure), n_docs, len(contexts), mean, agreement))
    return sorted(terms, key=lambda t: (-t.contexts, -t.count, t.pattern, t.label))


@pytest.mark.parametrize("thresholds", [LOOSE, Thresholds(0.9, 2, 0.0), Thresholds(0.5, 1, 1.0)])
def test_phrases_and_their_counts(thresholds: Thresholds, model: str) -> None:
    found = grow_list(model, batches, thresholds)
    assert found.terms == counted(spacy.load(model), TEXT, thresholds)
    assert found.n_phrases >= len(found.terms) > 0


@pytest.mark.slow(kind="workflows")
def test_the_result_does_not_depend_on_the_processes(model: str) -> None:
    assert grow_list(model, batches, LOOSE, processes=2) == grow_list(model, batches, LOOSE)


def test_labels_and_known_phrases(model: str) -> None:
    every = grow_list(model, batches, LOOSE).terms
    some = grow_list(model, batches, LOOSE, labels=["DNA"], known=[squeezed("the AP-1 SITE")[3:]])
    assert some.terms == [t for t in every if t.label == "DNA" and t.pattern != "AP-1 site"]
    assert len(some.terms) > 0


def test_docs_in_place_of_texts_are_read_twice_in_batches(trained: Language, model: str) -> None:
    tasks: list[str] = []

    def docs(task: str) -> Iterator[Batch]:
        tasks.append(task)
        for batch in batches(task):
            made = (make_doc(trained.vocab, str(text), [0]) for text in batch)
            yield [input_doc(doc, (SENTENCES,), doc.vocab).to_bytes() for doc in made]

    assert grow_list(model, docs, LOOSE).terms == grow_list(model, batches, LOOSE).terms
    assert tasks == ["Annotating", "Counting"]


def test_errors(model: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no entity with the label 'RNA'.*DNA, cell, protein"):
        grow_list(model, batches, LOOSE, labels=["RNA"])
    with pytest.raises(CorpusError, match="phrases found reaches the thresholds"):
        grow_list(model, batches, Thresholds(1.0, 99, 1.0))
    with pytest.raises(CorpusError, match="0 phrases"):
        grow_list(model, lambda task: [["Nothing ."]], Thresholds(1.0, 1, 1.0))
    long: Any = ["IL-2 " * 300_000]
    with pytest.raises(CorpusError, match=r"begins 'IL-2.*1,500,000 characters"):
        grow_list(model, lambda task: [long], LOOSE)


def test_entities_without_confidence(tmp_path: Path) -> None:
    nlp = cascade({"confidence": False}, {"confidence": False})
    train(nlp, make_examples(nlp))
    nlp.to_disk(tmp_path)
    with pytest.raises(ConfigError, match="has no confidence"):
        grow_list(str(tmp_path), batches, LOOSE)
