"""Pages of whole Docs, the colours of labels, and what a browser may do with a page."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from helpers import SENTENCES, blank, cascade, gold_doc, make_examples, train, trained_cascade
from spacy_cascade.pipeline.spans.entities import write_group
from spacy_cascade.pipeline.spans.tables import table_of
from spacy_cascade.tools.explaining.explain import explain_entities
from spacy_cascade.tools.explaining.hypotheses import joint_hypotheses
from spacy_cascade.tools.explaining.page import make_explanation_page, make_hypotheses_page
from spacy_cascade.tools.reports.drawing import colours_of, label_colours, language_tag
from spacy_cascade.tools.reports.entities import make_entities_page
from spacy_cascade.tools.reports.page import make_page
from spacy_cascade.tools.reports.reading import judge_annotated


@pytest.mark.parametrize(("language", "tag"), [("en", "en"), ("xx", "und")])
def test_html_has_a_name_for_no_language(language: str, tag: str) -> None:
    """Browsers and screen readers know no `xx`."""
    assert language_tag(spacy.blank(language).lang) == tag


DARK_TEXT = "#14181f"


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_two_dozen_labels_have_their_own_colours_that_dark_text_can_be_read_on() -> None:
    colours = colours_of([str(i) for i in range(30)])
    assert len(colours) == 30
    assert len(set(colours.values())) == 24
    for colour in colours.values():
        assert (luminance(colour) + 0.05) / (luminance(DARK_TEXT) + 0.05) >= 4.5


def test_a_label_keeps_its_colour_whatever_else_a_page_shows() -> None:
    nlp = trained_cascade()
    known = label_colours(nlp)
    assert {"DNA", "cell", "protein"} <= set(known)
    more = label_colours(nlp, ["AAA", "cell"])
    assert {label: more[label] for label in known} == known
    assert more["AAA"] not in known.values()
    for text in ("STAT5 binds the AP-1 site .", "Jurkat cells ."):
        doc = nlp(text)
        page = make_explanation_page(nlp, doc, explain_entities(nlp, doc), model="m")
        for entity in doc.ents:
            assert f'background: {known[entity.label_]}">{entity.text}' in page


def test_labels_that_are_no_entities_have_no_colours() -> None:
    nlp = blank()
    tagger = nlp.add_pipe("tagger")
    for label in ("NN", "VB"):
        tagger.add_label(label)
    assert nlp.pipe_labels == {"tagger": ["NN", "VB"]}
    assert label_colours(nlp) == {}


def test_a_pipeline_without_labels() -> None:
    assert list(label_colours(blank(), ["b", "a"])) == ["a", "b"]


def page_of(*examples: Example) -> str:
    return make_entities_page(blank(), examples, model="OUT/model", data="dev.spacy")


def test_gold_entities_stand_beside_those_found() -> None:
    vocab = blank().vocab
    text = "a < b & <i>c</i>"
    found, gold = (gold_doc(vocab, text, [span]) for span in ((0, 2, "<x>"), (2, 3, "y")))
    write_group(found, "cascade", table_of(found.ents), [0.875])
    page = page_of(Example(found, gold))
    body = page.split("<main>")[1]
    before, after = body.split('class="found')
    assert ">y</span>" in before
    assert "0.88" not in before
    assert "&lt;x&gt; 0.88" in after
    assert ">y</span>" not in after
    assert "(missed)" in before
    assert "(spurious)" in after
    assert "2 entities outlined" in body
    assert "Entities of OUT/model in dev.spacy" in page
    assert "<x>" not in page
    assert "<i>" not in page


def test_sentences_stand_one_under_the_other() -> None:
    vocab = blank().vocab
    reference = Doc(vocab, words=list("abcdef"), sent_starts=[True, False, False] * 2)
    predicted = reference.copy()
    for doc, label in ((reference, "x"), (predicted, "y")):
        doc.set_ents([doc.char_span(6, 7, label)], default="outside")
    page = page_of(Example(predicted, reference))
    sides = re.findall(r'<div class="(gold|found)( wrong)?">', page)
    assert sides == [("gold", ""), ("found", ""), ("gold", " wrong"), ("found", " wrong")]


def test_a_doc_without_annotation_shows_what_was_found() -> None:
    vocab = blank().vocab
    bare = Doc(vocab, words=["a", "b"])
    page = page_of(Example(gold_doc(vocab, "a b", [(0, 1, "x")]), bare))
    assert "not annotated" in page
    assert 'class="gold' not in page
    assert page.count("<mark") == 1
    assert "outlined" not in page.split("<main>")[1]


def test_no_documents() -> None:
    assert "There are no documents" in page_of()


NASTY = '</script><script>alert(\'x\')</script><p style="background: url(x)" onclick="x()">'


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """A page of each kind, about a text that tries to be a script."""
    nlp = cascade()
    train(nlp, make_examples(nlp, SENTENCES), updates=2)
    doc = nlp(gold_doc(nlp.vocab, f"STAT5 binds {''.join(NASTY.split())} .", [(0, 1, "DNA")]))
    example = Example(doc, gold_doc(nlp.vocab, doc.text.strip(), [(0, 1, "DNA"), (2, 3, "DNA")]))
    names = {"model": NASTY, "data": NASTY}
    return {
        "evaluation": make_page(nlp, [example], judge_annotated(nlp, [example]), **names),
        "entities": make_entities_page(nlp, [example], **names),
        "explanation": make_explanation_page(nlp, doc, explain_entities(nlp, doc), **names),
        "hypotheses": make_hypotheses_page(nlp, doc, joint_hypotheses(nlp, doc, 2), model=NASTY),
    }


def policy_of(page: str) -> dict[str, list[str]]:
    """Sources by directive; it stands before whatever it could be too late for."""
    head, content = re.split(r'<meta http-equiv="Content-Security-Policy" content="', page)
    assert set(re.findall(r"<(\w+)", head)) == {"html", "head", "meta"}
    directives = content.split('"')[0].split("; ")
    return {name: sources for name, *sources in map(str.split, directives)}


@pytest.mark.parametrize("kind", ["evaluation", "entities", "explanation", "hypotheses"])
def test_a_page_may_run_its_own_script_alone(pages: dict[str, str], kind: str) -> None:
    page = pages[kind]
    scripts = re.findall(r"<script.*?>(.*?)</script>", page, re.DOTALL)
    hashes = [f"'sha256-{b64encode(sha256(s.encode()).digest()).decode()}'" for s in scripts]
    assert len(scripts) == (kind == "evaluation")
    policy = policy_of(page)
    assert policy.pop("script-src", []) == hashes
    assert policy == {
        "default-src": ["'none'"],
        "style-src": ["'unsafe-inline'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    assert not re.search(r"<[^>]*\son\w+=", page), "no script in an attribute"
    assert page.count("<style>") == 1
