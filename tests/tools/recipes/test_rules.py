"""Which rule counts, on made corpora of each kind, and what variants change."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from spacy.vocab import Vocab
from thinc.api import Config

from made_corpora import made_doc, named_docs
from spacy_cascade.tools.recipes import Choices, Recipe, make_config
from spacy_cascade.tools.recipes.configs import with_filled
from spacy_cascade.tools.recipes.deciding import (
    Decision,
    Rule,
    Rules,
    Variant,
    change_of,
    decide,
    settings_of,
    value_text,
    variants_for,
)
from spacy_cascade.tools.recipes.profile import Profile, measure_profile
from spacy_cascade.tools.recipes.rules import (
    BY_CORPUS,
    FEW_DOCUMENTS,
    MANY_WORDS,
    USUAL_WORDS,
    with_more,
    without,
    without_words,
)
from spacy_cascade.tools.recipes.settings import get_setting, names_like, with_settings

SPLITTING, WHOLE = "spacy.Tokenizer.v1", "spacy_cascade.WholeNamesTokenizer.v1"
GERMAN = "Der Mann , der nicht in dem Haus war , sagte , dass es ihm und ihr auch noch gehört ."


@cache
def config_of(model: str) -> Config:
    return make_config(Choices(recipe=Recipe(model)))


def profile(**settings: Any) -> Profile:
    return measure_profile(named_docs(Vocab(), 6, 4, **settings))


def decided(seen: Profile, **given: Any) -> dict[str, Decision]:
    return {decision.name: decision for decision in decide(BY_CORPUS, seen, given)}


@pytest.mark.parametrize(
    ("extra", "tokenizer", "reason"),
    [
        ((), SPLITTING, "no hyphens"),
        (("IL-2", "T-cell"), WHOLE, "only 0%"),
        (("IL", "-", "2"), SPLITTING, "100% of the hyphens"),
        (("IL-2", "T", "-", "cell"), SPLITTING, "50% of the hyphens"),
    ],
)
def test_the_tokenizer_is_as_the_tokens_are(
    extra: tuple[str, ...], tokenizer: str, reason: str
) -> None:
    found = decided(profile(extra=extra))["tokenizer"]
    assert found.value == {"@tokenizers": tokenizer}
    assert reason in found.reason


def test_the_language_is_that_of_the_words() -> None:
    assert decided(profile(text=GERMAN))["lang"].value == "de"
    found = decided(profile(text="STAT5 kinase IL-2"))["lang"]
    assert (found.value, found.reason[:7]) == ("en", "assumed")


def test_few_and_many_words() -> None:
    seen = profile()
    assert decided(replace(seen, words=MANY_WORDS - 1))["min_count"].value == 1
    assert "min_count" not in decided(replace(seen, words=MANY_WORDS))
    assert "min_count" not in decided(seen, model="crf")


def test_a_semi_markov_cascade_gets_what_the_cascade_gets() -> None:
    for seen in (profile(), replace(profile(), words=10, documents=FEW_DOCUMENTS - 1)):
        one, other = decided(seen, model="semi"), decided(seen, model="memb")
        assert (one.pop("model").value, other.pop("model").value) == ("semi", "memb")
        assert one == other
        names = [
            [v.name for v in variants_for(BY_CORPUS, seen, model)] for model in ("semi", "memb")
        ]
        # Its segmenter has no place for a network.
        assert names[0] == [name for name in names[1] if name != "a network of words"]


def test_the_prior_is_wider_for_fewer_words() -> None:
    """By the eighth root; from the usual size on it is that of the recipe."""
    seen, by_size = profile(), []
    for words in (USUAL_WORDS - 1, USUAL_WORDS // 2**8):
        both = decided(replace(seen, words=words))["sigma"].value
        assert isinstance(both, dict)
        by_size.append((both["cascade_segmenter"], both["cascade_classifier"]))
    assert by_size[0] == pytest.approx((0.2667, 0.6325), rel=1e-3)
    assert by_size[1] == pytest.approx((2 * 0.2667, 2 * 0.6325), rel=1e-2)
    assert "sigma" not in decided(replace(seen, words=USUAL_WORDS))


def test_few_documents_show_little_that_recurs() -> None:
    seen = profile()
    few = decided(replace(seen, documents=FEW_DOCUMENTS - 1))["left out"].value
    assert few == {
        "cascade_segmenter": ["recurrence", "seen_"], "cascade_classifier": ["recurrence"]
    }  # fmt: skip
    assert "left out" not in decided(replace(seen, documents=FEW_DOCUMENTS))
    with_empty_ones = replace(seen, documents=FEW_DOCUMENTS, empty=1)
    assert decided(with_empty_ones)["left out"].value == few


def test_decoding_needs_a_dev_corpus_to_fit_on() -> None:
    docs = named_docs(Vocab())
    seen = measure_profile(docs, docs)
    assert decided(seen)["decoding"].value == "expected_f1"
    assert "decoding" not in decided(replace(seen, dev=None))


def test_sentences_or_none() -> None:
    """Documents of a sentence each are read as such, and a sentencizer finds them in use."""
    marked, unmarked = decided(profile()), decided(profile(is_marked=False))
    single = decided(measure_profile(named_docs(Vocab(), 24, 1)))
    found = [each["sentences"] for each in (marked, unmarked, single)]
    assert [each.value for each in found] == [False, False, True]
    reasons = ("by 0.3 to 1.4", "marks none", "1.0 sentences each")
    for each, reason in zip(found, reasons, strict=True):
        assert reason in each.reason


def test_a_config_for_sentences_finds_them_in_use() -> None:
    config = make_config(Choices(sentences=True, tags=True))
    assert config["nlp"]["pipeline"] == ["sentencizer", "cascade_segmenter", "cascade_classifier"]
    assert config["training"]["annotating_components"] == ["sentencizer"]
    assert config["training"]["score_weights"]["ents_f"] == 1.0
    assert config["training"]["score_weights"]["sents_f"] is None
    assert "tag@-2..2" in config["components"]["cascade_segmenter"]["model"]["templates"]["extra"]
    few = replace(profile(), words=1000)
    variants = {v.name: v for v in variants_for(BY_CORPUS, few, "memb")}
    change = change_of(config, BY_CORPUS, variants["spans and types in one phase"])
    assert change["nlp.pipeline"] == ["sentencizer", "cascade_segmenter"]


def test_what_is_given_wins() -> None:
    found = decided(profile(text=GERMAN), lang="fr", min_count=3)
    assert found["lang"] == Decision("lang", "fr", "as the command line says", True)
    assert found["min_count"].value == 3


@pytest.mark.parametrize("model", [recipe.value for recipe in Recipe])
@pytest.mark.parametrize("words", [10, 10 * MANY_WORDS])
def test_every_choice_has_a_place_and_a_reason(model: str, words: int) -> None:
    """For all models, and with every reason filled in."""
    seen = replace(profile(extra=("a-b",)), words=words)
    decisions = decide(BY_CORPUS, seen, {"model": model})
    config = config_of(model)
    settings = settings_of(config, BY_CORPUS, decisions)
    for decision in decisions:
        assert "{" not in decision.reason
        if decision.name in BY_CORPUS.places:
            assert settings[decision.name]
    with_settings(config, {k: v for made in settings.values() for k, v in made.items()})


def test_the_first_rule_that_holds_counts() -> None:
    rules = Rules(
        [
            Rule("a", where=lambda p: p.words > 10**9, choose=1, because="many"),
            Rule("a", choose=lambda p: p.documents, because="{value} of {p.documents}"),
            Rule("a", choose=3, because="never"),
            Rule("b", choose=4, because="of others", models=("ocr",)),
        ],
        {},
    )
    assert decide(rules, profile(), {}) == [Decision("a", 6, "6 of 6")]


def test_values_by_component() -> None:
    config = config_of("memb")
    rules = Rules([], {"sigma": "components.*.penalty.sigma"})
    both = {"cascade_segmenter": 0.5, "cascade_classifier": 0.25}
    found = settings_of(config, rules, [Decision("sigma", both, "")])["sigma"]
    assert sorted(found.values()) == [0.25, 0.5]
    only = settings_of(config, rules, [Decision("sigma", {"cascade_classifier": 1.0}, "")])
    assert list(only["sigma"]) == ["components.cascade_classifier.penalty.sigma"]
    without = config_of("ocr")
    assert names_like(without, "components.*.penalty.sigma") == []


@pytest.mark.parametrize("model", [recipe.value for recipe in Recipe])
@pytest.mark.parametrize("words", [10, 10 * MANY_WORDS])
def test_variants_change_something_that_is_there(model: str, words: int) -> None:
    config = config_of(model)
    variants = variants_for(BY_CORPUS, replace(profile(), words=words), model)
    assert variants
    assert len({variant.name for variant in variants}) == len(variants)
    changes = [change_of(config, BY_CORPUS, variant) for variant in variants]
    assert any(changes)
    for change in changes:
        assert all(get_setting(config, name) != value for name, value in change.items())
        with_settings(config, change)


def test_a_network_is_for_both_stages() -> None:
    variants = {v.name: v for v in variants_for(BY_CORPUS, profile(), "memb")}
    change = change_of(config_of("memb"), BY_CORPUS, variants["a network of words"])
    stages = ("cascade_segmenter", "cascade_classifier")
    assert change == {
        f"components.{stage}.model.network": {"@misc": "spacy_cascade.WordWindow.v1"}
        for stage in stages
    }
    having = with_settings(config_of("memb"), change)
    assert change_of(having, BY_CORPUS, variants["a network of words"]) == {}


def test_a_variant_of_what_is_there_already() -> None:
    config = make_config(Choices(small=True))
    assert change_of(config, BY_CORPUS, Variant("x", {"min_count": 1}, "")) == {}
    doubled = Variant("x", {"min_count": lambda n: 2 * n}, "")
    assert set(change_of(config, BY_CORPUS, doubled).values()) == {2}
    assert change_of(config, BY_CORPUS, Variant("x", {"a.b.c": 1}, "")) == {}


def test_a_variant_adds_to_a_list_and_takes_from_a_section_what_is_there() -> None:
    more = with_more("x")
    assert [more(None), more([]), more(["y"])] == [["x"], ["x"], ["y", "x"]]
    assert more(["x", "y"]) == ["x", "y"]
    fewer = without("x")
    assert fewer({"@misc": "set.v1"}) == {"@misc": "set.v1", "without": ["x"]}
    assert fewer({"@misc": "set.v1", "without": ["y"]})["without"] == ["y", "x"]
    written = {"@misc": "spacy_cascade.Templates.v1", "templates": ["x"]}
    assert fewer(written) == written, "it has no sets of which one is left out"
    assert without_words({"@misc": "set.v1"}) == {"@misc": "set.v1"}
    assert without_words({"@misc": "set.v1", "words": {"a": "b"}})["words"] == {}


def test_values_in_words() -> None:
    assert value_text({"@misc": "x.v1", "a": 1}) == "x.v1"
    assert value_text({"one": 0.5, "other": True}) == "one 0.5, other yes"
    assert [value_text(v) for v in ("a", 3, None, [1])] == ["a", "3", "null", "[1]"]


def test_one_type_and_ten_sentences_are_ruled_as_well() -> None:
    vocab = Vocab()
    one = measure_profile(named_docs(vocab, 1, 10, labels=("X",)))
    assert one.types == 1
    assert decide(BY_CORPUS, one, {})
    assert decide(BY_CORPUS, measure_profile([made_doc(vocab, [["a"]], [(0, 1, "X")])]), {})


def test_one_phase_in_place_of_two() -> None:
    """The classifier leaves the pipeline, and nothing more is tried with it."""
    config = config_of("memb")
    few = replace(profile(), words=1000)
    variants = {v.name: v for v in variants_for(BY_CORPUS, few, "memb")}
    change = change_of(config, BY_CORPUS, variants["spans and types in one phase"])
    changed = with_filled(config, change)
    assert changed["nlp"]["pipeline"] == list(changed["components"]) == ["cascade_segmenter"]
    assert changed["components"]["cascade_segmenter"]["typed"]
    later = change_of(with_settings(config, change), BY_CORPUS, variants["a wider prior"])
    assert list(later) == ["components.cascade_segmenter.penalty.sigma"]
    words = variants["the sentence's words as features of types"]
    assert change_of(with_settings(config, change), BY_CORPUS, words) == {}
