"""Column files with several columns of entity tags, one for each level of nesting."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from commands import run_command as run
from format_files import docs_in, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.columns import Document, ReadOptions, read_columns
from spacy_cascade.tools.formats.docs import to_docs
from spacy_cascade.tools.formats.tags import Scheme

GERM_EVAL = (
    "# http://a.example [2009-10-17]\n"
    "1\tDie\tO\tO\n2\tKieler\tB-LOCderiv\tO\n3\tBank\tB-ORG\tO\n4\tKiel\tI-ORG\tB-LOC\n\n"
    "# http://b.example [2009-10-18]\n"
    "1\tUniversität\tB-ORG\tO\n2\tKiel\tI-ORG\tB-LOC\n3\tin\tO\tO\n4\tKiel\tB-LOC\tO\n"
)
THREE = "a B-X O O\nb I-X B-X B-Y\nc I-X I-X O\nd B-Y O O\n"
EQUAL = "a B-X B-Y\nb I-X I-Y\nc B-Y O\nd B-Y O\n"

Spans = list[tuple[int, int, str]]


def read(tmp_path: Path, text: str, **options: Any) -> tuple[list[Document], str]:
    """The documents, and what was told of columns."""
    path = written(tmp_path / "in.tsv", text)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        documents = list(read_columns(path, ReadOptions(has_levels=True, **options)))
    told = [str(one.message) for one in noted]
    return documents, "\n".join(one for one in told if "entity tags" in one)


def spans(documents: list[Document]) -> list[Spans]:
    return [
        [(span.start, span.end, span.label) for span in sentence.spans]
        for document in documents
        for sentence in document.sentences
    ]


def one_doc(documents: list[Document]) -> Doc:
    (doc,) = to_docs(documents, Vocab(), spans_key="sc")
    return doc


def bounds(found: Any) -> Spans:
    return [(span.start, span.end, span.label_) for span in found]


def test_each_column_is_a_level(tmp_path: Path) -> None:
    documents, told = read(tmp_path, GERM_EVAL)
    assert spans(documents) == [
        [(1, 2, "LOCderiv"), (2, 4, "ORG"), (3, 4, "LOC")],
        [(0, 2, "ORG"), (1, 2, "LOC"), (3, 4, "LOC")],
    ]
    assert "column 2, which has 4 phrases; column 3, which has 2, is a further level" in told
    documents, told = read(tmp_path, THREE)
    assert spans(documents) == [[(0, 3, "X"), (1, 3, "X"), (1, 2, "Y"), (3, 4, "Y")]]
    assert told.count("is a further level of nesting") == 2


def test_inner_columns_may_stand_first(tmp_path: Path) -> None:
    """The innermost spans first, as some files of GENIA have them: the levels are the same."""
    inner_first = "a B-Y B-X\nb O I-X\nc B-X I-X\nd B-Y O\ne O O\n"
    documents, told = read(tmp_path, inner_first)
    assert spans(documents) == [[(0, 3, "X"), (0, 1, "Y"), (2, 3, "X"), (3, 4, "Y")]]
    assert "is a further level" in told


@pytest.mark.parametrize(("columns", "labels"), [((1, 2), ["X", "Y"]), ((-1, 1), ["Y", "X"])])
def test_spans_with_equal_bounds_have_the_order_of_their_columns(
    columns: tuple[int, ...], labels: list[str], tmp_path: Path
) -> None:
    documents, told = read(tmp_path, EQUAL, tag_column=columns)
    assert told == ""
    assert spans(documents)[0][:2] == [(0, 2, label) for label in labels]
    doc = one_doc(documents)
    assert bounds(doc.spans["sc"])[:2] == [(0, 2, label) for label in labels]
    assert bounds(doc.ents)[0] == (0, 2, labels[0])


NO_LEVELS = {
    "chunks": "EU B-NP B-ORG\nsays B-VP O\nthe B-NP O\nAda I-NP B-PER\n",
    "chunks, some with odd names": "EU B-NP B-ORG\nsays B-VP O\nit B-NPX O\nAda B-NP B-PER\n",
    "chunks with other names": "EU B-N B-ORG\nsays B-V O\nthe B-N O\nAda I-N B-PER\n",
    "predictions": "EU B-ORG B-ORG\nthe O B-PER\nAda B-PER I-PER\nof O O\nRome B-LOC B-LOC\n",
    "another scheme": "EU B-ORG U-ORG\nsays O O\nAda B-PER B-PER\nL. I-PER L-PER\n",
    "finer types": "EU B-ORG B-ORG.admin\nsays O O\nAda B-PER B-PER.ind\n",
    "roles": "EU B-ARG B-ORG\nsays B-V O\nAda B-ARG B-PER\n",
    "types alone": "EU B-ORG O\nKiel I-ORG LOC\nsays O O\nRome B-LOC O\nAda B-PER O\n",
    "elsewhere": "EU B-ORG O\nsays O B-ORG\nAda B-PER O\n",
}  # fmt: skip


@pytest.mark.parametrize("what", NO_LEVELS)
def test_other_tags_are_no_level_and_that_is_told(what: str, tmp_path: Path) -> None:
    documents, told = read(tmp_path, NO_LEVELS[what])
    assert all(
        after[0] >= before[1] for found in spans(documents) for before, after in pairwise(found)
    )
    assert "is a further level" not in told
    if what in ("chunks", "chunks, some with odd names"):
        assert told == ""
    else:
        assert "but not like a level of nesting: --tag-column 1,2 reads it, too" in told


def test_a_column_with_something_else_is_no_level(tmp_path: Path) -> None:
    for name in ("pos_column", "chunk_column"):
        documents, told = read(tmp_path, THREE, **{name: 2})
        assert spans(documents) == [[(0, 3, "X"), (1, 2, "Y"), (3, 4, "Y")]]
        assert "column 2" not in told
        with pytest.raises(CorpusError, match="column 2 cannot have tags of entities and of som"):
            read(tmp_path, THREE, tag_column=(1, 2), **{name: -2})
        (document,), _ = read(tmp_path, THREE, tag_column=2, **{name: 2})
        assert spans([document]) == [[(1, 3, "X")]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((1, 1), "--tag-column names column 1 twice"),
        ((3, -1), "--tag-column names column 3 twice"),
        ((1, 4), "--tag-column is 4, but the line has 4 columns"),
        ((0, 1), "words and tags are both in column 0 of 4"),
    ],
)
def test_columns_that_cannot_be(columns: tuple[int, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=f"in.tsv:1: {message}, in 'a B-X O O'"):
        read(tmp_path, THREE, tag_column=columns)


def test_levels_have_one_scheme(tmp_path: Path) -> None:
    text = "a B-X O\nb I-X B-X\nc L-X L-X\nd U-X O\n"
    (document,), _ = read(tmp_path, text)
    assert document.scheme == Scheme.BILOU
    assert spans([document]) == [[(0, 3, "X"), (1, 3, "X"), (3, 4, "X")]]


def test_a_bad_tag_of_any_level_leaves_the_sentence_out(tmp_path: Path) -> None:
    path = written(tmp_path / "in.tsv", "a B-X O\nb I-X Q\n\nc B-X B-X\n\nd I O\ne O Q\n")
    errors: list[CorpusError] = []
    options = ReadOptions(tag_column=(1, 2))
    found = list(read_columns(path, options, on_bad=errors.append))
    assert [str(error).split(",")[0] for error in errors] == [
        f"{path}:6: tag 'I' has no type", f"{path}:2: 'Q' is not a tag",
    ]  # fmt: skip
    assert spans(found) == [[(0, 1, "X"), (0, 1, "X")]]


def test_what_overlaps_or_is_open_in_a_level_is_not_annotated(tmp_path: Path) -> None:
    text = "a B-X O\nb I-X B-X\nc I-X I-X\nd O I-X\ne - O\nf O ?\ng B-X -\nh O O\n"
    documents, _ = read(tmp_path, text, tag_column=(1, 2))
    doc = one_doc(documents)
    assert bounds(doc.ents) == [(0, 3, "X"), (6, 7, "X")]
    assert bounds(doc.spans["sc"]) == [(0, 3, "X"), (1, 4, "X"), (6, 7, "X")]
    assert [token.text for token in doc if not token.ent_iob_] == ["d", "e", "f"]


def test_without_a_group_one_column_is_read_and_the_others_are_told(tmp_path: Path) -> None:
    source, output = written(tmp_path / "in.tsv", THREE), tmp_path / "out.spacy"
    stdout, stderr = run("convert", source, output)
    assert "2 further columns with tags are left out: --spans-key sc --tag-column 1,2,3" in stderr
    assert "2 entities (X 1, Y 1)" in stdout
    assert "overlapping" not in stdout
    (doc,) = docs_in(output)
    assert dict(doc.spans) == {}
    assert (
        "1 further column with tags is left out"
        in run("convert", source, output, "--pos-column", 2)[1]
    )


def test_a_group_gets_all_levels(tmp_path: Path) -> None:
    source, output = written(tmp_path / "in.tsv", THREE), tmp_path / "out.spacy"
    for options in ((), ("--tag-column", "1,2,3"), ("--tag-column", "-3,-2, -1")):
        stdout, _ = run("convert", source, output, "--spans-key", "sc", *options)
        assert "No entity for 2 spans overlapping another span; doc.spans has them" in stdout
        assert "2 entities (X 1, Y 1)" in stdout
        (doc,) = docs_in(output)
        assert bounds(doc.spans["sc"]) == [(0, 3, "X"), (1, 3, "X"), (1, 2, "Y"), (3, 4, "Y")]
    run("convert", source, output, "--spans-key", "sc", "--tag-column", "-1")
    (doc,) = docs_in(output)
    assert bounds(doc.spans["sc"]) == [(1, 2, "Y")]


def test_options_of_levels_that_cannot_be(tmp_path: Path) -> None:
    source, output = written(tmp_path / "in.tsv", THREE), tmp_path / "out.spacy"
    error = run("convert", source, output, "--tag-column", "1,2", exit_code=1)[1]
    assert "--tag-column 1,2 names several levels" in error
    assert "--spans-key sc" in error
    for bad in ("x", "1,,2", "1.5", ""):
        error = run("convert", source, output, "--tag-column", bad, exit_code=2)[1]
        assert "is not a valid integer. Give a number, or several" in " ".join(
            error.replace("│", " ").split()
        )
    assert not output.exists()
