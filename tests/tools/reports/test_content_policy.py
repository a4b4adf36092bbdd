"""What a browser may do with a page: run the script that belongs to it, and load nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from spacy.training import Example

from helpers import SENTENCES, cascade, gold_doc, make_examples, train
from spacy_cascade.tools.explaining.explain import explain_entities
from spacy_cascade.tools.explaining.hypotheses import joint_hypotheses
from spacy_cascade.tools.explaining.page import make_explanation_page, make_hypotheses_page
from spacy_cascade.tools.reports.entities import make_entities_page
from spacy_cascade.tools.reports.page import make_page

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
        "evaluation": make_page(nlp, [example], **names),
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
