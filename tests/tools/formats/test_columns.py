"""Column files as people have them: what is read, what is refused, and what is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from commands import run_command as run
from format_files import texts_in, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.columns import Document, ReadOptions, Sentence, read_columns
from spacy_cascade.tools.formats.encodings import word_problem
from spacy_cascade.tools.formats.tags import LabelledSpan, Scheme

TWO_SENTENCES = "-DOCSTART-\tO\n\nIL-2\tB-DNA\ngene\tI-DNA\n\nNo\tO\n"
CONLL_2003 = (
    "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n"
    "Peter NNP I-NP I-PER\nSmith NNP I-NP I-PER\nhere RB B-NP O\n"
)
IOB2 = "IL-2 B-DNA\ngene I-DNA\n\nthe O\np53 B-DNA\n\n"
OUTER_FIRST = "Lorn\tB-ORG\tB-LOC\nBank\tI-ORG\tO\nin\tO\tO\nKiel\tB-LOC\tO\n"
MIRA = ([["Mira", "ran"]], [("Mira", "PER")])


def read(
    tmp_path: Path, content: str | bytes, encoding: str | None = None, **options: Any
) -> list[Document]:
    path = written(tmp_path / "in.tsv", content)
    return list(read_columns(path, ReadOptions(**options), encoding))


def words(documents: Sequence[Document]) -> list[list[list[str]]]:
    return [[list(sentence.words) for sentence in doc.sentences] for doc in documents]


def sentences_of(documents: Sequence[Document]) -> list[list[str]]:
    return [sentence for document in words(documents) for sentence in document]


def entities(documents: Sequence[Document]) -> list[tuple[str, str]]:
    return [
        (" ".join(sentence.words[span.start : span.end]), span.label)
        for document in documents
        for sentence in document.sentences
        for span in sentence.spans
    ]


def test_words_spans_and_lines(tmp_path: Path) -> None:
    first = Sentence(("IL-2", "gene"), (LabelledSpan(0, 2, "DNA"),), line=3)
    expected = Document((first, Sentence(("No",), (), line=6)))
    assert read(tmp_path, TWO_SENTENCES) == [expected]


def test_extra_columns_are_kept_on_request(tmp_path: Path) -> None:
    (document,) = read(tmp_path, CONLL_2003, pos_column=1, chunk_column=-2)
    first, second = document.sentences
    assert (document.scheme, first.pos) == (Scheme.IOB1, ("NNP", "VBZ"))
    assert first.chunks == (LabelledSpan(0, 1, "NP"), LabelledSpan(1, 2, "VP"))
    assert second.spans == (LabelledSpan(0, 2, "PER"),)
    assert second.chunks == (LabelledSpan(0, 2, "NP"), LabelledSpan(2, 3, "NP"))
    (plain,) = read(tmp_path, CONLL_2003)
    assert (plain.sentences[0].pos, plain.sentences[0].chunks) == (None, None)


def test_chunks_have_a_scheme_of_their_own(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "a I-NP B-X\nb B-NP O\n", chunk_column=1, scheme=Scheme.IOB2)
    assert document.sentences[0].chunks == (LabelledSpan(0, 1, "NP"), LabelledSpan(1, 2, "NP"))


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
        lambda text: text.replace("\n\n", "\n\ufeff\n"),
        # A tab at the end of lines is no column.
        lambda text: text.replace("\n", "\t\n").replace("\n\t\n", "\n\n"),
        lambda text: text.replace("B-DNA", "B-DNA\t"),
        lambda text: text.replace("I-DNA", "I-DNA\t\t"),
        lambda text: text.replace("DNA\n", "DNA\t\t\r\n"),
    ],
    ids=["crlf", "bom", "no-final-newline", "end", "blank-lines", "spaces", "trailing-space",
         "bom-lines", "tabs", "a tab", "two tabs", "tabs-crlf"],
)  # fmt: skip
def test_layout_does_not_matter(tmp_path: Path, change: Any) -> None:
    documents = read(tmp_path, change(TWO_SENTENCES))
    assert words(documents) == [[["IL-2", "gene"], ["No"]]]
    assert entities(documents) == [("IL-2 gene", "DNA")]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("1 -DOCSTART- O\n1 B-X word\n", {"word_column": -1, "tag_column": 1}, [["word"]]),
        ("# O\n### O\n#x O\n", {}, [["#", "###", "#x"]]),
        ("#Mira\tB-PER\n#\tO\n\n# \t?\n##\tB-PER\nran\tB-LOC\n#now\tO\n", {},
         [["#Mira", "#"], ["# ", "##", "ran", "#now"]]),
        ("New York B-X\n\t\n", {"separator": "space"}, [["New"]]),
        ("New York\tB-X\n", {}, [["New York"]]),
        ("New York B-X\n", {"word_column": -3, "tag_column": 2}, [["New"]]),
        ("fr:Mira O\nfr:ran O\nran O\n", {}, [["fr:Mira", "fr:ran", "ran"]]),
        ("re: O\nfr:b O\n", {}, [["re:", "fr:b"]]),
        ("1 O\n2 O\n\n7 O\n", {}, [["1", "2"], ["7"]]),  # numbers that count nothing
        ("EU NNP B-NP B-ORG\nsays VB B-VP O\nit PRP B-NP O\n", {}, [["EU", "says", "it"]]),
    ],
)  # fmt: skip
def test_what_is_a_word(
    text: str, options: dict[str, Any], expected: list[list[str]], tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
) -> None:  # fmt: skip
    assert sentences_of(read(tmp_path, text, **options)) == expected
    assert not list(recwarn)


TOLD = {
    "as many columns": "#\thttp://a.example/1\t[2020]\nMira\tPER\tB-PER\nran\tO\tO\n",
    "an empty column more": "#\thttp://a.example/1\t[2020]\t\nMira\tx\tB-PER\nran\tx\tO\n",
    "before all": "# sent_id = 1\n# text = Mira ran\nMira B-PER\nran O\n",
    "with tabs": "# id\tmore\tand more\nMira B-PER\nran O\n",
    "as many fields as words": "# title\nMira B-PER\nran O\n",
    "MultiCoNER": "# id 07f4 domain=en\nMira _ _ B-PER\nran _ _ O\n",
    "a heading without a blank": "#Chapter one of it\nMira B-PER\nran O\n",
    "inside": "Mira B-PER\n# a note on the next word\nran O\n",
    "behind": "Mira\tB-PER\nran\tO\n#end document\n",
    "without a blank line": "# 1\nMira\tB-PER\nran\tO\n",
}


@pytest.mark.parametrize("what", TOLD)
@pytest.mark.filterwarnings("ignore:.*entity tags are read")
def test_comments_are_no_words_and_are_told(what: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"in\.tsv: lines that begin with # and have no tag are"):
        documents = read(tmp_path, TOLD[what])
    assert (sentences_of(documents), entities(documents)) == MIRA


@pytest.mark.parametrize(
    ("text", "told", "expected"),
    [
        ("# one\n#Mira O\n# B-X\n\n#two\nran O\n",
         "are read as comments: 2, the first is '# one' on line 1", [["#Mira", "#"], ["ran"]]),
        ("fr:Mira\tB-PER\nfr::\tO\nzh-min-nan:a:b\tO\n\nsimple:fr\tO\n",
         "languages before the words are left out, .* 'fr:Mira'", [["Mira", ":", "a:b"], ["fr"]]),
        ("a O\nb c O\nd O\n", "with blanks inside, .*: 1, the first is 'b c O' on line 2",
         [["a", "b c", "d"]]),
        ("10 000 O\nNew York B-LOC\n. O\nx O\ny O\n", "with blanks inside",
         [["10 000", "New York", ".", "x", "y"]]),
        ("Vitamin B 12 NN O\nx NN O\ny - z NN O\nw NN O\nv NN O\n", "with blanks inside",
         [["Vitamin B 12", "x", "y - z", "w", "v"]]),
        ("0 the O\n1 p53 O\n2 gene O\n\n0 the O\n", r"words are read from column 1: those before",
         [["the", "p53", "gene"], ["the"]]),
        ("1 the O\n2 p53 O\n3 gene O\n\n1 the O\n", r"words are read from column 1: those before",
         [["the", "p53", "gene"], ["the"]]),
        (IOB2 + "a O\nSTAT5 I-DNA\n", r"tsv:8: .*'STAT5 I-DNA' \(1 in all\), but 2",
         [["IL-2", "gene"], ["the", "p53"], ["a", "STAT5"]]),
        ("a NP B-X B-X\nb x O O\n", "entity tags are read from column 3", [["a", "b"]]),
        ("a B-X Q1\nb O _\n", "entity tags are read from column 1", [["a", "b"]]),
        ("a B-X O\nb O O\n", "entity tags are read from column 1", [["a", "b"]]),
        ("a B-X X1\nb O O\n", "entity tags are read from column 1", [["a", "b"]]),
        (OUTER_FIRST,
         "tags are read from column 1, which has 2 phrases; column 2 looks like tags, too, and "
         "has 1: --tag-column 2 reads it", [["Lorn", "Bank", "in", "Kiel"]]),
    ],
)  # fmt: skip
def test_what_was_chosen_is_told(
    text: str, told: str, expected: list[list[str]], tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match=told):
        assert sentences_of(read(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("EU NNP B-NP B-ORG\nsays VB B-VP O\nit PRP B-NP O\n", {}, [("EU", "ORG")]),
        (OUTER_FIRST, {"tag_column": 1}, [("Lorn Bank", "ORG"), ("Kiel", "LOC")]),
        (OUTER_FIRST, {"tag_column": -1}, [("Lorn", "LOC")]),
        (CONLL_2003, {}, [("EU", "ORG"), ("Peter Smith", "PER")]),
        (IOB2 + "a O\nSTAT5 I-DNA\n", {"scheme": Scheme.IOB1},
         [("IL-2 gene", "DNA"), ("p53", "DNA"), ("STAT5", "DNA")]),
        ("Mira person-artist\nT. person-artist\nof O\nQuexo ORG\nx LOC\n", {},
         [("Mira T.", "person-artist"), ("Quexo", "ORG"), ("x", "LOC")]),
        ("a S-Bahn\nb S-Bahn\nc B\n", {"scheme": Scheme.IO}, [("a b", "S-Bahn"), ("c", "B")]),
        ("Mira B-52 B-PER\nran x O\nfar y O\n", {}, [("Mira", "PER")]),  # one tag makes no column
    ],
)  # fmt: skip
def test_what_is_an_entity(
    text: str, options: dict[str, Any], expected: list[tuple[str, str]], tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
) -> None:  # fmt: skip
    assert entities(read(tmp_path, text, **options)) == expected
    assert not list(recwarn)


@pytest.mark.filterwarnings("ignore:.*entity tags are read", "ignore:.*a phrase begins with I-")
def test_the_fuller_column_of_tags_and_a_slip_are_read(tmp_path: Path) -> None:
    assert entities(read(tmp_path, OUTER_FIRST)) == [("Lorn Bank", "ORG"), ("Kiel", "LOC")]
    for text in ("a NP B-X B-X\nb x O O\n", "a B-X Q1\nb O _\n", "a B-X X1\nb O O\n"):
        assert entities(read(tmp_path, text)) == [("a", "X")]
    (document,) = read(tmp_path, IOB2 + "a O\nSTAT5 I-DNA\n")
    assert document.scheme == Scheme.IOB1
    assert entities([document])[2:] == [("STAT5", "DNA")]


@pytest.mark.parametrize(
    "mark",
    ["-DOCSTART-", "-DOCSTART-\tO", "-DOCSTART- -X- O", "###MEDLINE:7", "# newdoc id = 1",
     "#begin document (a); part 0", "# hipe2022:document_id = a", "# -DOCSTART-"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*comments")
def test_marks_begin_documents(tmp_path: Path, mark: str) -> None:
    text = f"a\tO\n{mark}\nb\tO\n\nc\tO\n\n{mark}\n\n{mark}\nd\tO\n{mark}\n"
    assert words(read(tmp_path, text, n_sents=1)) == [[["a"]], [["b"], ["c"]], [["d"]]]
    mark = mark.replace("\t", " ")
    documents = read(tmp_path, f"{mark}\n# text = a\na O\n\nb O\n\n{mark}\nc O\n")
    assert [len(document.sentences) for document in documents] == [2, 1]


@pytest.mark.parametrize(
    ("n_sents", "sizes"), [(10, [10, 3]), (1, [1] * 13), (0, [13]), (13, [13])]
)
def test_files_without_marks_are_grouped(tmp_path: Path, n_sents: int, sizes: list[int]) -> None:
    documents = read(tmp_path, "w O\n\n" * 13, n_sents=n_sents)
    assert [len(document.sentences) for document in documents] == sizes
    assert [doc.sentences[0].line for doc in documents][:2] == [1, 2 * sizes[0] + 1][: len(sizes)]


@pytest.mark.parametrize(
    ("text", "options", "line", "parts"),
    [
        ("# x y z\na B-X\n# x y z\nb Q-X\n", {}, 4, ["'Q-X' is not a tag"]),
        ("a\tO\nb\tX-foo\n", {}, 2, ["'X-foo' is not a tag", r"'b\tX-foo'", "--tag-column"]),
        ("a O\n\nb I-X\n", {"scheme": Scheme.IOB2}, 3, ["not continue a X", "'b I-X'", "iob1"]),
        ("a B-X\nb U-X\n", {}, 1, ["not closed", "'a B-X'", "--scheme"]),
        ("a B-X\n\n\nb B\n", {}, 4, ["has no type", "'b B'", "B-TYPE"]),
        ("a O\nb\n", {}, 2, ["expected 2 columns as in line 1, but found 1", "'b'", "--separator"]),
        ("a O\nb O O\n", {}, 2, ["expected 2 columns as in line 1, but found 3"]),
        ("a\tO\nb\tO\tO\n", {}, 2, ["expected 2 columns as in line 1, but found 3", r"'b\tO\tO'"]),
        ("a\tO\nb\tO\t\tx\n", {}, 2, ["expected 2 columns as in line 1, but found 4"]),
        ("a NN\nb c NN\n", {"tag_column": None}, 2, ["expected 2 columns", "found 3, in 'b c NN'"]),
        ("ran\tO\n#now\n", {}, 2, ["expected 2 columns", "found 1, in '#now'"]),
        ("ran\tB-X\n#now\tQ-X\n", {}, 2, ["'Q-X' is not a tag"]),
        ("a B-X\nb O O\nc O\n", {}, 2, []),
        ("a B-X\nb c\nc O\n", {}, 2, []),
        ("a B-X\nb O x\nc O\n", {}, 2, []),
        ("a\n", {}, 1, ["words and tags are both in column 0 of 1", "'a'"]),
        ("\na O\n", {"tag_column": 2}, 2, ["--tag-column is 2, but", "has 2 columns", "'a O'"]),
        ("a O\n", {"pos_column": -3}, 1, ["--pos-column is -3, but the line has 2 columns"]),
        ("a O O\n", {"word_column": 2}, 1, ["words and tags are both in column 2 of 3"]),
        ("0 a O\n1 b O\n2 c O\n", {"word_column": 0}, 1, ["column 0 only num", "--word-column 1."]),
        ("a NN O\n", {"chunk_column": 1}, 1, ["'NN' is not a tag"]),
        ("a" * 500 + " X\n", {}, 1, ["'X' is not a tag", "'" + "a" * 120 + "'"]),
        ("Mira\tB-PER\nran\t\n", {}, 2, ["'' is not a tag"]),
        ("word tag\n" + IOB2, {}, 1, ["'tag' is not a tag", "a header, delete it"]),
        ("a NN\nb VB\n", {}, 1, ["'NN' is not a tag"]),
        ("a O\nb .\nc NN\n", {}, 2, ["'.' is not a tag"]),
        ("word tag\nMira PER\nran O\n", {}, 1, ["'tag' is not a tag"]),
        ("a O\nb PER\nc B-PER\n", {}, 2, ["'PER' is not a tag"]),
        ("a O\nb B_PER\nc I_PER\n", {}, 2, ["'B_PER' is not a tag"]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*comments")
def test_errors_name_file_line_and_text(
    tmp_path: Path, text: str, options: dict[str, Any], line: int, parts: list[str]
) -> None:
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, text, **options)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'in.tsv'}:{line}: ")
    assert "\n" not in message
    assert [part for part in parts if part not in message] == []


BAD_WORDS = "ok\tO\n\tO\n\xa0\tB-X\n".encode() + b"caf\xe9\tO\n \tO\n"


def test_bad_words_are_an_error_or_replaced(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, BAD_WORDS)
    first, *listed = str(caught.value).split("\n")
    assert "has words that spaCy cannot use: 4 in all" in first
    assert "Correct them, or replace them with U+FFFD by --on-bad-word replace" in first
    path = tmp_path / "in.tsv"
    assert listed == [
        f"  {path}:2: '' is empty",
        f"  {path}:3: '\\xa0' is only whitespace",
        f"  {path}:4: 'caf\\udce9' is not valid UTF-8",
        f"  {path}:5: ' ' is only whitespace",
    ]
    with pytest.raises(CorpusError, match="cannot use: 25 in all") as caught:
        read(tmp_path, "\tO\n\n" * 25)
    assert str(caught.value).count("\n") == 10
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


TEXT = "Müller\tB-PER\nläuft\tO\n"


@pytest.mark.parametrize(
    ("encoding", "seeming"),
    [
        ("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("utf-32", None),
        ("latin-1", "cp1252"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be"),
    ],
)  # fmt: skip
def test_byte_order_marks_tell_the_encoding_others_are_named(
    encoding: str, seeming: str | None, tmp_path: Path
) -> None:
    data = TEXT.encode(encoding)
    if seeming is not None:
        with pytest.raises(CorpusError, match=f"is not UTF-8. It seems .* --encoding {seeming}"):
            read(tmp_path, data)
    assert words(read(tmp_path, data, seeming)) == [[["Müller", "läuft"]]]


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (TEXT.encode() + "é\tO\n".encode("latin-1"), None, "Correct them, or replace them with U"),
        (TEXT.encode(), "ascii", r"in\.tsv:1: the file is not ASCII"),
        (TEXT.encode(), "no", "There is no encoding 'no'"),
        (b"PK\0\0\xff", None, r"no text\. Give a UTF-8 file"),
        (b"", None, r"in\.tsv has no words"),
        (b"\n \n", None, r"in\.tsv has no words"),
        (b"-DOCSTART- O\n", None, r"in\.tsv has no words"),
    ],
)
def test_what_is_no_file_of_words_is_refused(
    data: bytes, encoding: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError, match=message):
        read(tmp_path, data, encoding)
    with pytest.raises(CorpusError, match=r"a \.spacy file already"):
        list(read_columns(written(tmp_path / "a.spacy", data), ReadOptions()))


def test_the_command_takes_an_encoding_and_columns(tmp_path: Path) -> None:
    source, output = tmp_path / "in.tsv", tmp_path / "out.spacy"
    source.write_bytes(OUTER_FIRST.replace("Kiel", "Köln").encode("latin-1"))
    assert "--encoding cp1252" in run("convert", source, output, exit_code=1)[1]
    stdout, stderr = run("convert", source, output, "--encoding", "cp1252")
    assert ("2 entities (ORG 1, LOC 1)" in stdout, "--tag-column 2" in stderr) == (True, True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_json_in_an_encoding_with_a_mark(encoding: str, tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", '{"text": "é", "spans": []}\r\n'.encode(encoding))
    assert [text.text for text in texts_in(source)] == ["é"]


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
@settings(max_examples=25)
@given(data=st.data())
def test_written_columns_come_back(tmp_path: Path, separator: str, data: st.DataObject) -> None:
    in_words = usable_words.filter(lambda word: separator == "\t" or " " not in word)
    in_document = st.lists(sentences(in_words), min_size=1, max_size=3)
    drawn = data.draw(st.lists(in_document, min_size=1, max_size=3))
    documents = read(tmp_path, write_columns(drawn, separator), pos_column=1)
    # The writer does not count lines.
    assert [[replace(s, line=1) for s in document.sentences] for document in documents] == drawn
