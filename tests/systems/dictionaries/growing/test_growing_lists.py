"""Lists from unlabelled text, compared with counts over all entities at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from helpers import TEXTS, cascade, make_examples, train
from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.systems.dictionaries.growing.phrases import Batch, Words, squeezed
from spacy_cascade.systems.dictionaries.growing.workflow import GrownTerm, Thresholds, grow_list

TEXT = [*TEXTS, *(text.replace("The", "Our").replace("cells", "lines") for text in TEXTS)] * 2
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


@pytest.mark.parametrize(
    "thresholds",
    [LOOSE, Thresholds(0.9, 2, 0.0), Thresholds(0.0, 1, 0.9), Thresholds(0.5, 1, 1.0)],
)
def test_phrases_and_their_counts(thresholds: Thresholds, model: str) -> None:
    found = grow_list(model, batches, thresholds)
    assert found.terms == counted(spacy.load(model), TEXT, thresholds)
    assert found.n_phrases >= len(found.terms) > 0


@pytest.mark.slow(kind="workflows")
def test_the_result_does_not_depend_on_the_processes(model: str) -> None:
    assert grow_list(model, batches, LOOSE, processes=2) == grow_list(model, batches, LOOSE)


def test_agreement_leaves_out_what_is_mostly_not_found(model: str) -> None:
    """ "cells" is an entity once, and occurs inside of others."""
    low = {t.pattern: t.agreement for t in grow_list(model, batches, LOOSE).terms}
    assert 0 < low["cells"] < 0.5
    strict = Thresholds(confidence=0.5, contexts=1, agreement=0.5)
    assert "cells" not in {t.pattern for t in grow_list(model, batches, strict).terms}


def test_labels_and_known_phrases(model: str) -> None:
    every = grow_list(model, batches, LOOSE).terms
    some = grow_list(model, batches, LOOSE, labels=["DNA"], known=[squeezed("the AP-1 SITE")[3:]])
    assert some.terms == [t for t in every if t.label == "DNA" and t.pattern != "AP-1 site"]
    assert len(some.terms) > 0


def test_texts_whose_words_are_known(model: str) -> None:
    def words(task: str) -> Iterator[Batch]:
        yield [Words(t.split(), None, [i == 0 for i in range(len(t.split()))]) for t in TEXT]

    found = grow_list(model, words, LOOSE)
    assert found.terms == grow_list(model, batches, LOOSE).terms


def test_the_list_is_read_twice_and_in_batches(model: str) -> None:
    tasks: list[str] = []

    def noted(task: str) -> Iterator[Batch]:
        tasks.append(task)
        yield from batches(task)

    grow_list(model, noted, LOOSE)
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
