"""All pages in a browser: axe-core finds nothing, they fit a phone, ask nothing of a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from spacy.training import Example

from helpers import BROWSER, SENTENCES, cascade, make_examples, needs_browser, train
from spacy_cascade.tools.explaining.explain import explain_entities
from spacy_cascade.tools.explaining.hypotheses import joint_hypotheses
from spacy_cascade.tools.explaining.page import make_explanation_page, make_hypotheses_page
from spacy_cascade.tools.explaining.top_features import top_features
from spacy_cascade.tools.reports.entities import make_entities_page
from spacy_cascade.tools.reports.page import make_page
from spacy_cascade.tools.reports.reading import judge_annotated

pytestmark = [pytest.mark.slow, needs_browser]
TEXT = "Both p53 and STAT5 activate the IL-2 gene of T cells ."
LONG = "Developing_anatomical_structure"
KINDS = ("evaluation", "explanation", "hypotheses", "entities")
OPTIONS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
PHONE, DESK = {"width": 375, "height": 812}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no Playwright")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=BROWSER, args=OPTIONS.split())
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind, by a pipeline that makes mistakes, with a long label."""
    nlp = cascade()
    sentences = [
        (text, [(s, e, LONG if label == "DNA" else label) for s, e, label in spans])
        for text, spans in SENTENCES
    ]
    train(nlp, make_examples(nlp, sentences), updates=2)
    wrong = [(text, [(0, 1, LONG), *spans[1:]]) for text, spans in sentences]
    examples = [Example(nlp(e.predicted), e.reference) for e in make_examples(nlp, wrong)]
    doc = nlp(TEXT)
    names = {"model": "OUT/model-best", "data": "dev.spacy"}
    tops = [top_features(nlp.get_pipe(n), make_examples(nlp, sentences), 5) for n in nlp.pipe_names]
    written = {
        "evaluation": make_page(nlp, examples, judge_annotated(nlp, examples), **names),
        "explanation": make_explanation_page(nlp, doc, explain_entities(nlp, doc), tops, **names),
        "hypotheses": make_hypotheses_page(nlp, doc, joint_hypotheses(nlp, doc, 4), model="m"),
        "entities": make_entities_page(nlp, examples, **names),
    }
    assert tuple(written) == KINDS
    folder = tmp_path_factory.mktemp("pages")
    for name, page in written.items():
        (folder / f"{name}.html").write_text(page, encoding="utf8")
    return {name: folder / f"{name}.html" for name in KINDS}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(
    browser: Any, pages: dict[str, Path], kind: str, size: dict[str, int], scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="there is no axe")
    page = browser.new_page(viewport=size, color_scheme=scheme, bypass_csp=True)  # axe is a script
    page.goto(pages[kind].as_uri())
    for details in page.query_selector_all("details"):
        details.evaluate("one => { one.open = true; }")
    found = axe.Axe().run(page).response
    assert found["passes"]
    assert [(v["impact"], v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
    page.close()


@pytest.mark.parametrize("kind", KINDS)
def test_it_fits_a_phone_and_asks_for_nothing(
    browser: Any, pages: dict[str, Path], kind: str
) -> None:
    page = browser.new_page(viewport=PHONE)
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(pages[kind].as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    too_wide = page.evaluate(
        "[...document.querySelectorAll('table')].filter(t => t.offsetParent &&"
        " t.getBoundingClientRect().right > innerWidth).map(t => t.caption.textContent)"
    )
    page.close()
    assert width == PHONE["width"]
    assert too_wide == []
    assert asked == [pages[kind].as_uri()]
    assert complaints == []


@pytest.mark.parametrize("kind", KINDS)
def test_it_prints(browser: Any, pages: dict[str, Path], kind: str) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(pages[kind].as_uri())
    page.emulate_media(media="print")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert not page.locator("nav:visible, form:visible").count()
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()


def test_mistakes_of_one_label_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(pages["evaluation"].as_uri())
    articles, rows = "article:visible", "[data-list=texts] tbody tr:visible"
    before = page.locator(articles).count(), page.locator(rows).count()
    choice = page.get_by_label("Label")
    choice.focus()
    assert "none" not in choice.evaluate("one => getComputedStyle(one).outlineStyle")
    page.keyboard.type("protein")
    page.keyboard.press("Tab")
    assert choice.input_value() == "protein"
    after = page.locator(articles).count(), page.locator(rows).count()
    assert 0 < after[0] < before[0]
    assert 0 < after[1] < before[1]
    for text in page.locator(rows).all_inner_texts():
        assert "protein" in text
    assert f"Shown: {after[0]} of {after[0]} with protein." in page.inner_text("#mistakes")
    page.get_by_label("Order").select_option("cost")
    costs = [float(text.split("\t")[-2]) for text in page.locator(rows).all_inner_texts()]
    assert costs == sorted(costs, reverse=True)
    page.close()


def test_tables_are_sorted_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(pages["evaluation"].as_uri())
    head = page.get_by_role("columnheader", name="F1").first
    for wanted in ("descending", "ascending"):
        head.get_by_role("button").press("Enter")
        assert head.get_attribute("aria-sort") == wanted
        cells = page.locator("#scores tbody td:nth-child(4)").all_inner_texts()
        values = [-1.0 if cell == "–" else float(cell) for cell in cells]
        assert values == sorted(values, reverse=wanted == "descending")
        assert len(set(values)) > 1
    page.close()


def test_it_works_without_scripts(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(pages["evaluation"].as_uri())
    assert page.locator("article:visible").count() > 1
    assert not page.locator("form:visible, thead button:visible").count()
    page.close()
