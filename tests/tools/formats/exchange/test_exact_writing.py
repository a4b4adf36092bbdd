"""BRAT and CoNLL-U, character by character: what is written, and what is read of odd labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from format_files import entities_of, texts_in
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.columns import ReadOptions
from spacy_cascade.tools.formats.exchange.levels import words_of
from spacy_cascade.tools.formats.exchange.registry import format_named
from spacy_cascade.tools.formats.exchange.source import Source
from spacy_cascade.tools.formats.texts import AnnotatedText, Mention, Pair

ROW = "{}\t{}\t_\t_\t_\t_\t_\t_\t_\t{}\n"


ODD_ENTITIES = {
    # entity: (offsets, text field)
    "New York": ("3 11", "New York"),
    "New\u00a0York": ("3 11", "New\u00a0York"),
    "New\u2009York": ("3 11", "New\u2009York"),
    "New\tYork": ("3 11", "New\tYork"),
    "New\u2028York": ("3 11", "New\u2028York"),
    "New\nYork": ("3 6;7 11", "New York"),
    "New\n\nYork": ("3 6;8 12", "New  York"),
    "New\r\nYork": ("3 6;8 12", "New York"),
    "New\rYork": ("3 6;7 11", "New York"),
    "New\x0cYork": ("3 11", "New\x0cYork"),
}  # fmt: skip


@pytest.mark.parametrize("entity", ODD_ENTITIES)
def test_brat_has_the_characters_and_a_blank_for_each_line_break(
    entity: str, tmp_path: Path
) -> None:
    text = f"In {entity} today"
    mention = Mention(((3, 3 + len(entity)),), "LOC")
    format_named("brat").write([AnnotatedText(text, (mention,), "a")], tmp_path / "out")
    offsets, field = ODD_ENTITIES[entity]
    written = (tmp_path / "out" / "a.ann").read_bytes().decode()
    assert written == f"T1\tLOC {offsets}\t{field}\n"
    (again,) = texts_in(tmp_path / "out")
    assert (again.text, again.reading) == (text, "")
    assert [(one.parts, one.label) for one in again.mentions] == [(mention.parts, "LOC")]


def test_brat_keeps_the_parts_of_a_span(tmp_path: Path) -> None:
    mention = Mention(((0, 1), (4, 7)), "X")
    format_named("brat").write([AnnotatedText("a b c\nd", (mention,), "a")], tmp_path / "out")
    written = (tmp_path / "out" / "a.ann").read_bytes().decode()
    assert written == "T1\tX 0 1;4 5;6 7\ta c d\n"
    (again,) = texts_in(tmp_path / "out")
    assert again.mentions[0].parts == mention.parts


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("0 4;2 3;4 9", ((0, 9),)),  # one part is in another: its end is not that of the span
        ("4 9;0 4", ((0, 9),)),
        ("0 4;4 9", ((0, 9),)),
        ("0 3;2 4", ((0, 4),)),
        ("0 9;10 14", ((0, 14),)),  # a line break between them
        ("0 4;5 9", ((0, 4), (5, 9))),
    ],
)
def test_parts_that_touch_or_lie_in_each_other_are_one(
    parts: str, expected: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("abcdefghi\nklmn")
    (tmp_path / "a.ann").write_text(f"T1\tX {parts}\n")
    (text,) = texts_in(tmp_path)
    assert text.mentions == (Mention(expected, "X"),)


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["a b/c", "d-1.x"], ["a_b_c", "d-1.x"]),
        (["a", ""], ["1", "2"]),
        (["a", "A"], ["1", "2"]),
        (["._a_.", "b"], ["a", "b"]),
        ([""] * 10, [f"{i:02}" for i in range(1, 11)]),
    ],
)
def test_files_of_brat_have_the_names_of_texts_or_numbers(
    names: list[str], files: list[str], tmp_path: Path
) -> None:
    texts = [AnnotatedText("a", (Mention(((0, 1),), "X"),), name) for name in names]
    format_named("brat").write(texts, tmp_path / "out")
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.ann")) == files
    assert [one.name for one in texts_in(tmp_path / "out")] == files


def test_one_file_of_brat_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("In Kiel")
    (tmp_path / "a.ann").write_text("T1\tLOC 3 7\tKiel\n")
    (text,) = texts_in(tmp_path / "a.ann")
    assert (text.name, entities_of(text)) == ("a", [("Kiel", "LOC")])


def test_bioc_in_xml_has_all_of_its_elements(tmp_path: Path) -> None:
    mention = Mention(((0, 4), (15, 19)), "site", score=0.25)
    text = AnnotatedText("left and right lung", (mention,), "d<1")
    format_named("bioc-xml").write([text], tmp_path / "out")
    assert (tmp_path / "out").read_text() == (
        "<?xml version='1.0' encoding='UTF-8'?>\n<!DOCTYPE collection SYSTEM \"BioC.dtd\">\n"
        "<collection><source>spacy_cascade</source><date></date><key></key>"
        "<document><id>d&lt;1</id><passage><offset>0</offset><text>left and right lung</text>"
        '<annotation id="0"><infon key="type">site</infon><infon key="score">0.25</infon>'
        '<location offset="0" length="4"></location>'
        '<location offset="15" length="4"></location>'
        "<text>left lung</text></annotation></passage></document></collection>"
    )


NUMBERED = ("bioc-json", "bioc-xml", "brat", "conllu", "pubtator")
HOLDERS = {"doccano": '"id"', "label-studio": '"name"', "prodigy": '"meta"'}
"""Formats that need no name, and where they have it."""


@pytest.mark.parametrize("form", [*NUMBERED, *HOLDERS])
def test_documents_have_their_names_or_are_numbered(form: str, tmp_path: Path) -> None:
    word = Mention(((0, 1),), "X")
    texts = [AnnotatedText("a b", (word,), name, words=((0, 1), (2, 3))) for name in ("d1", "d2")]
    for names in (["d1", "d2"], ["", ""]):
        path = tmp_path / f"out-{names[0]}"
        made = [replace(one, name=name) for one, name in zip(texts, names, strict=True)]
        format_named(form).write(made, path)
        if form in NUMBERED:
            numbered = [name or str(n) for n, name in enumerate(names, start=1)]
            assert [one.name for one in texts_in(path, form)] == numbered
        else:
            content = path.read_text()
            assert (HOLDERS[form] in content, '"d2"' in content) == (bool(names[0]),) * 2


def test_an_id_that_is_too_long_for_a_file_is_told(tmp_path: Path) -> None:
    name = "é" * 125 + "x"
    format_named("brat").write([AnnotatedText("a", (), name)], tmp_path / "out")
    assert len(texts_in(tmp_path / "out")) == 1
    with pytest.raises(CorpusError, match=r"name has 256 bytes, and 255 are possible.*shorter ids"):
        format_named("brat").write([AnnotatedText("a", (), name + "x")], tmp_path / "out")


@pytest.mark.parametrize(
    ("misc", "label"),
    [
        ("name=B-X", "X"),
        ("SpaceAfter=No name=B-X", "X"),
        ("SpaceAfter=No|name=B-X", "X"),
        ("name=B-X  SpaceAfter=No", "X"),
        ("NER=B-X|Gloss=a", "X"),
        ("NER=B-a=b", "a=b"),
        ("NER=B-a|b", "a|b"),
        ("NER=B-a b", "a b"),
        ("NER=B-a\\pb\\tc\\sd\\\\e", "a|b\tc d\\e"),
        ("NER=B-a(b)", "a(b)"),
        ("Gloss=x|Entity=B-X", "X"),
        ("Entity=_|NER=B-X", "X"),
        ("Entity=|NER=B-X", "X"),
    ],
)
def test_misc_of_conll_u(misc: str, label: str, tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    path.write_text(ROW.format(1, "Oslo", misc) + ROW.format(2, "x", "NER=O"), encoding="utf8")
    assert entities_of(*texts_in(path)) == [("Oslo", label)]
    (text,) = texts_in(path)
    assert text.text == ("Oslox" if "SpaceAfter" in misc else "Oslo x")
    assert [text.text[slice(*pair)] for pair in text.words] == ["Oslo", "x"]
    assert (text.name, text.sentences, text.is_annotated) == ("", (0,), True)


@pytest.mark.parametrize(
    ("n_sents", "sizes"), [(10, [10, 3]), (1, [1] * 13), (0, [13]), (-1, [13]), (13, [13])]
)
def test_sentences_of_conll_u_are_grouped(n_sents: int, sizes: list[int], tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    path.write_text("".join(f"# sent_id = s{i}\n{ROW.format(1, 'a', '_')}\n" for i in range(13)))
    found = texts_in(path, columns=ReadOptions(n_sents=n_sents))
    assert [len(one.sentences) for one in found] == sizes
    assert not any(one.is_annotated for one in found)
    assert [one.name for one in found] == [f"s{sum(sizes[:i])}" for i in range(len(sizes))]
    path.write_text(
        "".join(f"{mark}{ROW.format(1, 'a', '_')}\n" for mark in ("# newdoc\n", "")) * 2
    )
    found = texts_in(path, columns=ReadOptions(n_sents=n_sents))
    assert [(one.text, one.sentences) for one in found] == [("a a", (0, 2))] * 2


@pytest.mark.parametrize(
    ("rows", "is_conll_u"),
    [
        (ROW.format(1, "a", "_"), True),
        (ROW.format(1, "a", "A=B"), True),
        ("# x\n\n" + ROW.format("1-2", "au", "_") + ROW.format(1, "à", "_"), True),
        (ROW.format(1, "a", "x"), False),
        (ROW.format(1, "", "_"), False),
        (ROW.format(2, "a", "_"), False),
        (ROW.format(1, "a", "_").replace("_\t", "_\t_\t", 1), False),
        ("1\ta\tO\t_\n2\tb\tB-X\t_\n", False),
    ],
)
def test_conll_u_is_recognised_by_its_first_row(
    rows: str, is_conll_u: bool, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text(rows)
    assert format_named("conllu").recognises(Source(tmp_path / "in")) == is_conll_u


def test_white_space_comes_back_from_conll_u(tmp_path: Path) -> None:
    text = AnnotatedText("a  b\nc\t d|e", (), words=((0, 1), (3, 4), (5, 6), (8, 9), (9, 11)))
    format_named("conllu").write([text], tmp_path / "out")
    values = [line.split("\t")[-1] for line in (tmp_path / "out").read_text().splitlines()[1:-1]]
    spaces = [f"SpacesAfter={found}" for found in ("\\s\\s", "\\n", "\\t\\s")]
    assert values == [f"{one}|NER=O" for one in (*spaces, "SpaceAfter=No", "SpaceAfter=No")]
    (again,) = texts_in(tmp_path / "out")
    assert (again.text, again.words) == (text.text, text.words)


def test_a_tab_in_misc_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    path.write_text(ROW.format(1, "Oslo", "_") + ROW.format(2, "x", "NER=B-a\tb"))
    with pytest.raises(CorpusError, match=r"in\.conllu:2: a line has 11 columns, not 10"):
        texts_in(path)


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0b", "\x0c", "\u2029", "\r", "  "])
def test_lines_of_conll_u_end_at_line_feeds_only(separator: str, tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    text = f"# text = a{separator}b\n" + ROW.format(1, f"a{separator}b", "NER=B-X")
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert entities_of(*texts_in(path)) == [(f"a{separator}b", "X")]


@pytest.mark.parametrize(
    "label", ["a=b", "a|b", "a\tb", "a b", "a\\b", "a\\pb", "(a)", "a)", "B-a"]
)
def test_labels_come_back_from_conll_u(label: str, tmp_path: Path) -> None:
    mention = Mention(((0, 3),), label)
    text = AnnotatedText("a\tb c", (mention,), "a\nb", words=((0, 3), (4, 5)))
    format_named("conllu").write([text], tmp_path / "out")
    (again,) = texts_in(tmp_path / "out")
    assert (again.text, again.name) == ("a b c", "a b")
    assert [(one.parts, one.label) for one in again.mentions] == [(((0, 3),), label)]


def test_a_part_of_a_word_may_have_its_tag_or_bracket(tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    for first, second, labels in (
        ("Entity=(1-X)", "Entity=(2-Y)", "XY"), ("NER=B-X", "NER=I-X", "X"),
        ("NER=O", "NER=B-X", "X"), ("_", "NER=B-X", "X"), ("Entity=(1-X)", "_", "X"),
        ("Entity=(1-X", "Entity=1)", "X"),
    ):  # fmt: skip
        rows = [("1-2", "au", "_"), (1, "à", first), (2, "le", second), (3, "x", "_")]
        path.write_text("".join(ROW.format(*row) for row in rows))
        assert entities_of(*texts_in(path)) == [("au", label) for label in labels]


@pytest.mark.parametrize(
    ("fields", "value", "label"),
    [(None, "a-X-c", "X"), ("eid-kind-head", "a-X-c", "X"), ("eid-head-etype", "a-c-X", "X")],
)
def test_what_stands_between_hyphens_is_named_in_front(
    fields: str | None, value: str, label: str, tmp_path: Path
) -> None:
    path = tmp_path / "in.conllu"
    head = f"# global.Entity = {fields}\n" if fields else ""
    path.write_text(head + ROW.format(1, "a", f"Entity=({value})"))
    assert entities_of(*texts_in(path)) == [("a", label)]


@pytest.mark.parametrize(
    ("sentences", "parts", "numbers"),
    [
        ((0, 2), (), [0, 1, 1, 1]),
        ((0, 4), (), [0, 0, 1, 1]),
        ((2, 6), (), [0, 1, 1, 2]),
        ((0, 3), (), [0, 0, 1, 1]),  # within white space
        ((0, 7), (), [0] * 4),
        ((), (), [0] * 4),
        ((0, 2, 6), ((0, 5),), [0, 0, 0, 1]),
        ((0, 2, 6), ((2, 5),), [0, 1, 1, 2]),
        ((0, 2, 6), ((0, 1), (6, 7)), [0] * 4),
    ],
)
def test_a_sentence_begins_with_a_word_that_is_not_within_a_span(
    sentences: tuple[int, ...], parts: tuple[Pair, ...], numbers: list[int]
) -> None:
    mentions = (Mention(parts, "X"),) if parts else ()
    pairs = ((0, 1), (2, 3), (4, 5), (6, 7))
    text = AnnotatedText("a b c d", mentions, words=pairs, sentences=sentences)
    assert words_of(text).sentences == numbers


@pytest.mark.parametrize("pair", [(1, 5), (0, 4), (1, 2)])
def test_a_span_that_cuts_a_word_has_no_tags(pair: tuple[int, int]) -> None:
    text = AnnotatedText("ab cd", (Mention((pair,), "X"),), where="in:1", words=((0, 2), (3, 5)))
    with pytest.raises(CorpusError, match=r"in:1: '.*' \[X\] has no tags: the document has no tok"):
        words_of(text)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["(1-person(2-place)", "_", "1)"], [((0, 3), "person"), ((0, 1), "place")]),
        (["(1-person)(2-place", "2)"], [((0, 1), "person"), ((0, 2), "place")]),
        (["(1-person(2-place", "2)1)"], [((0, 2), "person"), ((0, 2), "place")]),
        (["(1[1/2]-person)", "(2-place)", "(1[2/2]-person)"],
         [((0, 1), (2, 3), "person"), ((1, 2), "place")]),
        # One id for several spans, as of the same person; the last one has no second part.
        (["(1[1/2]-a)", "(1[2/2]-a)", "(1[1/2]-a)", "(1-a)", "(1[2/2]-a)", "(1[1/2]-a)"],
         [((0, 1), (1, 2), "a"), ((2, 3), (4, 5), "a"), ((3, 4), "a")]),
    ],
)  # fmt: skip
def test_brackets_are_spans_in_the_order_in_which_they_begin(
    values: list[str], expected: list[tuple[object, ...]], tmp_path: Path
) -> None:
    path = tmp_path / "in.conllu"
    rows = [ROW.format(n, "a", f"Entity={value}") for n, value in enumerate(values, start=1)]
    path.write_text("".join(rows))
    (text,) = texts_in(path)
    assert [
        (*((start // 2, (end + 1) // 2) for start, end in one.parts), one.label)
        for one in text.mentions
    ] == expected


@pytest.mark.parametrize(
    ("last", "misc", "text"),
    [
        ("vide", "_", "Rien vide"),
        ("vide", "SpacesAfter=\\s\\n", "Rien vide \n"),
        (" ", "_", "Rien  "),
        ("vide ", "SpaceAfter=No", "Rien vide "),
    ],
)
def test_the_last_word_of_conll_u_may_end_in_a_blank(
    last: str, misc: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "in.conllu"
    path.write_text(ROW.format(1, "Rien", "_") + ROW.format(2, last, misc) + "\n")
    (found,) = texts_in(path)
    assert found.text == text
    assert found.words == ((0, 4), (5, 5 + len(last)))
