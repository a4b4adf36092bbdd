"""Column files as people have them: comments, further columns, other encodings."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import run_command as run
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.columns import Document, ReadOptions, read_columns
from spacy_cascade.tools.formats.tags import Scheme

Found = list[list[tuple[str, str]]]


def read(tmp_path: Path, content: str | bytes, encoding: str | None = None) -> list[Document]:
    path = tmp_path / "in.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_columns(path, ReadOptions(), encoding))


def words(documents: list[Document]) -> list[list[str]]:
    return [list(sentence.words) for document in documents for sentence in document.sentences]


def entities(documents: list[Document]) -> list[tuple[str, str]]:
    return [
        (" ".join(sentence.words[span.start : span.end]), span.label)
        for document in documents
        for sentence in document.sentences
        for span in sentence.spans
    ]


COMMENTS = {
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


@pytest.mark.parametrize("what", COMMENTS)
@pytest.mark.filterwarnings("ignore:.*entity tags are read")
def test_comments_are_no_words_and_are_told(what: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"in\.tsv: lines that begin with # and have no tag are"):
        found = read(tmp_path, COMMENTS[what])
    assert (words(found), entities(found)) == ([["Mira", "ran"]], [("Mira", "PER")])


def test_words_that_begin_with_a_hash_are_words(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    text = "#Mira\tB-PER\n#\tO\n\n# \t?\n##\tB-PER\nran\tB-LOC\n#now\tO\n"
    assert words(read(tmp_path, text)) == [["#Mira", "#"], ["# ", "##", "ran", "#now"]]
    assert not list(recwarn)


def test_words_and_comments_may_both_begin_with_a_hash(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="are read as comments: 2, the first is '# one' on line 1"):
        found = read(tmp_path, "# one\n#Mira O\n# B-X\n\n#two\nran O\n")
    assert words(found) == [["#Mira", "#"], ["ran"]]


def test_a_hashtag_whose_columns_are_wrong_is_an_error_within_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"in\.tsv:2: expected 2 columns .* found 1, in '#now'"):
        read(tmp_path, "ran\tO\n#now\n")
    with pytest.raises(CorpusError, match=r"in\.tsv:2: 'Q-X' is not a tag"):
        read(tmp_path, "ran\tB-X\n#now\tQ-X\n")


@pytest.mark.parametrize(
    "mark",
    ["# newdoc id = 1", "#begin document (a); part 0", "# hipe2022:document_id = a",
     "###MEDLINE:1", "# -DOCSTART-", "-DOCSTART- X O"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*comments")
def test_marks_in_comments_begin_documents(mark: str, tmp_path: Path) -> None:
    found = read(tmp_path, f"{mark}\n# text = a\na O\n\nb O\n\n{mark}\nc O\n")
    assert [len(document.sentences) for document in found] == [2, 1]


def test_lines_are_counted_with_comments(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"in\.tsv:4: 'Q-X' is not a tag"):
        read(tmp_path, "# x y z\na B-X\n# x y z\nb Q-X\n")


def test_languages_before_words_are_left_out(tmp_path: Path) -> None:
    text = "fr:Mira\tB-PER\nfr::\tO\nzh-min-nan:a:b\tO\n\nsimple:fr\tO\n"
    with pytest.warns(UserWarning, match="languages before the words are left out, .* 'fr:Mira'"):
        assert words(read(tmp_path, text)) == [["Mira", ":", "a:b"], ["fr"]]


@pytest.mark.parametrize("text", ["fr:Mira O\nfr:ran O\nran O\n", "re: O\nfr:b O\n"])
def test_words_with_a_colon_stay(text: str, tmp_path: Path) -> None:
    assert words(read(tmp_path, text))[0][0] in ("fr:Mira", "re:")


def test_types_without_prefixes(tmp_path: Path) -> None:
    (document,) = read(tmp_path, "Mira person-artist\nT. person-artist\nof O\nQuexo ORG\nx LOC\n")
    assert document.scheme == Scheme.IO
    assert entities([document]) == [
        ("Mira T.", "person-artist"), ("Quexo", "ORG"), ("x", "LOC"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a NN\nb VB\n", "'NN'"),
        ("a O\nb .\nc NN\n", "'.'"),
        ("word tag\nMira PER\nran O\n", "'tag'"),
        ("a O\nb PER\nc B-PER\n", "'PER'"),
        ("a O\nb B_PER\nc I_PER\n", "'B_PER'"),
        ("a O\nb X-PER\n", "'X-PER'"),
    ],
)
def test_what_is_not_all_types_is_an_error(text: str, wrong: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=f"{wrong} is not a tag"):
        read(tmp_path, text)


def test_a_scheme_of_types_can_be_stated(tmp_path: Path) -> None:
    path = tmp_path / "in.tsv"
    path.write_text("a S-Bahn\nb S-Bahn\nc B\n")
    (document,) = read_columns(path, ReadOptions(scheme=Scheme.IO))
    assert entities([document]) == [("a b", "S-Bahn"), ("c", "B")]


@pytest.mark.parametrize(
    "text",
    ["Mira\tB-PER\t\nran\tO\t\n", "Mira\tB-PER\t\nran\tO\n", "Mira\tB-PER\nran\tO\t\t\n",
     "Mira\tB-PER\t\t\r\nran\tO\t\t\r\n"],
)  # fmt: skip
def test_tabs_at_the_end_of_lines_are_no_columns(text: str, tmp_path: Path) -> None:
    found = read(tmp_path, text)
    assert (words(found), entities(found)) == ([["Mira", "ran"]], [("Mira", "PER")])


def test_an_empty_tag_is_no_tab_at_the_end(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"in\.tsv:2: '' is not a tag"):
        read(tmp_path, "Mira\tB-PER\nran\t\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10 000 O\nNew York B-LOC\n. O\nx O\ny O\n", ["10 000", "New York", ".", "x", "y"]),
        ("Vitamin B 12 NN O\nx NN O\ny - z NN O\nw NN O\nv NN O\n",
         ["Vitamin B 12", "x", "y - z", "w", "v"]),
        ("a b\tO\n", ["a b"]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*with blanks inside")
def test_words_may_have_blanks(text: str, expected: list[str], tmp_path: Path) -> None:
    assert words(read(tmp_path, text)) == [expected]


def test_words_with_blanks_are_told(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="blanks inside, .*: 1, the first is 'b c O' on line 2"):
        read(tmp_path, "a O\nb c O\nd O\n")


@pytest.mark.parametrize("bad", ["b O O", "b c", "b O x"])
def test_other_lines_with_more_columns_are_errors(bad: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"in\.tsv:2: "):
        read(tmp_path, f"a B-X\n{bad}\nc O\n")


OUTER_FIRST = "Lorn\tB-ORG\tB-LOC\nBank\tI-ORG\tO\nin\tO\tO\nKiel\tB-LOC\tO\n"


def test_of_two_columns_of_tags_the_fuller_one_is_read_and_both_are_told(tmp_path: Path) -> None:
    told = (
        r"tags are read from column 1, which has 2 phrases; column 2 looks like tags, too, and has "
        "1: --tag-column 2 reads it"
    )
    with pytest.warns(UserWarning, match=told):
        assert entities(read(tmp_path, OUTER_FIRST)) == [("Lorn Bank", "ORG"), ("Kiel", "LOC")]
    path = tmp_path / "in.tsv"
    assert entities(list(read_columns(path, ReadOptions(tag_column=-1)))) == [("Lorn", "LOC")]


@pytest.mark.parametrize(
    "text",
    ["a NP B-X B-X\nb x O O\n", "a B-X Q1\nb O _\n", "a B-X O\nb O O\n", "a B-X X1\nb O O\n"],
)
def test_what_is_no_column_of_tags_or_has_fewer_is_not_read(text: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="entity tags are read from column"):
        assert entities(read(tmp_path, text)) == [("a", "X")]


def test_chunks_are_no_entities(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    text = "EU NNP B-NP B-ORG\nsays VB B-VP O\nit PRP B-NP O\n"
    assert entities(read(tmp_path, text)) == [("EU", "ORG")]
    assert not list(recwarn)


TEXT = "Müller\tB-PER\nläuft\tO\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_tell_the_encoding(encoding: str, tmp_path: Path) -> None:
    assert words(read(tmp_path, TEXT.encode(encoding))) == [["Müller", "läuft"]]


@pytest.mark.parametrize(
    ("encoding", "seeming"),
    [("latin-1", "cp1252"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")],
)
def test_other_encodings_are_named_and_can_be_stated(
    encoding: str, seeming: str, tmp_path: Path
) -> None:
    data = TEXT.encode(encoding)
    with pytest.raises(CorpusError, match=f"is not UTF-8. It seems .* --encoding {seeming}"):
        read(tmp_path, data)
    assert words(read(tmp_path, data, seeming)) == [["Müller", "läuft"]]


def test_single_bytes_of_another_encoding_are_damage(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="Correct them, or replace them with U"):
        read(tmp_path, TEXT.encode() + "é\tO\n".encode("latin-1"))


def test_a_wrong_or_unknown_encoding_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"in\.tsv:1: the file is not ASCII"):
        read(tmp_path, TEXT, "ascii")
    with pytest.raises(CorpusError, match="There is no encoding 'no'"):
        read(tmp_path, TEXT, "no")


def test_the_command_takes_an_encoding_and_columns(tmp_path: Path) -> None:
    source, output = tmp_path / "in.tsv", tmp_path / "out.spacy"
    source.write_bytes(OUTER_FIRST.replace("Kiel", "Köln").encode("latin-1"))
    assert "--encoding cp1252" in run("convert", source, output, exit_code=1)[1]
    stdout, stderr = run("convert", source, output, "--encoding", "cp1252")
    assert ("2 entities (ORG 1, LOC 1)" in stdout, "--tag-column 2" in stderr) == (True, True)
    option = ("--encoding", "cp1252", "--tag-column", "-1", "--word-column", "0")
    stdout, stderr = run("convert", source, output, *option)
    assert ("1 entity (LOC 1)" in stdout, stderr) == (True, "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_json_in_an_encoding_with_a_mark(encoding: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes('{"text": "é", "spans": []}\r\n'.encode(encoding))
    assert "1 document" in run("convert", source, tmp_path / "out.spacy", "--accept-loss")[0]
