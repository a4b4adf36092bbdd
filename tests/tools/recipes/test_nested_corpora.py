"""Nested spans of a corpus: how deep they are, and the config and commands that go with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin, Span
from spacy.util import load_config, load_model_from_config
from spacy.vocab import Vocab

from commands import run_command
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.spans.parts import part_id
from spacy_cascade.tools.recipes import Choices, Recipe, make_config
from spacy_cascade.tools.recipes.nested_spans import (
    discontinuous_text,
    measure_nested,
    nested_text,
    take_entities,
)
from spacy_cascade.tools.recipes.profile import measure_profile
from spacy_cascade.tools.recipes.suggesting import suggest

WORDS = ["The", "mayor", "of", "the", "town", "of", "Oslo", "met", "Ada", "."]
DEEP = [(0, 7, "person"), (3, 7, "place"), (6, 7, "place"), (8, 9, "person")]
FLAT = [(6, 7, "place"), (8, 9, "person")]


def doc_with(vocab: Vocab, spans: list[tuple[int, int, str]], key: str = "sc") -> Doc:
    doc = Doc(vocab, words=WORDS)
    doc.spans[key] = [Span(doc, *span) for span in spans]
    doc.spans["flat"] = [Span(doc, *span) for span in FLAT]
    return doc


def corpus(n_deep: int, n_flat: int) -> list[Doc]:
    vocab = Vocab()
    docs = [doc_with(vocab, DEEP) for _ in range(n_deep)]
    docs += [doc_with(vocab, FLAT) for _ in range(n_flat)]
    take_entities(docs)
    return docs


def test_depths_and_losses_are_counted() -> None:
    docs = corpus(2, 1)
    docs.append(doc_with(docs[0].vocab, [(0, 4, "person"), (3, 7, "place")]))
    found = measure_nested(docs)
    assert found is not None
    assert (found.key, found.n_spans, found.n_inside, found.crossing) == ("sc", 12, 4, 1)
    assert dict(found.depths) == {0: 8, 1: 2, 2: 2}
    text = nested_text(found)
    assert "4 of the 12 spans in doc.spans['sc'] (33.3%) are inside another one" in text
    assert "2 at depth 1, 2 at depth 2" in text
    assert "one of the innermost spans loses 4 (33.3%)" in text
    assert "1 spans cross another one" in text
    assert measure_nested(corpus(0, 3)) is None


def test_outermost_spans_are_entities_where_there_are_none() -> None:
    docs = corpus(1, 1)
    assert [(e.start, e.end) for e in docs[0].ents] == [(0, 7), (8, 9)]
    docs[0].set_ents([])
    take_entities(docs)
    assert not docs[0].ents  # the other Doc has entities, so the corpus says what they are


def test_parts_are_counted() -> None:
    doc = doc_with(Vocab(), FLAT)
    assert discontinuous_text([doc]) is None
    doc.spans["sc"] = [Span(doc, s, e, "x", span_id=part_id("T1")) for s, e in ((0, 1), (3, 4))]
    text = discontinuous_text([doc])
    assert text is not None
    assert text.startswith("1 annotations are discontinuous: 2 parts.")


@pytest.mark.parametrize(("n_deep", "is_nested"), [(1, False), (4, True)])
def test_the_rules_go_by_the_share_of_spans_inside(n_deep: int, is_nested: bool) -> None:
    docs = corpus(n_deep, 100)
    profile = measure_profile(docs, docs[:10])
    suggestion = suggest(profile, {})
    pipeline = suggestion.config["nlp"]["pipeline"]
    assert ("cascade_levels" in pipeline) == is_nested
    names = {decision.name for decision in suggestion.decisions}
    assert ("nested" in names) == is_nested
    assert ("decoding" in names) != is_nested
    weights = suggestion.config["training"]["score_weights"]
    assert weights["ents_f"] == (0.0 if is_nested else 1.0)
    assert weights.get("spans_cascade_f") == (1.0 if is_nested else None)
    if is_nested:
        sections = suggestion.config["components"]
        assert {s["gold_key"] for s in sections.values()} == {"sc"}
        assert sections["cascade_segmenter"]["gold_level"] == "innermost"
        assert sections["cascade_classifier"]["prefer"] == "outermost"
        sigmas = {name: section["penalty"]["sigma"] for name, section in sections.items()}
        assert sigmas["cascade_levels"] == sigmas["cascade_segmenter"] > 0.2667
        assert not sections["cascade_levels"]["model"]["templates"]["words"]
        assert "are inside another one" in " ".join(suggestion.comments["components"])
        load_model_from_config(suggestion.config, auto_fill=True)


def test_a_network_is_for_words() -> None:
    config = make_config(Choices(nested="sc", network=True))
    networks = {name: s["model"]["network"] for name, s in config["components"].items()}
    assert networks.pop("cascade_levels") is None
    assert all(networks.values())


def test_other_recipes_have_no_levels() -> None:
    with pytest.raises(ConfigError, match="found by the recipe memb, not by ocr"):
        make_config(Choices(nested="sc", recipe=Recipe.ocr))


def test_commands_say_how_deep_it_is_and_train(tmp_path: Path) -> None:
    docs = [doc_with(Vocab(), DEEP) for _ in range(20)]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    config, train = str(tmp_path / "nested.cfg"), str(tmp_path / "train.spacy")
    written, _ = run_command("init", config, "--train", train, "--dev", train, "--lang", "en")
    assert "40 of the 80 spans in doc.spans['sc'] (50.0%) are inside another one" in written
    assert "cascade_levels" in load_config(config)["nlp"]["pipeline"]
    checked, _ = run_command("debug-data", config)
    assert "20 at depth 1, 20 at depth 2" in checked
