"""`cascade_linker`: ids of entities, their candidates, and the component in and out of files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from helpers import blank, make_doc
from round_trips import WAYS
from spacy_cascade import Candidate, ConfigError, ModelFileError, NotTrainedError, TemplateError
from spacy_cascade.storage import model_file
from spacy_cascade.systems.dictionaries.linker import CascadeLinker

ROWS = "IL-2\tG1\tprotein\nil-2\tG2\nIL-2\tG3\tprotein\nIL-2 gene\tD1\tDNA\nIL-2\tG1\tprotein\n"


def linker(folder: Path, rows: str = ROWS, **settings: Any) -> tuple[Language, Any]:
    """A pipeline of a linker that has read a list."""
    path = folder / "genes.tsv"
    path.write_text(rows, encoding="utf8")
    nlp = blank()
    made = nlp.add_pipe("cascade_linker", config={"lists": {"genes": str(path)}, **settings})
    nlp.initialize()
    return nlp, made


def entity_doc(nlp: Language, text: str, *entities: tuple[int, int, str]) -> Doc:
    doc = make_doc(nlp.vocab, text)
    doc.set_ents([Span(doc, *entity) for entity in entities])
    return doc


def links(doc: Doc) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(e.kb_id_, [(c.id, c.score) for c in e._.candidates]) for e in doc.ents]


def test_as_written_first_and_then_in_lower_case(tmp_path: Path) -> None:
    nlp, made = linker(tmp_path)
    doc = entity_doc(nlp, "IL-2 Il-2 gene il-2", (0, 1, "protein"), (1, 3, "DNA"), (3, 4, "cell"))
    assert links(made(doc)) == [
        ("G1", [("G1", 1.0), ("G3", 1.0)]),
        ("D1", [("D1", 0.9)]),
        ("G2", [("G2", 1.0)]),
    ]
    assert doc.ents[1]._.candidates == [Candidate("D1", "IL-2 gene", 0.9, "DNA")]
    assert [t.ent_kb_id_ for t in doc] == ["G1", "D1", "D1", "G2"]


def test_similar_terms_where_none_is_equal(tmp_path: Path) -> None:
    rows = "interleukin 2\tG1\tprotein\nkinase\tG2\nIL-2 gene\tD1\tDNA\n"
    nlp, made = linker(tmp_path, rows, similarity=0.9)
    text = "Interleukins 2 Kinase interleukinz 2 other"
    entities = ((0, 2, "protein"), (2, 3, "cell"), (3, 5, "DNA"), (5, 6, "protein"))
    first, equal, other_label, unlike = links(made(entity_doc(nlp, text, *entities)))
    assert first[0] == "G1"
    assert 0.9 <= first[1][0][1] < 1
    assert equal == ("G2", [("G2", 0.9)])
    assert other_label == unlike == ("", [])
    (tmp_path / "genes.tsv").write_text("others\tG3\n", encoding="utf8")
    made.initialize(nlp=nlp)
    found = [kb_id for kb_id, _ in links(made(entity_doc(nlp, text, *entities)))]
    assert found == ["", "", "", "G3"]
    made.similarity = 1
    assert links(made(entity_doc(nlp, text, *entities)))[3] == ("", [])


def test_other_tokens_than_those_of_the_tokenizer(tmp_path: Path) -> None:
    """A term matches as split at spaces and as the tokenizer splits it; spaces do not count."""
    nlp, made = linker(tmp_path, "(IL-2) gene\tD1\n")
    for words in (["(IL-2)", "gene"], [t.text for t in nlp("(IL-2) gene")]):
        doc = Doc(nlp.vocab, words=[*words[:-1], "\n", words[-1]])
        doc.set_ents([Span(doc, 0, len(doc), "DNA")])
        assert made(doc).ents[0].kb_id_ == "D1"
    doc = entity_doc(nlp, "( IL-2) gene", (0, 3, "DNA"))
    assert links(made(doc)) == [("", [])]


@pytest.mark.parametrize(
    ("entity_labels", "expected"),
    [({}, ["G1", "", "G2"]), ({"genes": ["DNA"]}, ["", "G1", ""]), ({"genes": []}, ["", "", ""])],
)
def test_labels(entity_labels: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    rows = "a\tG1\tprotein\nb\tG2\n"
    nlp, made = linker(tmp_path, rows, entity_labels=entity_labels)
    doc = entity_doc(nlp, "a a b", (0, 1, "protein"), (1, 2, "DNA"), (2, 3, "cell"))
    assert [e.kb_id_ for e in made(doc).ents] == expected


def test_ids_that_are_there_already(tmp_path: Path) -> None:
    nlp, made = linker(tmp_path)
    for overwrite, expected in ((False, ["X", "X"]), (True, ["G1", "X"])):
        doc = make_doc(nlp.vocab, "IL-2 p53")
        doc.set_ents([Span(doc, i, i + 1, "protein", kb_id="X") for i in (0, 1)])
        made.overwrite = overwrite
        assert [e.kb_id_ for e in made(doc).ents] == expected
    assert nlp.config["components"]["cascade_linker"]["overwrite"] is True


def test_docs_without_entities_or_words(tmp_path: Path) -> None:
    nlp, made = linker(tmp_path)
    for text in ("", "IL-2", " \n "):
        assert made(nlp.make_doc(text)).ents == ()
    doc = nlp.make_doc(" \n ")
    doc.set_ents([Span(doc, 0, len(doc), "protein")])
    assert links(made(doc)) == [("", [])]


@settings(max_examples=15)
@given(
    rows=st.lists(
        st.tuples(
            st.lists(st.sampled_from(["a", "A", "b"]), min_size=1, max_size=2),
            st.sampled_from("123"),
            st.sampled_from(["", "x", "y"]),
        ),
        min_size=1,
        max_size=8,
    ),
    words=st.lists(st.sampled_from(["a", "A", "b", "B"]), min_size=2, max_size=2),
    label=st.sampled_from("xy"),
)
def test_against_a_search_through_the_list(
    rows: Any, words: list[str], label: str, tmp_path: Path
) -> None:
    nlp, made = linker(tmp_path, "".join(f"{' '.join(w)}\t{i}\t{la}\n" for w, i, la in rows))
    doc = made(entity_doc(nlp, " ".join(words), (0, 2, label)))
    expected: dict[str, float] = {}
    for score, change in ((1.0, str), (0.9, str.lower)):
        for term, its_id, its_label in rows:
            if list(map(change, term)) == list(map(change, words)) and its_label in ("", label):
                expected.setdefault(its_id, score)
        if expected:
            break
    assert links(doc) == [(next(iter(expected), ""), list(expected.items()))]


def ruled(folder: Path) -> Language:
    nlp, _ = linker(folder)
    ruler: Any = nlp.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "protein", "pattern": "IL-2"}])
    return nlp


EXPECTED = [("G1", [("G1", 1.0), ("G3", 1.0)])]


@pytest.mark.parametrize("way", WAYS)
def test_round_trips(way: Callable[[Language, Path], Language], tmp_path: Path) -> None:
    nlp, made = linker(tmp_path)
    (tmp_path / "genes.tsv").unlink()
    folder = tmp_path / "out"
    folder.mkdir()
    other = way(nlp, folder)
    found: Any = other.get_pipe("cascade_linker")
    assert links(found(entity_doc(other, "The IL-2 site", (1, 2, "protein")))) == EXPECTED
    assert found.to_bytes() == made.to_bytes()


@pytest.mark.slow(kind="fresh process")
def test_a_fresh_process(tmp_path: Path) -> None:
    ruled(tmp_path).to_disk(tmp_path / "out")
    (tmp_path / "genes.tsv").unlink()
    code = (
        "import spacy, sys; nlp = spacy.load(sys.argv[1]); doc = nlp('The IL-2 site'); "
        "print(doc.ents[0].kb_id_, doc.ents[0]._.candidates)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    candidate = Candidate("G1", "IL-2", 1.0, "protein")
    assert found.stdout.strip() == f"G1 {[candidate, candidate._replace(id='G3')]}"


def test_docs_in_files_processes_and_memory_zones(tmp_path: Path) -> None:
    nlp = ruled(tmp_path)
    docs = list(nlp.pipe(["The IL-2 site"] * 3, n_process=2))
    assert [links(doc) for doc in docs] == [EXPECTED] * 3
    stored = DocBin(docs=docs, store_user_data=True).to_bytes()
    (first, *_) = DocBin().from_bytes(stored).get_docs(blank().vocab)
    assert links(first) == EXPECTED
    assert links(docs[0][1:].as_doc(copy_user_data=True)) == EXPECTED
    for _ in range(2):
        with nlp.memory_zone():
            assert links(nlp("A new IL-2 site")) == EXPECTED
    assert "G1" not in nlp.vocab.strings or "G1" in [d.ents[0].kb_id_ for d in docs]


def test_a_generator_of_ones_own(tmp_path: Path) -> None:
    """Such as one by similarity, which is asked where nothing matches."""

    class First:
        def candidates(self, mentions: Sequence[Span]) -> list[list[Candidate]]:
            return [[Candidate("S", "stat", 0.5, "")] if m.text > "S" else [] for m in mentions]

    class Similar(CascadeLinker):
        @property
        def generators(self) -> Any:
            return (*super().generators, First())

    nlp, made = linker(tmp_path)
    made.to_disk(tmp_path / "saved")
    similar = Similar(nlp, "similar", made.cfg).from_disk(tmp_path / "saved")
    doc = entity_doc(nlp, "STAT5 IL-2 AP-1", *((i, i + 1, "protein") for i in range(3)))
    assert [e.kb_id_ for e in similar(doc).ents] == ["S", "G1", ""]


def test_errors(tmp_path: Path) -> None:
    nlp = blank()
    made: Any = nlp.add_pipe("cascade_linker")
    with pytest.raises(NotTrainedError, match="has not read its lists"):
        made(nlp.make_doc("IL-2"))
    with pytest.raises(ConfigError, match=r"has no lists.*\[components.cascade_linker\]"):
        made.initialize(nlp=nlp)
    made.lists = {"genes": str(tmp_path / "none.tsv")}
    with pytest.raises(TemplateError, match=r"lexicon 'genes'.*none\.tsv"):
        made.initialize(nlp=nlp)
    with pytest.raises(ConfigError, match="entity_labels for 'cells', but no such list"):
        made.entity_labels = {"cells": ["cell"]}
    with pytest.raises(ConfigError, match="'ids' has entity_labels for 'cells'"):
        CascadeLinker(nlp, "ids", {**made.cfg, "entity_labels": {"cells": ["cell"]}})
    with pytest.raises(TemplateError, match="Line 2 of the lexicon 'genes'"):
        linker(tmp_path, "p53\tG1\n\tG2\n")
    with pytest.raises(TemplateError, match=r"No term of the lexicon 'genes' has an id"):
        linker(tmp_path, "p53\nIL-2\n")
    unread: Any = blank().add_pipe("cascade_linker")
    with pytest.raises(NotTrainedError):
        _ = unread.from_bytes(unread.to_bytes()).generators


def test_damaged_files(tmp_path: Path, generator: Any) -> None:
    """Every changed byte is noticed, or changes nothing."""
    _, made = linker(tmp_path)
    data = made.to_bytes()
    for place in generator.integers(0, len(data), 100).tolist():
        damaged = bytearray(data)
        damaged[place] ^= 1 << (place % 8)
        try:
            made.from_bytes(bytes(damaged))
        except ModelFileError:
            continue
        assert made.to_bytes() == data
    for n in range(0, len(data), 97):
        with pytest.raises(ModelFileError):
            made.from_bytes(data[:n])


@pytest.mark.parametrize(
    ("header", "arrays", "message"),
    [
        ({"identity": {"lists": "genes"}}, {}, "no valid list of term lists"),
        ({"identity": {"lists": []}}, {}, "no valid list of term lists"),
        ({"labels": ["protein"]}, {}, "no valid list of term lists"),
        ({}, {"lower_keys": None}, "no valid array 'lower_keys'"),
        ({}, {"ends": np.zeros(1, np.uint8)}, "no valid array 'ends'"),
        ({}, {"more": np.zeros(1, np.int32)}, "unknown array 'more'"),
    ],
)
def test_files_of_other_content(header: Any, arrays: Any, message: str, tmp_path: Path) -> None:
    _, made = linker(tmp_path)
    data = made.to_bytes()
    its_header, its_arrays = model_file.unpack(data, "here")
    kept = {name: array for name, array in {**its_arrays, **arrays}.items() if array is not None}
    with pytest.raises(ModelFileError, match=message):
        made.from_bytes(model_file.pack({**its_header, **header}, kept))
    assert made.to_bytes() == data


def test_a_file_of_another_component(trained: Language, tmp_path: Path) -> None:
    _, made = linker(tmp_path)
    with pytest.raises(ModelFileError, match="kind 'cascade_linear_chain'"):
        made.from_bytes(trained.get_pipe("cascade_segmenter").to_bytes())
    with pytest.raises(ModelFileError, match="term_ids"):
        trained.get_pipe("cascade_segmenter").from_bytes(made.to_bytes())
