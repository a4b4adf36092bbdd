"""What spaCy does with components: batches, processes, zones, selections, serialization."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from helpers import (
    SENTENCES,
    TEXTS,
    annotation,
    annotations,
    blank,
    bounds,
    cascade,
    confidences,
    make_doc,
    make_examples,
    run_python,
    sample_examples,
    train,
    trained_cascade,
)
from spacy_cascade import NotTrainedError

NAMES = ["cascade_segmenter", "cascade_classifier"]


@pytest.mark.parametrize("batch_size", [1, 3, 1000])
def test_pipe_gives_what_a_loop_gives(batch_size: int, trained: Language) -> None:
    texts = [*TEXTS, "", "p53 gene", "Unknown words only"] * 3
    expected = [annotation(trained(text)) for text in texts]
    docs = trained.pipe(texts, batch_size=batch_size)
    assert [annotation(doc) for doc in docs] == expected


def test_pipe_with_context_and_ready_docs(trained: Language) -> None:
    docs = [make_doc(trained.vocab, text) for text in TEXTS]
    pairs = trained.pipe(zip(docs, range(len(docs)), strict=True), as_tuples=True)
    for (doc, context), text in zip(pairs, TEXTS, strict=True):
        assert doc is docs[context]
        assert doc.text == make_doc(trained.vocab, text).text
        assert bounds(doc.ents) == SENTENCES[context][1]


PROCESSES = """
import json, multiprocessing, sys
import spacy

def main():
    multiprocessing.set_start_method(sys.argv[1])
    nlp = spacy.load(sys.argv[2])
    texts = json.loads(sys.argv[3])
    for batch_size in map(int, sys.argv[4:]):
        docs = nlp.pipe(texts, n_process=2, batch_size=batch_size)
        print(json.dumps([
            [
                [[e.start, e.end, e.label_, e._.confidence] for e in doc.ents],
                doc.spans["cascade"].attrs["scores"].tolist(),
            ]
            for doc in docs
        ]))

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow(kind="processes")
@pytest.mark.parametrize(
    ("method", "batch_sizes"), [("fork", ["1", "3", "1000"]), ("spawn", ["3"])]
)
def test_processes_give_what_a_loop_gives(
    method: str, batch_sizes: list[str], trained: Language, tmp_path: Path
) -> None:
    texts = [*TEXTS, "", "p53 gene"] * 2
    trained.to_disk(tmp_path / "model")
    script = tmp_path / "script.py"
    script.write_text(PROCESSES)
    folder = str(tmp_path / "model")
    done = run_python(str(script), method, folder, json.dumps(texts), *batch_sizes)
    assert done.returncode == 0, done.stderr
    expected = [
        [[[e.start, e.end, e.label_, e._.confidence] for e in doc.ents], confidences(doc)]
        for doc in trained.pipe(texts)
    ]
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(batch_sizes)
    assert all(result == expected for result in results)


# Memory zones


def test_memory_zones_change_no_prediction(trained: Language) -> None:
    data = trained.to_bytes()
    nlp = blank().from_config(trained.config).from_bytes(data)
    texts = [*TEXTS, *(f"word{i} binds p53 in zone{i} cells" for i in range(30))]
    expected = [annotation(trained(text)) for text in texts]
    for _ in range(2):
        with nlp.memory_zone():
            assert [annotation(nlp(text)) for text in texts] == expected
        with nlp.memory_zone():
            assert [annotation(doc) for doc in nlp.pipe(texts)] == expected
    assert [annotation(nlp(text)) for text in texts] == expected


def test_training_goes_on_after_a_memory_zone() -> None:
    nlp = cascade()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    with nlp.memory_zone():
        nlp("word1 binds word2 in word3")
    for _ in range(2):
        nlp.update(examples)
    assert annotations(nlp) == annotations(trained_cascade())


# The pipeline as a whole


def test_analysis_finds_no_problem(trained: Language) -> None:
    analysis = trained.analyze_pipes()
    assert not any(analysis["problems"].values())
    assert analysis["attrs"]["doc.ents"]["assigns"] == ["cascade_classifier"]
    assert set(analysis["attrs"]["doc.spans"]["assigns"]) == set(NAMES)
    alone = blank()
    alone.add_pipe("cascade_classifier")
    assert alone.analyze_pipes()["problems"] == {"cascade_classifier": ["doc.spans"]}


def test_analysis_of_all_components() -> None:
    """Each says what it sets and what it needs of those before it."""
    names = ["cascade_tagger", *NAMES, "cascade_reranker"]
    nlp = blank()
    for name in names:
        nlp.add_pipe(name)
    analysis = nlp.analyze_pipes()
    assert not any(analysis["problems"].values())
    assert analysis["summary"]["cascade_tagger"]["assigns"] == ["token.tag"]
    for name in names[1:]:
        assert {"doc.spans", "span._.confidence"} <= set(analysis["summary"][name]["assigns"])
    for name in names[2:]:
        assert analysis["summary"][name]["requires"] == ["doc.spans"]
        assert "doc.ents" in analysis["summary"][name]["assigns"]


