"""The corpus reader: words as they are, and what the task gives."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import registry

from helpers import blank
from spacy_cascade import ConfigError, CorpusError
from spacy_cascade.pipeline.readers import (
    check_corpus,
    examples_for,
    gold_inputs_of,
    input_doc,
    read_docs,
)

WORDS = ["can't", "stop", ".", "It", "runs", "."]
TAGS = ["MD", "VB", ".", "PRP", "VBZ", "."]
STARTS = [True, False, False, True, False, False]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path, vocab = tmp_path_factory.mktemp("corpus"), blank().vocab
    spaces = [True, False, True, True, False, False]
    ents = ["O", "O", "O", "B-X", "O", "O"]
    doc = Doc(vocab, words=WORDS, spaces=spaces, tags=TAGS, sent_starts=STARTS, ents=ents)
    bare = Doc(vocab, words=["no", "annotation"], spaces=[False, True])
    DocBin(docs=[doc, bare]).to_disk(tmp_path / "corpus.spacy")
    return tmp_path / "corpus.spacy"


def read(path: Path | None, **settings: object) -> list[Example]:
    reader = registry.resolve(
        {"c": {"@readers": "spacy_cascade.Corpus.v1", "path": path, **settings}}
    )
    return list(reader["c"](blank()))


def starts(doc: Doc) -> list[bool | None]:
    return [token.is_sent_start for token in doc]


def test_by_default_sentences_are_gold(path: Path) -> None:
    first, second = read(path)
    assert [token.text for token in first.predicted] == WORDS
    assert starts(first.predicted) == STARTS
    assert not first.predicted.has_annotation("TAG")
    assert not first.predicted.ents
    assert [e.label_ for e in first.reference.ents] == ["X"]
    assert second.predicted.text == second.reference.text == "noannotation "
    assert not second.predicted.has_annotation("SENT_START")


def test_tags_can_be_gold(path: Path) -> None:
    first, second = read(path, gold_inputs=["tags"])
    assert [token.tag_ for token in first.predicted] == TAGS
    assert not first.predicted.has_annotation("SENT_START")
    assert not second.predicted.has_annotation("TAG")


def test_words_alone_and_a_limit(path: Path) -> None:
    (only,) = read(path, gold_inputs=[], limit=1)
    assert [token.text for token in only.predicted] == WORDS
    assert not only.predicted.has_annotation("SENT_START")


def test_folders_are_read_like_files(path: Path) -> None:
    assert len(read(path.parent)) == 2


def test_what_cannot_be_read(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no gold input 'lemmas'. Known: sentences, tags"):
        read(path, gold_inputs=["lemmas"])
    with pytest.raises(ConfigError, match=r"needs a path. Set --paths.train"):
        read(None)
    with pytest.raises(CorpusError, match=r"no corpus at .*nowhere"):
        read(path.parent / "nowhere.spacy")


def test_only_spacy_files_and_folders_of_them_are_corpora(path: Path) -> None:
    check_corpus(path)
    check_corpus(path.parent)
    assert [len(doc) for doc in read_docs(path, blank().vocab)] == [len(WORDS), 2]
    assert len(read_docs(path.parent, blank().vocab)) == 2
    (path.parent / "sub").mkdir()
    table, damaged = path.parent / "sub" / "train.tsv", path.parent / "damaged.spacy"
    table.write_text("a O")
    damaged.write_text("a O")
    for wrong, message in [
        (path.parent / "sub", r"folder .*sub has no \.spacy files"),
        (table, r"train\.tsv is no \.spacy file.*convert .*train\.tsv train\.spacy$"),
        (path.parent / "nowhere.spacy", "There is no corpus at .*nowhere"),
        (damaged, r"damaged\.spacy cannot be read as a \.spacy file"),
    ]:
        with pytest.raises(CorpusError, match=message):
            read_docs(wrong, blank().vocab)


def test_a_doc_of_another_vocabulary(path: Path) -> None:
    reference = read(path)[0].reference
    vocab = blank().vocab
    doc = input_doc(reference, ("sentences", "tags"), vocab)
    assert doc.vocab is vocab
    assert [token.tag_ for token in doc] == TAGS


@pytest.mark.usefixtures("whole_tokenizers")
def test_examples_are_read_as_the_training_config_says(path: Path) -> None:
    nlp = spacy.blank("en")
    assert gold_inputs_of(nlp.config) is None
    assert [token.text for token in next(examples_for(nlp, path)).predicted][:2] == ["ca", "n't"]
    nlp.config["corpora"] = {
        "dev": {"@readers": "spacy_cascade.Corpus.v1", "path": None, "gold_inputs": ["tags"]}
    }
    assert gold_inputs_of(nlp.config) == ("tags",)
    predicted = next(examples_for(nlp, path)).predicted
    assert [token.tag_ for token in predicted] == TAGS
