"""Pages of explanations and hypotheses: their text, and that a browser accepts them."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.language import Language

from helpers import SENTENCES, make_examples, needs_browser, open_page, train, trained_cascade
from helpers import cascade as untrained
from page_reader import NASTY, Reader
from spacy_cascade.tools.explaining.explain import explain_entities
from spacy_cascade.tools.explaining.hypotheses import joint_hypotheses
from spacy_cascade.tools.explaining.page import make_explanation_page, make_hypotheses_page
from spacy_cascade.tools.explaining.top_features import top_features

TEXT = "Both p53 and STAT5 activate the IL-2 gene of T cells ."


@pytest.fixture(scope="module")
def nlp() -> Language:
    return trained_cascade()


def explanation_of(nlp: Language, text: str, n_features: int = 3, corpus: int = 0) -> str:
    doc = nlp(text)
    pipes = [nlp.get_pipe(name) for name in nlp.pipe_names] if corpus else []
    tops = [top_features(pipe, make_examples(nlp)[:corpus], 4) for pipe in pipes]
    explained = explain_entities(nlp, doc)
    return make_explanation_page(
        nlp, doc, explained, tops, model="model", data="data.spacy", n_features=n_features
    )


def test_features_and_sums(nlp: Language) -> None:
    doc = nlp(TEXT)
    explained = explain_entities(nlp, doc)
    reader = Reader(explanation_of(nlp, TEXT))
    assert "What model found, and why" in reader.text
    assert len(reader.headings) == 1 + len(explained)
    for entity in explained:
        assert entity.text in reader.text
        for stage in entity.stages:
            for c in stage.strongest(3):
                token = [] if c.token is None else [doc[c.token].text]
                values = [f"{value:+.2f}" for value in (c.weight, c.runner_up, c.push)]
                assert reader.row(c.name, *token, *values) or "others" in c.name
            sums = (stage.score, stage.runner_up_score, stage.evidence)
            values = [f"{value:+.2f}" for value in sums]
            assert reader.row("Sum", *values) or reader.row("Sum", "", *values)
            assert reader.row(f"{len(stage.contributions) - 3} others")


def test_top_features(nlp: Language) -> None:
    reader = Reader(explanation_of(nlp, "", corpus=len(SENTENCES)))
    assert reader.headings == [
        "Top features of cascade_segmenter",
        "Top features of cascade_classifier",
    ]
    assert "Features of model" in reader.text
    assert "not in the data" not in reader.text
    assert reader.row("Feature", "Range", "Weight")
    assert reader.row("Feature", "Weight")
    some = Reader(explanation_of(nlp, "", corpus=1))
    assert some.row("not in the data")
    assert "do not occur in data.spacy" in some.text


def test_hypotheses_side_by_side() -> None:
    nlp = untrained()
    train(nlp, make_examples(nlp), updates=1)
    doc = nlp(TEXT)
    sentences = joint_hypotheses(nlp, doc, 4)
    reader = Reader(make_hypotheses_page(nlp, doc, sentences, model="model"))
    (sentence,) = sentences
    for reading in sentence.hypotheses:
        assert f"{100 * reading.probability:.2f} %" in reader.text
    classes = [dict(attrs).get("class") for tag, attrs in reader.tags if tag == "mark"]
    first = set(sentence.hypotheses[0].entities)
    others = [entity for r in sentence.hypotheses for entity in r.entities if entity not in first]
    assert classes.count("entity outlined") == len(others) > 0
    assert sum(tag == "article" for tag, _ in reader.tags) == 4


def test_texts_and_labels_are_escaped() -> None:
    nlp = untrained()
    sentences = [(f"{NASTY} binds", [(0, 1, f"p{NASTY}")]), ("a b", [])]
    train(nlp, make_examples(nlp, sentences))
    doc = nlp(make_examples(nlp, sentences)[0].predicted)
    assert doc.ents
    explained = explain_entities(nlp, doc)
    tops = [top_features(nlp.get_pipe(n), make_examples(nlp, sentences), 9) for n in nlp.pipe_names]
    pages = [
        make_explanation_page(nlp, doc, explained, tops, model=NASTY, data=NASTY),
        make_hypotheses_page(nlp, doc, joint_hypotheses(nlp, doc, 3), model=NASTY),
    ]
    for page in pages:
        assert "<script" not in page
        Reader(page)


def test_nothing_to_show(nlp: Language) -> None:
    doc = nlp("Nothing else is known here .")
    page = make_explanation_page(nlp, doc, [], model="model")
    assert "found no entities" in Reader(page).text
    empty = make_hypotheses_page(nlp, nlp(""), [], model="model")
    assert "There is no text" in Reader(empty).text


@pytest.mark.slow
@needs_browser
def test_a_browser_takes_them(nlp: Language, tmp_path: Path) -> None:
    doc = nlp(TEXT)
    pages = {
        "explanation": explanation_of(nlp, TEXT, corpus=len(SENTENCES)),
        "hypotheses": make_hypotheses_page(nlp, doc, joint_hypotheses(nlp, doc, 3), model="model"),
    }
    for name, page in pages.items():
        path = tmp_path / f"{name}.html"
        path.write_text(page, encoding="utf8")
        opened = open_page(path, tmp_path / "profile")
        assert opened.complaints == []
        assert "STAT5" in opened.dom
