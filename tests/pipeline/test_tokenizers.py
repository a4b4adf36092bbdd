"""The project's tokenizers."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.util import registry

from helpers import blank
from spacy_cascade.errors import ConfigError

TEXT = "IL-2-induced NF-kappa B (p50/p65) binds, e.g. 1. don't  here.Next"


def with_tokenizer(name: str) -> Language:
    config = blank().config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": f"spacy_cascade.{name}.v1"}
    return type(blank()).from_config(config)


def test_names_stay_whole() -> None:
    tokenizer = registry.tokenizers.get("spacy_cascade.WholeNamesTokenizer.v1")()(blank())
    words = [token.text for token in tokenizer(TEXT)]
    assert {"IL-2-induced", "NF-kappa", "p50/p65", "(", ")", "here", "Next"} <= set(words)


@pytest.mark.parametrize("language", ["en", "de", "fr", "fi", "xx"])
def test_it_is_the_language_s_own_but_for_infixes(language: str) -> None:
    """The same rules, exceptions and words as where infixes are set afterwards."""
    nlp = spacy.blank(language)
    make = registry.tokenizers.get("spacy_cascade.WholeNamesTokenizer.v1")()
    own = make(nlp)
    twin = registry.tokenizers.get("spacy.Tokenizer.v1")()(nlp)
    twin.infix_finditer = own.infix_finditer
    assert own.to_bytes() == twin.to_bytes()
    text = f"{TEXT} C'est-à-dire l'homme z.B. 10km/h :-) U.S.A. (don't) http://a.b/c-d. a.Bc"
    assert [token.text for token in own(text)] == [token.text for token in twin(text)]


def test_nothing_is_split_but_at_spaces() -> None:
    tokenizer = registry.tokenizers.get("spacy_cascade.SpaceTokenizer.v1")()(blank())
    doc = tokenizer(TEXT)
    assert [t.text for t in doc if not t.is_space] == TEXT.split()
    assert doc.text == TEXT


def test_each_mark_is_a_token() -> None:
    tokenizer = registry.tokenizers.get("spacy_cascade.PunctuationTokenizer.v1")()(blank())
    text = "IL-2_a/b (p50). e.g. 1.5 don't http://a.b"
    marks = "-_/().'"
    expected = "".join(f" {c} " if c in marks + ":" else c for c in text).split()
    assert [token.text for token in tokenizer(text)] == expected


RULES = {
    "keep_before": ["-d", "#"],
    "keep_after": ["I.", "+"],
    "split_inside": ["/", "x-x"],
    "runs": ["...", "(U+0024"],
    "prefixes": ["l'"],
    "suffixes": ["n't"],
    "words": ["can not", "Inc."],
}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("(-5 -a #b)", "( -5 - a #b )"),
        ("J. U.S. JJ. CD4+ a.", "J. U.S. JJ . CD4+ a ."),
        ("a/b well-known IL-2 I-x", "a / b well - known IL-2 I-x"),
        ("no... a...b ($5 $5)", "no ... a ... b ($ 5 $ 5 )"),
        ("l'eau L'eau l'", "l' eau L' eau l '"),
        ("DON'T n't cannot (Inc.), Cannot", "DO N'T n't can not ( Inc. ) , Cannot"),
        ("http://example.com/c.", "http://example.com/c ."),
    ],
)
def test_rules_say_where_words_are_split(text: str, tokens: str) -> None:
    make = registry.tokenizers.get("spacy_cascade.RuleTokenizer.v1")
    doc = make(**RULES, exceptions=False)(blank())(text)
    assert [token.text for token in doc] == tokens.split()
    assert doc.text == text


def test_without_rules_marks_are_split_off_at_both_ends() -> None:
    make, nlp = registry.tokenizers.get("spacy_cascade.RuleTokenizer.v1"), spacy.blank("en")
    doc = make(exceptions=False, whole_addresses=False)(nlp)("(a-b), http://a.b ... don't")
    assert [t.text for t in doc] == ["(", "a-b", ")", ",", "http://a.b", ".", ".", ".", "don't"]
    assert [t.text for t in make()(nlp)("don't")] == ["do", "n't"]


@pytest.mark.parametrize("rule", ["", "x", "xx", "--", "y-x", "x-xx"])
def test_what_is_no_rule_is_refused(rule: str) -> None:
    make = registry.tokenizers.get("spacy_cascade.RuleTokenizer.v1")
    with pytest.raises(ConfigError, match=r"under split_inside in \[nlp.tokenizer\] is no rule"):
        make(split_inside=[rule])(blank())


def test_rules_come_back_from_disk(tmp_path: Path) -> None:
    config = blank().config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_cascade.RuleTokenizer.v1", **RULES}
    nlp = type(blank()).from_config(config)
    nlp.to_disk(tmp_path)
    text = "($5 well-known J. cannot"
    loaded = spacy.load(tmp_path)
    assert [t.text for t in loaded(text)] == [t.text for t in nlp(text)]
    assert loaded.config["nlp"]["tokenizer"].items() >= config["nlp"]["tokenizer"].items()


@pytest.mark.parametrize(
    "name", ["WholeNamesTokenizer", "SpaceTokenizer", "PunctuationTokenizer", "RuleTokenizer"]
)
def test_they_come_back(name: str) -> None:
    nlp = with_tokenizer(name)
    expected = [token.text for token in nlp(TEXT)]
    for copy in (
        type(blank()).from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert [token.text for token in copy(TEXT)] == expected
