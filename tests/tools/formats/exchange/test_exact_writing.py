"""BRAT and CoNLL-U, character by character: what is written, and what is read of odd labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from format_files import entities_of, texts_in
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.exchange.registry import format_named
from spacy_cascade.tools.formats.texts import AnnotatedText, Mention

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
    (mention,) = text.mentions
    assert mention.parts == expected


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
        ("NER=|Entity=_|name=B-X", "X"),
    ],
)
def test_misc_of_conll_u(misc: str, label: str, tmp_path: Path) -> None:
    path = tmp_path / "in.conllu"
    path.write_text(ROW.format(1, "Oslo", misc) + ROW.format(2, "x", "NER=O"), encoding="utf8")
    assert entities_of(*texts_in(path)) == [("Oslo", label)]
    (text,) = texts_in(path)
    assert text.text == ("Oslox" if "SpaceAfter" in misc else "Oslo x")


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
