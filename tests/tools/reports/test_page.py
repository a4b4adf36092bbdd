"""The page: what it says, that it is safe and self-contained, and that a browser takes it."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import (
    SENTENCES,
    blank,
    cascade,
    gold_doc,
    make_example,
    make_examples,
    needs_browser,
    open_page,
    train,
)
from page_reader import NASTY, Reader
from spacy_cascade.tools.reports.drawing import Mark, _environment, colours_of, draw
from spacy_cascade.tools.reports.page import make_page
from spacy_cascade.tools.reports.reading import judge_annotated

HEADINGS = [
    "Scores",
    "Confusion of types",
    "Kinds of mistakes",
    "Calibration of the confidences",
    "Precision against recall",
    "The most costly mistakes",
]


def page_of(nlp: Language, examples: list[Example], **settings: int) -> str:
    judged = judge_annotated(nlp, examples)
    return make_page(nlp, examples, judged, model="model", data="data.spacy", **settings)


def compared(sides: list[tuple[str, list, list]]) -> list[Example]:
    """Examples of a pipeline without confidences: text, gold and predicted entities."""
    vocab = blank().vocab
    return [
        Example(gold_doc(vocab, text, predicted), gold_doc(vocab, text, gold))
        for text, gold, predicted in sides
    ]


@pytest.fixture(scope="module")
def unsure_page() -> str:
    """Of a cascade that is sure of little, on data that it has mistakes in."""
    nlp = cascade()
    train(nlp, make_examples(nlp), updates=1)
    wrong = [(text, [(0, 1, "DNA"), *spans[1:]]) for text, spans in SENTENCES]
    examples = [
        Example(nlp(example.predicted), example.reference) for example in make_examples(nlp, wrong)
    ]
    return page_of(nlp, examples)


def test_the_page_says_what_was_counted() -> None:
    sides = [
        ("a b c d e f", [(0, 1, "x"), (2, 4, "y")], [(0, 1, "x"), (2, 3, "y")]),
        ("a b c d e f", [(0, 1, "x")], [(0, 1, "y"), (5, 6, "x")]),
    ]
    reader = Reader(page_of(blank(), compared(sides)))
    assert reader.headings == HEADINGS
    assert reader.row("All entities (micro average)", "25.00", "33.33", "28.57", "3", "4", "1")
    assert reader.row("Spans of any type", "50.00", "66.67", "57.14", "3", "4", "2")
    assert reader.row("x", "50.00", "50.00", "50.00", "2", "2", "1")
    assert reader.row("x", "1", "1", "0")
    assert reader.row("y", "0", "0", "1")
    assert reader.row("nothing", "1", "1", "")
    assert reader.row(
        "Wrong type same bounds, another type", "1", "33.33", "1", "25.00", "57.14 +28.57"
    )
    assert reader.row(
        "Spurious predicted entity that overlaps no unmatched gold entity", "0", "0.00", "1"
    )
    assert "found have no confidences" in reader.text
    assert "costs 1" in reader.text
    assert "Shown: 2 of 2" in " ".join(reader.text.split())


def test_mistakes_are_told_with_their_costs(unsure_page: str) -> None:
    text = " ".join(Reader(unsure_page).text.split()).split("By sentence")[1]
    found = [
        (side == "Gold", name, float(probability), float(cost))
        for side, name, probability, cost in re.findall(
            r"(Gold|Predicted) (?:(?!Gold|Predicted)[^()])+ \(\w+\): [\w ]+, (\w+) (?:below )?"
            r"([\d.]+), cost ([\d.]+)",
            text,
        )
    ]
    assert {is_gold for is_gold, *_ in found} == {True, False}
    for is_gold, name, probability, cost in found:
        assert name == ("probability" if is_gold else "confidence")
        truth = probability if is_gold else 1.0 - probability
        assert cost == pytest.approx(-math.log(truth), abs=0.01 + 1e-4 / truth)
    heads = re.findall(r"Cost per word ([\d.]+) cost ([\d.]+); Doc \d+, tokens (\d+)–(\d+)", text)
    per_word = [float(cost) for cost, *_ in heads]
    assert len(per_word) > 1
    assert per_word == sorted(per_word, reverse=True)
    for cost, total, first, last in heads:
        assert float(cost) == pytest.approx(float(total) / (int(last) - int(first) + 1), abs=0.01)
    totals = [float(total) for _, total, *_ in heads]
    assert sum(totals) == pytest.approx(sum(cost for *_, cost in found), abs=0.2)
    assert "nats" not in text


def test_the_page_shows_as_many_mistakes_as_wanted() -> None:
    examples = compared([("a b c", [(0, 1, "x")], [])] * 5)
    for wanted, shown in ((0, 0), (2, 2), (9, 5)):
        assert page_of(blank(), examples, n_mistakes=wanted).count("<article ") == shown


def test_a_page_of_nothing() -> None:
    for examples in ([], compared([("", [], []), ("a b", [], [])])):
        reader = Reader(page_of(blank(), examples))
        assert reader.headings == HEADINGS
        assert reader.row("All entities (micro average)", "–", "–", "–", "0", "0", "0")
        assert "There are no entities" in reader.text


def test_the_calibration_error_is_by_entities_that_are_right(trained: Language) -> None:
    """Those that are found are all right, or all wrong: what is missing to that is the error."""
    for label, is_right in (("DNA", True), ("cell", False)):
        example = make_example(trained, "The IL-2 gene .", [(1, 3, label)])
        doc = trained(example.predicted)
        (entity,) = doc.ents
        assert entity.label_ == "DNA"
        error = abs(is_right - entity._.confidence)
        text = " ".join(Reader(page_of(trained, [Example(doc, example.reference)])).text.split())
        assert f"Expected calibration error: {100 * error:.2f} %" in text


def test_only_gold_or_only_predicted_entities() -> None:
    found = [(0, 1, "x")]
    reader = Reader(page_of(blank(), compared([("a b", found, [])])))
    assert reader.row("x", "–", "0.00", "0.00", "1", "0", "0")
    reader = Reader(page_of(blank(), compared([("a b", [], found)])))
    assert reader.row("x", "0.00", "–", "0.00", "0", "1", "0")


def test_docs_without_annotation_are_left_out_and_others_keep_their_number() -> None:
    vocab = blank().vocab
    bare = Doc(vocab, words=["a", "b"])
    examples = [Example(bare.copy(), bare), *compared([("a b", [(0, 1, "x")], [])])]
    text = " ".join(Reader(page_of(blank(), examples)).text.split())
    assert "Left out: 1 Docs whose entities are not annotated" in text
    assert "Doc 2, tokens 0–1" in text


def test_texts_and_names_are_escaped() -> None:
    _environment.cache_clear()  # as in a process of its own
    label = "a<b>&\"c'"
    vocab = blank().vocab
    reference = Doc(vocab, words=[NASTY, "&", '"', "{x}", "end"])
    predicted = reference.copy()
    reference.set_ents([Span(reference, 0, 1, label)], default="outside")
    predicted.set_ents([Span(predicted, 1, 4, label)], default="outside")
    examples = [Example(predicted, reference)]
    judged = judge_annotated(blank(), examples)
    page = make_page(blank(), examples, judged, model="<model>", data=f"{NASTY}.spacy")
    reader = Reader(page)
    assert not [tag for tag, _ in reader.tags if tag in ("b", "model")]
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert reader.text.count(NASTY) >= 4
    assert reader.text.count(label) >= 5
    assert "&amp;lt;" not in page
    assert '& " {x}' in reader.text


def test_overlapping_entities_are_drawn_once() -> None:
    doc = gold_doc(blank().vocab, "a b c", [])
    entities = [Mark((0, 2, "x"), "missed"), Mark((1, 3, "y"))]
    html = draw(doc, (0, 3), entities, colours_of(["x", "y"]))
    assert html.count("<mark") == 1
    assert "".join(re.sub("<[^>]*>", "", html).split()) == "abx(missed)c"
    html = draw(doc, (0, 3), entities[1:], colours_of(["x", "y"]))
    assert "".join(re.sub("<[^>]*>", "", html).split()) == "abcy", "nothing is said of it"


def test_the_page_is_one_file_and_accessible(unsure_page: str) -> None:
    reader = Reader(unsure_page)
    names = {tag for tag, _ in reader.tags}
    assert not names & {"link", "img", "iframe", "object"}
    assert not re.search(r"https?:|@import|url\(|src=", unsure_page)
    attributes = dict(reader.tags)
    assert attributes["html"] == {"lang": "en"}
    assert unsure_page.startswith("<!DOCTYPE html>")
    assert all(attrs.get("scope") for tag, attrs in reader.tags if tag == "th")
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    wanted = {attrs["href"][1:] for tag, attrs in reader.tags if tag == "a"}
    wanted |= {a["aria-labelledby"] for _, a in reader.tags if "aria-labelledby" in a}
    assert len(ids) == len(set(ids))
    assert len(wanted) >= 5
    assert wanted <= set(ids)


@pytest.mark.slow(kind="browser")
@needs_browser
def test_a_browser_shows_it_without_complaint(unsure_page: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(unsure_page, encoding="utf8")
    opened = open_page(path, tmp_path / "profile")
    assert opened.complaints == []
    assert Reader(opened.dom).headings == HEADINGS


@pytest.mark.slow(kind="browser")
@needs_browser
@pytest.mark.parametrize(
    ("script", "complaint"),
    [("console.error('bad thing')", "bad thing"), ("throw new Error('broken')", "broken")],
)
def test_a_browser_would_complain(
    unsure_page: str, script: str, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    broken = unsure_page.replace("</body>", f"<script>{script}</script></body>")
    without_policy = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", broken)
    for page, expected in ((without_policy, complaint), (broken, "Content Security Policy")):
        path.write_text(page, encoding="utf8")
        opened = open_page(path, tmp_path / "profile")
        assert len(opened.complaints) == 1
        assert expected in opened.complaints[0]
