"""Column files: what is read, what is refused, and how the refusal is worded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.columns import (
    Document,
    ReadOptions,
    Sentence,
    read_columns,
)
from spacy_cascade.tools.formats.encodings import word_problem
from spacy_cascade.tools.formats.tags import LabelledSpan, Scheme

TWO_SENTENCES = "-DOCSTART-\tO\n\nIL-2\tB-DNA\ngene\tI-DNA\n\nNo\tO\n"
CONLL_2003 = (
    "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n"
    "Peter NNP I-NP I-PER\nSmith NNP I-NP I-PER\nhere RB B-NP O\n"
)


def read(tmp_path: Path, content: str | bytes, **options: object) -> list[Document]:
    path = tmp_path / "corpus.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_columns(path, ReadOptions(**options)))  # type: ignore[arg-type]


def words(documents: list[Document]) -> list[list[list[str]]]:
    return [[list(sentence.words) for sentence in doc.sentences] for doc in documents]


def test_words_spans_and_lines(tmp_path: Path) -> None:
    (document,) = read(tmp_path, TWO_SENTENCES)
    assert document == Document(
        (
            Sentence(("IL-2", "gene"), (LabelledSpan(0, 2, "DNA"),), line=3),
            Sentence(("No",), (), line=6),
        )
    )


def test_extra_columns_are_kept_on_request(tmp_path: Path) -> None:
    (document,) = read(tmp_path, CONLL_2003, pos_column=1, chunk_column=-2)
    first, second = document.sentences
    assert document.scheme == Scheme.IOB1
    assert first.pos == ("NNP", "VBZ")
    assert first.chunks == (LabelledSpan(0, 1, "NP"), LabelledSpan(1, 2, "VP"))
    assert second.spans == (LabelledSpan(0, 2, "PER"),)
    assert second.chunks == (LabelledSpan(0, 2, "NP"), LabelledSpan(2, 3, "NP"))
    (plain,) = read(tmp_path, CONLL_2003)
    assert (plain.sentences[0].pos, plain.sentences[0].chunks) == (None, None)


def test_chunks_have_a_scheme_of_their_own(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "a I-NP B-X\nb B-NP O\n", chunk_column=1, scheme=Scheme.IOB2)
    assert document.sentences[0].chunks == (LabelledSpan(0, 1, "NP"), LabelledSpan(1, 2, "NP"))


def test_words_may_stand_in_any_column(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "1 -DOCSTART- O\n1 B-X word\n", word_column=-1, tag_column=1)
    assert document.sentences[0].words == ("word",)
    assert document.sentences[0].spans == (LabelledSpan(0, 1, "X"),)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n \n\t\n\n",
        lambda text: "\n\n" + text.replace("\n\n", "\n \n\n\t \n"),
        lambda text: text.replace("\t", "  "),
        lambda text: text.replace("\tB-DNA", "\tB-DNA "),
    ],
    ids=["crlf", "bom", "no-final-newline", "end", "blank-lines", "spaces", "trailing-space"],
)
def test_layout_does_not_matter(tmp_path: Path, change: object) -> None:
    documents = read(tmp_path, change(TWO_SENTENCES))  # type: ignore[operator]
    assert words(documents) == [[["IL-2", "gene"], ["No"]]]
    assert documents[0].sentences[0].spans == (LabelledSpan(0, 2, "DNA"),)


@pytest.mark.parametrize(
    "mark", ["-DOCSTART-", "-DOCSTART-\tO", "-DOCSTART- -X- O", "###MEDLINE:7"]
)
def test_marks_begin_documents(tmp_path: Path, mark: str) -> None:
    text = f"a\tO\n{mark}\nb\tO\n\nc\tO\n\n{mark}\n\n{mark}\nd\tO\n{mark}\n"
    documents = read(tmp_path, text, n_sents=1)
    assert words(documents) == [[["a"]], [["b"], ["c"]], [["d"]]]


def test_hash_signs_are_words(tmp_path: Path) -> None:
    assert words(read(tmp_path, "# O\n### O\n#x O\n")) == [[["#", "###", "#x"]]]


@pytest.mark.parametrize(
    ("n_sents", "sizes"), [(10, [10, 3]), (1, [1] * 13), (0, [13]), (13, [13])]
)
def test_files_without_marks_are_grouped(tmp_path: Path, n_sents: int, sizes: list[int]) -> None:
    documents = read(tmp_path, "w O\n\n" * 13, n_sents=n_sents)
    assert [len(document.sentences) for document in documents] == sizes
    assert [doc.sentences[0].line for doc in documents][:2] == [1, 2 * sizes[0] + 1][: len(sizes)]


def test_separator_can_be_forced(tmp_path: Path) -> None:
    assert words(read(tmp_path, "New York B-X\n\t\n", separator="space")) == [[["New"]]]
    assert words(read(tmp_path, "New York\tB-X\n")) == [[["New York"]]]
    with pytest.raises(CorpusError, match="expected 2 columns as in line 1, but found 3"):
        read(tmp_path, "a O\nb O O\n")


@pytest.mark.parametrize(
    ("text", "options", "line", "parts"),
    [
        ("a\tO\nb\tX-foo\n", {}, 2, ["'X-foo' is not a tag", r"'b\tX-foo'", "--tag-column"]),
        ("a O\n\nb I-X\n", {"scheme": Scheme.IOB2}, 3, ["not continue a X", "'b I-X'", "iob1"]),
        ("a B-X\nb U-X\n", {}, 1, ["not closed", "'a B-X'", "--scheme"]),
        ("a B-X\n\n\nb B\n", {}, 4, ["has no type", "'b B'", "B-TYPE"]),
        ("a O\nb\n", {}, 2, ["expected 2 columns as in line 1, but found 1", "'b'", "--separator"]),
        ("a\tO\nb\tO\tO\n", {}, 2, ["expected 2 columns as in line 1, but found 3", r"'b\tO\tO'"]),
        ("a\n", {}, 1, ["words and tags are both in column 0 of 1", "'a'"]),
        (
            "\na O\n",
            {"tag_column": 2},
            2,
            ["--tag-column is 2, but", "has 2 columns", "'a O'"],
        ),
        ("a O\n", {"pos_column": -3}, 1, ["--pos-column is -3, but the line has 2 columns"]),
        ("a O O\n", {"word_column": 2}, 1, ["words and tags are both in column 2 of 3"]),
        ("a NN O\n", {"chunk_column": 1}, 1, ["'NN' is not a tag"]),
        ("a" * 500 + " X\n", {}, 1, ["'X' is not a tag", "'" + "a" * 120 + "'"]),
    ],
)
def test_errors_name_file_line_and_text(
    tmp_path: Path, text: str, options: dict[str, object], line: int, parts: list[str]
) -> None:
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, text, **options)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'corpus.txt'}:{line}: ")
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize("text", ["", "\n \n", "-DOCSTART- O\n"])
def test_a_file_without_words_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CorpusError, match=r"corpus.txt has no words"):
        read(tmp_path, text)


BAD_WORDS = "ok\tO\n\tO\n\xa0\tB-X\n".encode() + b"caf\xe9\tO\n \tO\n"


def test_bad_words_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, BAD_WORDS)
    message = str(caught.value)
    assert "has words that spaCy cannot use: 4 in all" in message
    assert "--on-bad-word replace" in message
    path = tmp_path / "corpus.txt"
    assert message.split("\n")[1:] == [
        f"  {path}:2: '' is empty",
        f"  {path}:3: '\\xa0' is only whitespace",
        f"  {path}:4: 'caf\\udce9' is not valid UTF-8",
        f"  {path}:5: ' ' is only whitespace",
    ]


def test_only_ten_bad_words_are_listed(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, "\tO\n\n" * 25)
    assert "cannot use: 25 in all" in str(caught.value)
    assert str(caught.value).count("\n") == 10


def test_bad_words_can_be_replaced(tmp_path: Path) -> None:
    (document,) = read(tmp_path, BAD_WORDS, on_bad_word="replace")
    (sentence,) = document.sentences
    assert sentence.words == ("ok", "\ufffd", "\ufffd", "caf\ufffd", "\ufffd")
    assert sentence.spans == (LabelledSpan(2, 3, "X"),)
    assert [text.split(":")[1] for text in sentence.replaced] == ["2", "3", "4", "5"]


def test_bad_part_of_speech_is_reported_too(tmp_path: Path) -> None:
    content = b"a\tN\xe9\tO\nb\t\tO\n"
    with pytest.raises(CorpusError, match="cannot use: 1 in all"):
        read(tmp_path, content, pos_column=1)
    (document,) = read(tmp_path, content, pos_column=1, on_bad_word="replace")
    assert document.sentences[0].pos == ("N\ufffd", "")
    read(tmp_path, content)


# Everything but line ends, tabs, lone surrogates, and the byte order mark, which is
# taken for what it says where a file begins with it.
usable_words = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\ufeff"), min_size=1
).filter(lambda word: word_problem(word) is None and not word.startswith("-DOCSTART-"))
part_of_speech = st.sampled_from(["NN", "VB", "-LRB-", ","])


@st.composite
def sentences(draw: st.DrawFn, in_words: st.SearchStrategy[str]) -> Sentence:
    chosen = draw(st.lists(in_words, min_size=1, max_size=6))
    kinds = draw(st.lists(st.sampled_from("OOX-"), min_size=len(chosen), max_size=len(chosen)))
    return Sentence(
        words=tuple(chosen),
        spans=tuple(LabelledSpan(i, i + 1, "X") for i, kind in enumerate(kinds) if kind == "X"),
        missing=tuple(i for i, kind in enumerate(kinds) if kind == "-"),
        pos=tuple(draw(part_of_speech) for _ in chosen),
    )


def write_columns(documents: list[list[Sentence]], separator: str) -> str:
    lines = []
    for document in documents:
        lines += ["-DOCSTART-", ""]
        for sentence in document:
            tags = ["O"] * len(sentence.words)
            for span in sentence.spans:
                tags[span.start] = f"B-{span.label}"
            for position in sentence.missing:
                tags[position] = "?"
            rows = zip(sentence.words, sentence.pos or (), tags, strict=True)
            lines += [separator.join(row) for row in rows] + [""]
    return "\n".join(lines)


@pytest.mark.parametrize("separator", ["\t", " "])
@seed(0)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_written_columns_come_back(tmp_path: Path, separator: str, data: st.DataObject) -> None:
    in_words = usable_words.filter(lambda word: separator == "\t" or " " not in word)
    in_document = st.lists(sentences(in_words), min_size=1, max_size=3)
    written = data.draw(st.lists(in_document, min_size=1, max_size=3))
    documents = read(tmp_path, write_columns(written, separator), pos_column=1)
    # The writer does not count lines.
    assert [[replace(s, line=1) for s in document.sentences] for document in documents] == written


IOB2 = "IL-2 B-DNA\ngene I-DNA\n\nthe O\np53 B-DNA\n\n"


def test_one_slip_in_a_file_of_iob2_is_named(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"txt:8: .*'STAT5 I-DNA' \(1 in all\), but 2"):
        (document,) = read(tmp_path, IOB2 + "a O\nSTAT5 I-DNA\n")
    assert document.scheme == Scheme.IOB1
    assert document.sentences[2].spans == (LabelledSpan(1, 2, "DNA"),)


def test_a_file_of_iob1_is_no_slip(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    assert read(tmp_path, CONLL_2003)[0].scheme == Scheme.IOB1
    assert read(tmp_path, IOB2 + "a O\nSTAT5 I-DNA\n", scheme=Scheme.IOB1)
    assert not list(recwarn)


def test_lines_with_only_a_byte_order_mark_are_blank(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "IL-2 B-DNA\n\ufeff\np53 B-DNA\n")
    assert words([document]) == [[["IL-2"], ["p53"]]]


@pytest.mark.parametrize("first", [0, 1])
def test_an_index_is_no_column_of_words(first: int, tmp_path: Path) -> None:
    rows = [f"{i + first} {word} O" for i, word in enumerate(["the", "p53", "gene"])]
    text = "\n".join(rows) + "\n\n" + rows[0] + "\n"
    with pytest.raises(CorpusError, match=r"txt:1: column 0 only numbers .*--word-column 1\."):
        read(tmp_path, text, word_column=0)
    with pytest.warns(UserWarning, match=r"txt: words are read from column 1: those before are"):
        assert words(read(tmp_path, text)) == [[["the", "p53", "gene"], ["the"]]]
    assert read(tmp_path, "1 O\n2 O\n\n7 O\n")  # numbers that count nothing


def test_a_header_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"txt:1: 'tag' is not a tag.* a header, delete it"):
        read(tmp_path, "word tag\n" + IOB2)


def test_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no text\. Give a UTF-8 file"):
        read(tmp_path, b"PK\0\0\xff")
    (tmp_path / "a.spacy").write_bytes(b"\0")
    with pytest.raises(CorpusError, match=r"a \.spacy file already"):
        list(read_columns(tmp_path / "a.spacy", ReadOptions()))
