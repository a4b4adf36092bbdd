"""The project's tokenizers."""

from __future__ import annotations

import pickle

import pytest
import spacy
from spacy.language import Language
from spacy.util import registry

from helpers import blank

TEXT = "IL-2-induced NF-kappa B (p50/p65) binds, e.g. 1. don't  here.Next"


def with_tokenizer(name: str) -> Language:
    config = blank().config.copy()
    config["nlp"]["tokenizer"] = {"@tokenizers": f"spacy_cascade.{name}.v1"}
    return type(blank()).from_config(config)


def test_names_stay_whole() -> None:
    tokenizer = registry.tokenizers.get("spacy_cascade.WholeNamesTokenizer.v1")()(blank())
    words = [token.text for token in tokenizer(TEXT)]
    assert {"IL-2-induced", "NF-kappa", "p50/p65", "(", ")", "here", "Next"} <= set(words)


@pytest.mark.parametrize("language", ["en", "fi", "xx"])
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
    kinds = [kind for kind, _ in tokenizer.explain("(a-b)")]
    assert kinds == ["PREFIX", "TOKEN", "INFIX", "TOKEN", "SUFFIX"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("กำ เที่ยว,IL-2", "กำ| |เ|ที่|ย|ว|,|IL-2"),
        ("艾达Ada在(U.S.A.)罗马。", "艾|达|Ada|在|(|U.S.A.|)|罗|马|。"),
        ("ကျွန်တော်", "ကျွ|န်|တော်"),
        ("ភាសា", "ភា|សា"),
        ("か\u3099ｶﾞ \u3000東  x", "か\u3099|ｶﾞ| |\u3000|東| | |x"),
        ("བོད་ཡིག།", "བོ|ད|་|ཡི|ག|།"),
    ],
)
def test_characters_of_scripts_without_spaces(text: str, expected: str) -> None:
    """Marks stay with their character; the rest is as the language splits it."""
    doc = registry.tokenizers.get("spacy_cascade.CharacterTokenizer.v1")()(spacy.blank("en"))(text)
    assert doc.text == text
    pieces = [piece for token in doc for piece in (token.text, token.whitespace_) if piece]
    assert "|".join(pieces) == expected


@pytest.mark.parametrize("text", [TEXT, "", " a  b\n\n", "C'est-à-dire l'homme z.B. 10km/h :-)"])
def test_other_text_is_split_by_the_language(text: str) -> None:
    nlp = spacy.blank("en")
    doc = registry.tokenizers.get("spacy_cascade.CharacterTokenizer.v1")()(nlp)(text)
    assert [token.text_with_ws for token in doc] == [token.text_with_ws for token in nlp(text)]


@pytest.mark.parametrize(
    "name",
    [
        "WholeNamesTokenizer", "SpaceTokenizer", "PunctuationTokenizer", "RuleTokenizer",
        "CharacterTokenizer",
    ],
)  # fmt: skip
def test_they_come_back(name: str) -> None:
    nlp = with_tokenizer(name)
    expected = [token.text for token in nlp(TEXT)]
    for copy in (
        type(blank()).from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert [token.text for token in copy(TEXT)] == expected
