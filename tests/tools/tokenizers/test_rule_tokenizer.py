"""A tokenizer whose rules stand in the config."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.util import registry

from helpers import blank
from spacy_cascade.errors import ConfigError
from spacy_cascade.tools.tokenizers.rule_tokenizer import TokenizerRules

RULES = {
    "keep_before": ["-d", "#"],
    "keep_after": ["I.", "+"],
    "split_inside": ["/", "x-x"],
    "runs": ["..", "...", "(U+0024"],
    "prefixes": ["l'", "l'a-"],
    "suffixes": ["n't"],
    "words": ["can not", "Inc."],
}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("(-5 -a #b)", "( -5 - a #b )"),
        ("J. U.S. JJ. CD4+ a.", "J. U.S. JJ . CD4+ a ."),
        ("a/b well-known IL-2 I-x", "a / b well - known IL-2 I-x"),
        ("no... a...b ...c a..b ($5 $5)", "no ... a ... b ... c a .. b ($ 5 $ 5 )"),
        ("l'eau L'eau l' l'a-eau", "l' eau L' eau l ' l'a- eau"),
        ("DON'T n't cannot (Inc.), Cannot", "DO N'T n't can not ( Inc. ) , Cannot"),
        ("http://a.bc/d.", "http://a.bc/d ."),
    ],
)
def test_rules_say_where_words_are_split(text: str, tokens: str) -> None:
    make = registry.tokenizers.get("spacy_cascade.RuleTokenizer.v1")
    doc = make(**RULES, exceptions=False)(blank())(text)
    assert [token.text for token in doc] == tokens.split()
    assert doc.text == text


@pytest.mark.usefixtures("whole_tokenizers")
def test_without_rules_marks_are_split_off_at_both_ends() -> None:
    make, nlp = registry.tokenizers.get("spacy_cascade.RuleTokenizer.v1"), spacy.blank("en")
    doc = make(exceptions=False, whole_addresses=False)(nlp)("(a-b), http://a.b ... don't")
    assert [t.text for t in doc] == ["(", "a-b", ")", ",", "http://a.b", ".", ".", ".", "don't"]
    assert [t.text for t in make()(nlp)("don't")] == ["do", "n't"]
    split = make(split_inside=["/"], whole_addresses=False)(nlp)
    assert [t.text for t in split("http://a.bc")] == ["http:", "/", "/", "a.bc"]


@pytest.mark.parametrize(
    "options",
    [{}, {"whole_addresses": False, "runs": ["a"]}, {"exceptions": False, "words": ["b"]}],
)
def test_a_section_has_the_options_that_are_not_at_their_defaults(options: dict) -> None:
    name = {"@tokenizers": "spacy_cascade.RuleTokenizer.v1"}
    assert TokenizerRules(**options).section() == {**name, **options}


@pytest.mark.parametrize(
    ("where", "rule"),
    [
        *(("split_inside", rule) for rule in ("", "x", "xx", "--", "y-x", "x-xx")),
        ("keep_before", "x-"),
        ("keep_after", "-x"),
    ],
)
def test_what_is_no_rule_is_refused(where: str, rule: str) -> None:
    make = registry.tokenizers.get("spacy_cascade.RuleTokenizer.v1")
    message = rf"^'{rule}' under {where} in \[nlp.tokenizer\] is no rule"
    with pytest.raises(ConfigError, match=message):
        make(**{where: [rule]})(blank())


def test_rules_come_back_from_disk(tmp_path: Path) -> None:
    config = blank().config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_cascade.RuleTokenizer.v1", **RULES}
    nlp = type(blank()).from_config(config)
    nlp.to_disk(tmp_path)
    text = "($5 well-known J. cannot"
    loaded = spacy.load(tmp_path)
    assert [t.text for t in loaded(text)] == [t.text for t in nlp(text)]
    assert loaded.config["nlp"]["tokenizer"].items() >= config["nlp"]["tokenizer"].items()
