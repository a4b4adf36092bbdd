"""Lines as rows, and which columns have the words and the tags."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spacy_cascade.tools.formats.table import (
    Block,
    Phrase,
    Table,
    have_languages,
    is_index,
    levels_among,
    one_as_told,
    tag_columns,
    without_language,
    word_column,
)

BAD = "expected 2 columns as in line 1"


def is_tag(text: str) -> bool:
    return text in ("O", "?") or text.startswith(("B-", "I-"))


def found_in(
    text: str, separator: str = "auto", word: int = 0, tag: int | None = 1
) -> tuple[list[Block], list[int], list[int], list[tuple[int, str]]]:
    """The sentences, the lines of comments and of words with blanks, and what is no row."""
    bad: list[tuple[int, str]] = []
    table = Table.of_lines(text.split("\n"), separator)  # type: ignore[arg-type]
    blocks, comments, with_blanks = table.blocks(
        word, tag, is_tag, lambda line, problem, _: bad.append((line, problem.split(",")[0]))
    )
    return blocks, [row.number for row in comments], [row.number for row in with_blanks], bad


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tO\n\nb\tO\t\n", [Block([["a", "O"]], [1], 0), Block([["b", "O"]], [3], 0)]),
        ("#\tO\n\n#x\tO\n", [Block([["#", "O"]], [1], 0), Block([["#x", "O"]], [3], 0)]),
        ("#newdoc\tO\nb\tO", [Block([["#newdoc", "O"], ["b", "O"]], [1, 2], 0)]),
        ("-DOCSTART-\na\tO\n# newdoc\nb\tO", [Block([["a", "O"]], [2], 1),
                                              Block([["b", "O"]], [4], 2)]),
    ],
)  # fmt: skip
def test_sentences_have_rows_lines_and_marks_before_them(text: str, expected: list[Block]) -> None:
    assert found_in(text) == (expected, [], [], [])


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("New York B-X", ["New York", "B-X"]),
        ("b c d O", ["b c d", "O"]),
        ("b O x", None),
        ("b ? x", None),
        ("b x O O", None),
        ("b ? O", ["b ?", "O"]),
        ("b", None),
    ],
)
def test_a_word_may_have_blanks_where_the_tag_behind_it_is_the_only_one(
    line: str, fields: list[str] | None
) -> None:
    blocks, _, with_blanks, bad = found_in(f"a O\n{line}\n\nc O\nd O\ne O")
    assert len(blocks) == (1 if fields is None else 2)
    assert [number for number, problem in bad if problem == BAD] == [2] * (fields is None)
    assert with_blanks == [2] * (fields is not None)
    if fields is not None:
        assert blocks[0].rows[1] == fields
    assert found_in(f"a O\n{line}\n\nc O\nd O\ne O", tag=None)[3] == [(2, BAD)]


def test_what_stands_before_a_word_with_blanks_stays() -> None:
    (block,), _, with_blanks, _ = found_in("1 a O\n2 New York B-X\n3 b O", word=1, tag=2)
    assert (block.rows[1], with_blanks) == (["2", "New York", "B-X"], [2])


@pytest.mark.parametrize(
    ("lines", "separator", "width"),
    [
        (["a b O"], "tab", 1), (["a b O"], "auto", 3), (["a\tb O"], "auto", 2),
        (["a\tb O"], "space", 2), (["a\t", "b\t"], "auto", 1), ([], "auto", 0),
        (["\t\t"], "auto", 0), (["a b", "a b c", "a b"], "auto", 2),
    ],
)  # fmt: skip
def test_the_width_of_a_table(lines: list[str], separator: str, width: int) -> None:
    assert Table.of_lines(lines, separator).width == width  # type: ignore[arg-type]


def test_marks_end_sentences_of_the_sample() -> None:
    table = Table.of_lines(["a O", "-DOCSTART- O", "b O", "", "c O", "c O O"], "auto")
    assert table.sample() == [[["a", "O"]], [["b", "O"]], [["c", "O"]]]


NUMBERS = [["1"], ["2"], ["3"]]


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ([NUMBERS], True), ([[["0"], ["1"], ["2"]], NUMBERS[:1]], True),
        ([NUMBERS, [["7"]]], False), ([NUMBERS[:2]], False),
        ([NUMBERS[1:] * 2], False), ([], False),
    ],
)  # fmt: skip
def test_what_numbers_words(sample: list[list[list[str]]], expected: bool) -> None:
    assert is_index(sample, 0) == expected


def test_the_column_of_words_is_the_first_that_does_not_number_them() -> None:
    assert word_column([[["1", "a"], ["2", "b"], ["3", "c"]]], 2) == 1
    assert word_column([NUMBERS], 1) == 0


def columns_of(*columns: Sequence[str]) -> list[list[list[str]]]:
    return [list(map(list, zip(*columns, strict=True)))]


def test_phrases_of_a_column() -> None:
    tags = ["B-X", "B-X", "U-X", "S-X", "I-X", "O", "I-X", "I-Y"]
    (found,) = tag_columns([*columns_of(tags), *columns_of(["L-Y", "?"])], [], 1)
    bounds = [(0, 1), (1, 2), (2, 3), (3, 5), (6, 7)]
    assert found.phrases == [
        *(Phrase(0, start, end, "X") for start, end in bounds), Phrase(0, 7, 8, "Y"),
        Phrase(1, 0, 1, "Y"),
    ]  # fmt: skip
    assert found.phrases[3].words == {(0, 3), (0, 4)}
    types = columns_of(["PER", "PER", "O", "PER", "LOC"])
    (found,) = tag_columns(types, [], 1)
    assert [one[1:] for one in found.phrases] == [(0, 2, "PER"), (3, 4, "PER"), (4, 5, "LOC")]


@pytest.mark.parametrize(
    ("tags", "is_found"),
    [
        (["B-X", *"O" * 8, "x"], True),
        (["B-X", *"O" * 7, "x"], False),
        (["B-NP", "B-NP", "B-X", "B-X", "B-X"], True),
        (["B-NP", "B-NP", "B-X", "B-X"], False),
        (["O", "O"], False),
    ],
)
def test_what_is_a_column_of_entities(tags: list[str], is_found: bool) -> None:
    """Nearly all of its values are tags, and less than half of its phrases are chunks."""
    assert bool(tag_columns(columns_of(tags), [], 1)) == is_found
    assert tag_columns(columns_of(tags), [0], 1) == []


def test_the_best_column_has_prefixes_then_phrases_then_stands_last() -> None:
    columns = columns_of(
        ["PER", "O", "PER"], ["B-X", "O", "O"], ["B-X", "O", "B-X"], ["B-X", "O", "B-X"]
    )
    assert [one.place for one in tag_columns(columns, [], 4)] == [3, 2, 1, 0]


@pytest.mark.parametrize(
    ("others", "is_level"),
    [
        (["O", "B-X", "O", "B-X", "O"], False),  # one of two is in a phrase
        (["B-X", "B-X", "O", "B-X", "O"], True),
        (["B-X", "B-X", "B-Y", "B-Y", "B-Y"], False),
        (["B-X", "I-X", "I-X", "O", "O"], False),  # the same phrase
        (["O", "B-X", "I-X", "O", "O"], True),
    ],
)
def test_levels_share_words_with_phrases_of_the_best_column(
    others: list[str], is_level: bool
) -> None:
    best = ["B-X", "I-X", "I-X", "O", "B-X"]
    rows = [*columns_of(others, best), *columns_of(["O"] * 5, ["B-X"] * 5)]
    places = [one.place for one in levels_among(tag_columns(rows, [], 2))]
    assert places == ([0, 1] if is_level else [1])


def test_a_column_alone_is_told_without_others() -> None:
    found = tag_columns(columns_of(["B-X", "O"]), [], 1)
    assert one_as_told(found) == "entity tags are read from column 0, which has 1 phrases"


def test_languages_before_words() -> None:
    words = ["fr:Mira", "fr:de:x", "zh-min-nan:a"]
    assert [have_languages(found) for found in (words, words[:2], [*words, "x"])] == [
        True, False, False,
    ]  # fmt: skip
    assert [without_language(word) for word in words] == ["Mira", "de:x", "a"]