def test_selected_pipes_run_alone(trained: Language) -> None:
    with trained.select_pipes(enable="cascade_segmenter"):
        doc = trained(TEXTS[0])
        assert not doc.ents
        assert {span.label_ for span in doc.spans["cascade"]} == {"ENT"}
    with trained.select_pipes(disable="cascade_segmenter"):
        assert not trained(TEXTS[0]).ents
    assert bounds(trained(TEXTS[0]).ents) == SENTENCES[0][1]


def test_two_segmenters_live_side_by_side(trained: Language) -> None:
    nlp, saved = blank(), trained.get_pipe("cascade_segmenter").to_bytes()
    for name in ("first", "second"):
        nlp.add_pipe("cascade_segmenter", name, config={"spans_key": name})
        nlp.get_pipe(name).from_bytes(saved, exclude=["cfg"])
    doc = nlp(TEXTS[0])
    assert bounds(doc.spans["first"]) == bounds(doc.spans["second"])
    assert len(doc.spans["first"]) == 3


def test_pipes_that_wrap_others_may_rename_them(trained: Language) -> None:
    """The losses and messages go by the name in the pipeline."""
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", "spans", config={"model": {"min_count": 1}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert set(nlp.update(examples)) == {"spans"}


def test_an_update_without_examples_changes_nothing() -> None:
    nlp = trained_cascade()
    before = [nlp.get_pipe(name).to_bytes() for name in NAMES]
    losses = nlp.update([], losses={"cascade_segmenter": 2.5})
    assert losses.get("cascade_segmenter") == 2.5
    for name in NAMES:
        assert nlp.get_pipe(name).update([]) == {name: 0.0}
    assert [nlp.get_pipe(name).to_bytes() for name in NAMES] == before


def test_losses_add_up() -> None:
    nlp = cascade()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    first = nlp.update(examples, losses={})
    losses = dict.fromkeys(NAMES, 1000.0)
    nlp.update(examples, losses=losses)
    assert all(1000.0 < losses[name] <= 1000.0 + first[name] for name in NAMES)


# Parameters


@pytest.mark.parametrize("name", NAMES)
def test_use_params_is_only_for_a_while(name: str) -> None:
    nlp = trained_cascade()
    component = nlp.get_pipe(name)
    model = component.model
    expected, data = annotations(nlp), component.to_bytes()
    zeros = {
        (model.id, parameter): np.zeros_like(model.get_param(parameter))
        for parameter in model.param_names
    }
    with model.use_params(zeros):
        assert annotations(nlp) != expected
        assert not model.get_param("W").any()
    assert annotations(nlp) == expected
    assert component.to_bytes() == data
    with nlp.use_params(zeros):
        assert annotations(nlp) != expected
    assert annotations(nlp) == expected


def test_averages_of_the_optimizer_are_harmless() -> None:
    """spaCy evaluates under the averages, of which these components have none."""
    nlp = cascade()
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples, sgd=optimizer)
    expected = annotations(nlp)
    with nlp.use_params(optimizer.averages):
        assert annotations(nlp) == expected


# Docs


@pytest.mark.parametrize("store_user_data", [False, True])
def test_docs_keep_their_scores_through_a_doc_bin(store_user_data: bool, trained: Language) -> None:
    docs = list(trained.pipe([*TEXTS, ""]))
    attrs = ["ENT_IOB", "ENT_TYPE"]
    data = DocBin(docs=docs, attrs=attrs, store_user_data=store_user_data).to_bytes()
    others = list(DocBin().from_bytes(data).get_docs(blank().vocab))
    for doc, other in zip(docs, others, strict=True):
        assert bounds(other.ents) == bounds(doc.ents)
        assert bounds(other.spans["cascade"]) == bounds(doc.spans["cascade"])
        assert confidences(other) == confidences(doc)
        assert other.spans["cascade"].attrs.keys() == doc.spans["cascade"].attrs.keys()
        assert [e._.confidence for e in other.ents] == [e._.confidence for e in doc.ents]


def through_bytes(doc: Doc) -> Doc:
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def through_copy(doc: Doc) -> Doc:
    return doc.copy()


@pytest.mark.parametrize("way", [through_bytes, through_copy])
def test_docs_keep_their_scores(way: Callable[[Doc], Doc], trained: Language) -> None:
    doc = trained(TEXTS[0])
    assert annotation(way(doc)) == annotation(doc)


