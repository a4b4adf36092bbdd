"""`spacy cascade evaluate`: scores of every component, with the input of the task."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import spacy_cascade
from commands import check_errors, run_command
from helpers import SENTENCES, SMALL, blank, gold_doc, make_examples, train
from spacy_cascade.workflows.reconfigure import with_settings


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Looks at tags, which no component sets."""
    nlp = blank()
    model = {
        "min_count": 1,
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1", "extra": ["tag"]},
    }
    nlp.add_pipe(
        "cascade_segmenter", config={**SMALL, "model": model, "typed": True, "set_ents": True}
    )
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = "NN"
    train(nlp, examples)
    nlp.config["corpora"] = {
        "dev": {"@readers": "spacy_cascade.Corpus.v1", "path": None, "given": ["tags"]}
    }
    path = tmp_path_factory.mktemp("evaluate") / "model"
    nlp.to_disk(path)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    vocab = blank().vocab
    docs = [gold_doc(vocab, text, spans) for text, spans in SENTENCES]
    for doc in docs:
        for token in doc:
            token.tag_ = "NN"
    DocBin(docs=docs).to_disk(tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


run = partial(run_command, "evaluate")


def test_scores_of_all_components_and_by_label(model: Path, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "new" / "scores.json"
    stdout, stderr = run(model, data, "--json", output)
    assert stderr == ""
    lines = [line.split() for line in stdout.splitlines()]
    assert ["ents_f", "100.00"] in lines
    assert ["segments_f", "100.00"] in lines
    assert ["protein", "100.00", "100.00", "100.00"] in lines
    assert any(line[:3] == ["words", "per", "second"] for line in lines)
    scores = srsly.read_json(output)
    assert scores["ents_f"] == 1.0
    assert set(scores["ents_per_type"]) == {"DNA", "cell", "protein"}


@pytest.mark.parametrize(("usual", "warns"), [(0.0, True), (0.5, False), (None, False)])
def test_unseen_words_are_told(
    usual: float | None,
    warns: bool,
    trained: Language,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three of six ordinary words are new."""
    monkeypatch.setattr("spacy_cascade.pipeline.unseen_words.FEWEST", 6)
    nlp = with_settings(trained, {"cascade_segmenter": {"unseen_words": usual}})
    nlp.to_disk(tmp_path / "model")
    doc = gold_doc(nlp.vocab, "Human lymphocytes surely lack one new gene", [(0, 2, "cell")])
    DocBin(docs=[doc]).to_disk(tmp_path / "gold.spacy")
    stdout, _ = run(tmp_path / "model", tmp_path / "gold.spacy")
    assert stdout.count("50% of the ordinary words of these texts") == warns


def test_gold_inputs_can_be_chosen(model: Path, data: Path) -> None:
    stdout, _ = run(model, data, "--gold-inputs", "sentences", "--gold-inputs", "tags")
    assert "ents_f" in stdout
    _, stderr = run(model, data, "--gold-inputs", "sentences", exit_code=1)
    assert "look at token.tag, but these Docs have none" in stderr
    assert "Add a cascade_tagger before it" in stderr


def test_report(model: Path, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    stdout, _ = run(model, data, "--html", path)
    assert f"Report -> {path}" in stdout
    page = path.read_text(encoding="utf8")
    assert f"<h1>Evaluation of {model} on {data}</h1>" in page
    assert "xx_pipeline 0.0.0 (cascade_segmenter)" in page
    assert f"spacy_cascade {spacy_cascade.__version__}, spaCy {spacy.about.__version__}" in page
    assert f">{datetime.now().astimezone():%Y-%m-%d}, " in page
    assert "Expected calibration error" in page
    assert "Shown: 0 of 0" in page
    assert "negative log-likelihood" in page
    assert " nats" not in page


def test_report_of_mistakes(model: Path, tmp_path: Path) -> None:
    vocab = blank().vocab
    docs = [gold_doc(vocab, text, [(0, 1, "cell")]) for text, _ in SENTENCES[:3]]
    for doc in docs:
        for token in doc:
            token.tag_ = "NN"
    DocBin(docs=docs).to_disk(tmp_path / "wrong.spacy")
    for wanted, shown in (([], 3), (["--mistakes", 1], 1)):
        run(model, tmp_path / "wrong.spacy", "--html", tmp_path / "report.html", *wanted)
        page = (tmp_path / "report.html").read_text(encoding="utf8")
        assert len(re.findall("<article [^>]*(?<!hidden)>", page)) == shown
        assert f"Shown: {shown} of 3" in page
    _, stderr = run(model, tmp_path / "wrong.spacy", "--mistakes", -1, exit_code=2)
    assert "--mistakes" in stderr


def test_report_of_a_pipeline_without_confidences(data: Path, tmp_path: Path) -> None:
    nlp = blank()
    nlp.add_pipe("ner")
    nlp.initialize(lambda: make_examples(nlp))
    nlp.to_disk(tmp_path / "ner")
    run(tmp_path / "ner", data, "--html", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf8")
    assert "found have no confidences" in page
    assert "gives no probabilities" in page
    assert "<article " in page


def test_report_of_no_entities_at_all(tmp_path: Path) -> None:
    blank().to_disk(tmp_path / "blank")
    docs = [gold_doc(blank().vocab, text, []) for text, _ in SENTENCES]
    DocBin(docs=docs).to_disk(tmp_path / "none.spacy")
    run(tmp_path / "blank", tmp_path / "none.spacy", "--html", tmp_path / "report.html")
    assert "There are no entities" in (tmp_path / "report.html").read_text(encoding="utf8")


def saved(path: Path, *factories: str) -> Path:
    """A pipeline with these components, trained on the sentences, whose words have the tag X."""
    nlp = blank()
    for name in factories:
        nlp.add_pipe(name, config={"model": {"min_count": 1}})
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = "X"
    train(nlp, examples)
    nlp.to_disk(path)
    return path


@pytest.mark.parametrize("default", ["outside", "missing"])
def test_a_corpus_without_entities_is_an_error(default: str, tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "cascade_segmenter", "cascade_classifier")
    doc = gold_doc(blank().vocab, "IL-2 binds", [])
    doc.set_ents([], default=default)
    doc.spans["sc"] = [doc[:1], doc[:2]]
    doc[0].tag_ = "X"
    DocBin(docs=[doc]).to_disk(tmp_path / "none.spacy")
    check_errors(
        partial(run, model),
        ((tmp_path / "none.spacy",), "1 Doc of"),
        ((tmp_path / "none.spacy",), "none.spacy, but no gold annotation to score on"),
        (
            (tmp_path / "none.spacy",),
            "the components look at doc.ents. There are 2 in doc.spans['sc'], 1 in token.tag. ",
        ),
    )


def test_entities_are_not_missed_where_no_component_looks_at_them(tmp_path: Path) -> None:
    doc = gold_doc(blank().vocab, "IL-2 binds", [])
    for token in doc:
        token.tag_ = "X"
    DocBin(docs=[doc]).to_disk(tmp_path / "tags.spacy")
    stdout, _ = run(saved(tmp_path / "tagger", "cascade_tagger"), tmp_path / "tags.spacy")
    assert ["tag_acc", "100.00"] in [line.split() for line in stdout.splitlines()]
    both = saved(tmp_path / "both", "cascade_tagger", "cascade_segmenter")
    stdout, _ = run(both, tmp_path / "tags.spacy")
    assert "tags.spacy has no gold spans in doc.ents: what is scored on them is 0." in stdout
    bare = Doc(blank().vocab, words=["IL-2"])
    DocBin(docs=[bare]).to_disk(tmp_path / "bare.spacy")
    check_errors(run, ((both, tmp_path / "bare.spacy"), "look at doc.ents, token.tag. Annotate"))


def test_gold_spans_of_a_group_are_looked_for_there(tmp_path: Path) -> None:
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config={**SMALL, "gold_key": "chunks"})
    examples = [Example(gold_doc(nlp.vocab, text, []), gold_doc(nlp.vocab, text, spans, "chunks"))
                for text, spans in SENTENCES]  # fmt: skip
    train(nlp, examples)
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=[e.reference for e in examples]).to_disk(tmp_path / "chunks.spacy")
    stdout, _ = run(tmp_path / "model", tmp_path / "chunks.spacy")
    assert "no gold" not in stdout
    DocBin(docs=[gold_doc(nlp.vocab, *one) for one in SENTENCES]).to_disk(tmp_path / "ents.spacy")
    n = sum(len(spans) for _, spans in SENTENCES)
    message = f"look at doc.spans['chunks']. There are {n} in doc.ents. Annotate the Docs"
    check_errors(run, ((tmp_path / "model", tmp_path / "ents.spacy"), message))


def test_page_of_displacy(model: Path, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    stdout, _ = run(model, data, "--displacy-path", folder)
    assert f"Entities -> {folder / 'entities.html'}" in stdout
    page = (folder / "entities.html").read_text(encoding="utf8")
    assert page.count('class="gold') == page.count('class="found') == len(SENTENCES)
    run(model, data, "--displacy-path", folder, "--displacy-limit", 1)
    page = (folder / "entities.html").read_text(encoding="utf8")
    assert re.findall(r"<h2>(.*)", page) == ["Document 1"]


def test_a_report_that_cannot_be_written_is_an_error(model: Path, data: Path, tmp_path: Path):
    _, stderr = run(model, data, "--html", tmp_path, exit_code=1)
    assert str(tmp_path) in stderr
    assert "Traceback" not in stderr


def test_errors_are_one_line(model: Path, data: Path, tmp_path: Path) -> None:
    tsv, empty = tmp_path / "test.tsv", tmp_path / "empty.spacy"
    tsv.write_text("IL-2\tB-DNA\n", encoding="utf8")
    DocBin().to_disk(empty)
    check_errors(
        run,
        ((tmp_path / "nowhere", data), "nowhere"),
        ((model, tmp_path / "nowhere.spacy"), "no corpus at"),
        ((model, tsv), f"is no .spacy file. Make one of it: spacy cascade convert {tsv}"),
        ((model, empty), "no Docs to score on"),
        ((model, data, "--gold-inputs", "lemmas"), "no gold input 'lemmas'"),
    )
