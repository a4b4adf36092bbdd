"""`Annotator`: batches of all kinds, threads, pickling, and texts that fail."""

from __future__ import annotations

import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

import spacy_cascade
from bulk_truth import Row
from helpers import TEXTS, run_python, segmenter_alone
from spacy_cascade import Annotator, save_pipeline
from spacy_cascade.errors import ConfigError, ModelFileError
from spacy_cascade.tools.bulk import annotator as module

Truth = dict[str, list[Row]]


def read_only(texts: list[str]) -> Any:
    array = np.array(texts, dtype=object)
    array.flags.writeable = False
    return array


def test_a_dictionary_of_read_only_arrays(model: Path, truth: Truth) -> None:
    numbers = np.arange(len(TEXTS))
    numbers.flags.writeable = False
    batch = {"n": numbers, "text": read_only(TEXTS)}
    found = Annotator(model)(batch)
    assert list(found) == ["n", "text", "entities", "entities_error"]
    assert found["n"] is numbers
    assert list(found["entities"]) == [truth[text] for text in TEXTS]
    assert list(found["entities_error"]) == [None] * len(TEXTS)
    assert list(batch) == ["n", "text"], "the batch itself does not change"


def test_unseen_words_are_told_once(
    strict_model: Path, recwarn: pytest.WarningsRecorder, model: Path
) -> None:
    annotator = Annotator(strict_model)
    annotator.annotate(TEXTS)
    annotator({"text": TEXTS})
    assert not recwarn, "all words were seen"
    other = Annotator(strict_model)
    for _ in range(20):
        other.annotate(["small blue flowers need gardens and trees and birds in spring"] * 16)
        Annotator(model).annotate(["small blue flowers need gardens"])
    (warning,) = recwarn
    assert "of the ordinary words of these texts were not in the training corpus" in str(
        warning.message
    )
    assert warning.filename == __file__