def test_docs_go_through_the_pipeline_again(trained: Language) -> None:
    doc = trained(TEXTS[0])
    once = annotation(doc)
    for again in (trained(doc), trained(through_bytes(doc))):
        assert annotation(again)["ents"] == once["ents"]
        assert annotation(again)["scores"] == once["scores"]


def test_docs_can_be_joined_and_cut(trained: Language) -> None:
    docs = [trained(text) for text in TEXTS]
    joined = Doc.from_docs(docs)
    assert len(joined.ents) == sum(len(doc.ents) for doc in docs)
    assert len(joined.spans["cascade"]) == len(joined.ents)
    expected = [entity._.confidence for doc in docs for entity in doc.ents]
    assert None not in expected
    assert [entity._.confidence for entity in joined.ents] == expected
    assert docs[0][1:6].as_doc().ents


# Failures of others


def raise_error(doc: Doc) -> Doc:
    raise RuntimeError("a later component failed")


@Language.component("fail")
def fail(doc: Doc) -> Doc:
    return raise_error(doc)


def test_a_later_failure_loses_nothing_on_the_doc() -> None:
    nlp = trained_cascade()
    nlp.add_pipe("fail")
    docs = [make_doc(nlp.vocab, text) for text in TEXTS]
    with pytest.raises(RuntimeError, match="later component"):
        nlp(docs[0])
    assert bounds(docs[0].ents) == SENTENCES[0][1]
    failed: list[Any] = []
    nlp.set_error_handler(lambda name, component, failing, error: failed.append((name, failing)))
    assert list(nlp.pipe(docs)) == []
    assert {name for name, _ in failed} == {"fail"}
    assert [bounds(doc.ents) for doc in docs] == [spans for _, spans in SENTENCES]


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_component_leaves_the_doc_as_it_was(name: str) -> None:
    nlp = blank()
    nlp.add_pipe(name)
    doc = make_doc(nlp.vocab, TEXTS[0])
    doc.ents = [Span(doc, 1, 3, "EARLIER")]
    doc.spans["cascade"] = [doc[0:3]]
    before = annotation(doc)
    with pytest.raises(NotTrainedError):
        nlp(doc)
    assert annotation(doc) == before
    failed: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append(str(error)))
    assert list(nlp.pipe([doc])) == []
    assert len(failed) == 1
    assert "no weights yet" in failed[0]
    assert annotation(doc) == before


@pytest.mark.parametrize("name", NAMES)
def test_other_docs_go_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """spaCy gives the handler the batch that failed; the others are annotated as ever."""
    nlp = trained_cascade()
    component = nlp.get_pipe(name)
    predict = component.predict

    def predict_or_fail(docs: list[Doc]) -> Any:
        if any("STAT5 binds" in doc.text for doc in docs):
            raise RuntimeError("a Doc that fails")
        return predict(docs)

    monkeypatch.setattr(component, "predict", predict_or_fail)
    failed: list[tuple[str, list[str], str]] = []
    component.set_error_handler(
        lambda name, _, docs, error: failed.append((name, [d.text for d in docs], str(error)))
    )
    docs = list(nlp.pipe(TEXTS, batch_size=1))
    assert failed == [(name, [TEXTS[1]], "a Doc that fails")]
    left = SENTENCES[:1] + SENTENCES[2:]
    assert [(doc.text, bounds(doc.ents)) for doc in docs] == left


# A user's own extension

OWN_EXTENSION = """
from spacy.tokens import Span
Span.set_extension("confidence", default=7)
import spacy
nlp = spacy.load({path!r})
doc = nlp("The IL-2 gene needs STAT5 in T cells .")
print([entity._.confidence for entity in doc.ents], len(doc.spans["cascade"].attrs["scores"]))
"""


@pytest.mark.slow(kind="fresh process")
def test_an_extension_of_the_user_is_not_overwritten(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    done = run_python("-c", OWN_EXTENSION.format(path=str(tmp_path)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[7, 7, 7] 3"


def test_the_sample_corpus_is_learnt() -> None:
    """A little of real text: scores far above what chance would give, on unseen Docs."""
    nlp = cascade()
    train(nlp, sample_examples(nlp, "train", n_docs=30))
    scores = nlp.evaluate(sample_examples(nlp, "dev"))
    assert scores["ents_f"] > 0.5
    assert scores["segments_f"] > 0.6
    assert scores["types_acc"] > 0.6


def test_vocabularies_may_be_loaded_without_strings(trained: Language, tmp_path: Path) -> None:
    """A component reads the words of a Doc from the vocabulary that it shares with it."""
    trained.to_disk(tmp_path, exclude=["vocab"])
    other = spacy.load(tmp_path, exclude=["vocab"])
    assert annotations(other) == annotations(trained)
