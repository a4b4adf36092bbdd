"""Text to words: the same as the tokenizer alone makes."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from helpers import blank
from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.tools.words import splitting
from spacy_cascade.tools.words.splitting import (
    Splitter,
    TokenizerChoice,
    read_words,
    split_texts,
)
from unusual_texts import FEW

TEXTS = [
    "We don't know (yet) whether IL-2-induced NF-kappa/B binds e.g. at 5 km/h.",
    "See http://example.org/a,b?c=1, Fig. 3B–D; “quotes”… and cannot stop!!",
    " two  spaces\tand a tab ",
    "",
]


def words_of(nlp: Language, text: str) -> list[str]:
    return [token.text for token in nlp.make_doc(text) if not token.text.isspace()]


@pytest.fixture(scope="module")
def english() -> Language:
    return spacy.blank("en")


@pytest.mark.parametrize("lang", ["en", "de"])
def test_words_are_those_of_the_tokenizer(lang: str) -> None:
    nlp = spacy.blank(lang)
    splitter = Splitter(nlp)
    for _ in range(2):  # new pieces, then known ones
        lines = splitter.lines(TEXTS).decode().split("\n")
        assert [line.split(" ") if line else [] for line in lines[:-1]] == [
            words_of(nlp, text) for text in TEXTS
        ]


def test_a_tokenizer_that_looks_across_spaces() -> None:
    nlp = blank()
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=["whole", text, "\n"])
    assert Splitter(nlp).lines(["a b", "c"]) == b"whole\nwhole c\n"


def test_pieces_are_forgotten_when_there_are_too_many(
    english: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splitting, "_MOST_KNOWN", 2)
    splitter = Splitter(english)
    for text in ("a b c d", "(a) e", "a b"):
        splitter.lines([text])
    assert splitter.lines(["(a)"]) == b"( a )\n"
    assert len(splitter._known) <= 4


def test_a_very_long_piece_is_one_word(english: Language) -> None:
    piece = "a-" * 500
    assert Splitter(english).lines([f"x {piece}a"]).decode() == f"x {piece}a\n"
    assert Splitter(english).lines([piece]).decode().split() == words_of(english, piece)


def test_unusual_texts(english: Language) -> None:
    for name, text in FEW.items():
        expected = " ".join(word for word in words_of(english, text) if word.split() == [word])
        assert Splitter(english).lines([text]).decode() == f"{expected}\n", name


def test_tokenizers_of_a_config_and_of_a_pipeline(tmp_path: Path) -> None:
    section = {"@tokenizers": "spacy_cascade.PunctuationTokenizer.v1"}
    nlp = spacy.blank("en", config={"nlp": {"tokenizer": section}})
    nlp.meta.update(name="mine", version="1.2.3")
    nlp.config.to_disk(tmp_path / "a.cfg")
    nlp.to_disk(tmp_path / "model")
    for source in ("a.cfg", "model"):
        choice = TokenizerChoice(source=str(tmp_path / source))
        assert split_texts(choice, ["IL-2"]) == b"IL - 2\n"
        assert choice.describe()[:2] == ["en", nlp.config["nlp"]["tokenizer"]]
    assert choice.describe()[2:] == ["mine", "1.2.3"]
    assert split_texts(TokenizerChoice(), ["IL-2"]) == b"IL-2\n"
    assert len(TokenizerChoice().describe()) == 2


def test_a_registered_tokenizer() -> None:
    choice = TokenizerChoice("de", "spacy_cascade.PunctuationTokenizer.v1")
    assert split_texts(choice, ["IL-2"]) == b"IL - 2\n"
    assert choice.describe()[:2] == ["de", {"@tokenizers": choice.source}]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (TokenizerChoice("nolanguage"), "--lang nolanguage"),
        (TokenizerChoice(source="nowhere.cfg"), "--tokenizer nowhere.cfg"),
        (TokenizerChoice(source="nowhere"), "--tokenizer nowhere"),
    ],
)
def test_tokenizers_that_are_not_there(choice: TokenizerChoice, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        choice.load()


def test_docs_keep_their_own_words(tmp_path: Path) -> None:
    vocab = Vocab()
    docs = [Doc(vocab, words=["IL-2-induced", "\n", "a b", "("]), Doc(vocab)]
    DocBin(docs=docs).to_disk(tmp_path / "a.spacy")
    assert read_words(tmp_path / "a.spacy") == b"IL-2-induced (\n\n"
    (tmp_path / "a.spacy").write_bytes(b"damaged")
    with pytest.raises(CorpusError, match=r"a\.spacy cannot be read as a \.spacy file"):
        read_words(tmp_path / "a.spacy")