@pytest.mark.parametrize("kind", ["Table", "RecordBatch"])
def test_arrow(model: Path, truth: Truth, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    batch = getattr(pa, kind).from_pydict({"id": list(range(len(TEXTS))), "body": TEXTS})
    found = Annotator(model, text="body", entities="ents")(batch)
    assert type(found) is type(batch)
    assert found.schema.names == ["id", "body", "ents", "ents_error"]
    assert found.column("ents").to_pylist() == [truth[text] for text in TEXTS]
    empty = Annotator(model, text="body", entities="ents")(batch.slice(0, 0))
    assert empty.schema == found.schema


def test_pandas_keeps_the_index(model: Path, truth: Truth) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": [*TEXTS, None]}, index=range(10, 11 + len(TEXTS)))
    found = Annotator(model)(frame)
    assert list(found.index) == list(frame.index)
    assert list(found["entities"])[:-1] == [truth[text] for text in TEXTS]
    assert found["entities_error"].tolist()[-1] == "there is no text"
    assert list(frame.columns) == ["text"]


def test_texts_that_fail_do_not_stop_the_others(model: Path, truth: Truth) -> None:
    texts = [TEXTS[0], None, 5, "half \ud83d", float("nan"), TEXTS[1], ""]
    found = Annotator(model)({"text": texts})
    assert found["entities"][0] == truth[TEXTS[0]]
    assert found["entities"][5] == truth[TEXTS[1]]
    assert found["entities"][6] == []
    assert list(found["entities"][1:5]) == [None] * 4
    reasons = list(found["entities_error"])
    assert reasons[1] == reasons[4] == "there is no text"
    assert reasons[2] == "the text is int, not a string"
    assert "surrogate" in reasons[3]
    assert reasons[0] is reasons[5] is reasons[6] is None


def test_a_component_that_raises_fails_alone(model: Path, truth: Truth, tmp_path: Path) -> None:
    nlp = spacy.load(model)
    nlp.add_pipe("fails_on_human")
    nlp.to_disk(tmp_path / "model")
    found = Annotator(tmp_path / "model").annotate(TEXTS)
    failed = [text for text, one in zip(TEXTS, found, strict=True) if one.error]
    assert failed == [text for text in TEXTS if "Human" in text] != []
    for text, one in zip(TEXTS, found, strict=True):
        assert [e._asdict() for e in one.entities] == ([] if one.error else truth[text])


@spacy.Language.component("fails_on_human")
def fails_on_human(doc: Any) -> Any:
    if "Human" in doc.text:
        raise RuntimeError("no humans")
    return doc


def test_a_copy_loads_nothing_until_it_is_used(model: Path, monkeypatch: Any) -> None:
    annotator = Annotator(model)
    packed = pickle.dumps(annotator)
    assert len(packed) < 1000
    loads: list[str] = []
    load = spacy.load
    monkeypatch.setattr(module, "_LOADED", {})
    monkeypatch.setattr(module.spacy, "load", lambda path: loads.append(path) or load(path))
    first, second = pickle.loads(packed), pickle.loads(packed)
    assert loads == []
    assert first.annotate(TEXTS) == second.annotate(TEXTS) == annotator.annotate(TEXTS)
    assert loads == [str(model)], "one process loads a pipeline once"


def test_texts_that_an_error_handler_leaves_out_keep_what_the_others_found(
    model: Path, truth: Truth, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = spacy.load(model)
    nlp.add_pipe("fails_on_human")
    nlp.set_error_handler(lambda *_: None)
    assert len(list(nlp.pipe(TEXTS))) < len(TEXTS)
    monkeypatch.setattr(module, "_LOADED", {})
    monkeypatch.setattr(module.spacy, "load", lambda _: nlp)
    found = Annotator(model)({"text": TEXTS})
    assert list(found["entities"]) == [truth[text] for text in TEXTS]
    assert not any(found["entities_error"])


def test_a_memory_zone_is_used_once_enough_tokens_have_taught_frequent_words(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOADED", {})
    monkeypatch.setattr(module, "_LEARNT_TOKENS", sum(len(text.split()) for text in TEXTS))
    annotator = Annotator(model)
    uses_zone = [annotator.each(TEXTS, lambda _, doc: doc.vocab.in_memory_zone) for _ in "123"]
    assert [set(one) for one in uses_zone] == [{False}, {True}, {True}]


def test_texts_that_do_not_fail_are_annotated_once(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    @spacy.Language.component("notes_texts")
    def notes_texts(doc: Any) -> Any:
        seen.append(doc.text)
        return doc

    nlp = spacy.load(model)
    nlp.add_pipe("notes_texts")
    monkeypatch.setattr(module, "_LOADED", {})
    monkeypatch.setattr(module.spacy, "load", lambda _: nlp)
    Annotator(model).annotate(TEXTS)
    assert seen == TEXTS


def test_threads_take_turns(model: Path) -> None:
    annotator = Annotator(model)
    expected = annotator.annotate(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: annotator.annotate(TEXTS), range(16)):
            assert found == expected


def test_another_pipeline_at_the_path_is_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that changes while it is loaded, and one that has changed before."""
    shutil.copytree(model, tmp_path / "model")
    annotator, load = Annotator(tmp_path / "model"), spacy.load

    def load_and_change(path: str) -> Any:
        nlp = load(path)
        (tmp_path / "model" / "more.txt").touch()
        return nlp

    monkeypatch.setattr(module.spacy, "load", load_and_change)
    with pytest.raises(ModelFileError, match="not the one that this run began with"):
        annotator.annotate(TEXTS)
    monkeypatch.setattr(module.spacy, "load", None)
    with pytest.raises(ModelFileError, match="not the one that this run began with"):
        annotator.annotate(TEXTS)


def test_a_pipeline_that_is_replaced_while_it_is_loaded_is_loaded_again(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another one and back, so that its bytes are the same before and after."""
    place, other, load = tmp_path / "model", segmenter_alone(), spacy.load
    save_pipeline(load(model), place)
    annotator, n_loads = Annotator(place), 0

    def load_while_it_is_replaced(path: str) -> Any:
        nonlocal n_loads
        n_loads += 1
        if n_loads > 2:
            return load(path)
        save_pipeline(other, place)
        nlp = load(path)
        save_pipeline(load(model), place)
        if n_loads == 2:
            raise OSError("spaCy has not found a file")
        return nlp

    monkeypatch.setattr(module.spacy, "load", load_while_it_is_replaced)
    found = annotator.annotate(TEXTS)
    assert n_loads == 3
    assert found == Annotator(model).annotate(TEXTS)


def test_batches_that_cannot_be_annotated_are_refused(model: Path) -> None:
    annotator = Annotator(model)
    for batch, message in (
        ({"body": TEXTS}, "no column 'text' with texts; its columns are body"),
        ({"text": TEXTS, "entities": TEXTS}, "has a column 'entities' already"),
        (TEXTS, "not builtins.list"),
    ):
        with pytest.raises(ConfigError, match=message):
            annotator(batch)
    with pytest.raises(ConfigError, match="There is no pipeline at nowhere"):
        Annotator("nowhere")
    with pytest.raises(ConfigError, match="batch_size is 0"):
        Annotator(model, batch_size=0)


def test_spans_of_a_group(model: Path) -> None:
    nlp = spacy.load(model)
    (found,) = Annotator(model, spans_key="cascade").annotate(TEXTS[:1])
    doc = nlp(TEXTS[0])
    assert [(e.start, e.end, e.label) for e in found.entities] == [
        (span.start_char, span.end_char, span.label_) for span in doc.spans["cascade"]
    ]
    (none,) = Annotator(model, spans_key="nothing").annotate(TEXTS[:1])
    assert none.entities == []


@pytest.mark.slow(kind="processes")
def test_importing_needs_no_engine() -> None:
    script = (
        "import sys, spacy_cascade; "
        "print({'pyarrow', 'pandas', 'ray', 'dask', 'pyspark'} & set(sys.modules))"
    )
    assert run_python("-c", script).stdout.strip() == "set()"
    assert "Annotator" in spacy_cascade.__all__
