"""Lists of clusters as other tools write them: what is read, and what is not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from spacy_cascade import TemplateError
from spacy_cascade.systems.words.files import read_table
from spacy_cascade.systems.words.table import WordTable, values_of

PATHS = "0000\tthe\t900\n010000\tIL-2\t50\n010001\tgp120\t20\n0101\tcell\t80\n11\t0000\t7\n"


def read(folder: Path, text: str | bytes, name: str = "list.txt") -> WordTable:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table("mine", str(folder / name))


def together(table: WordTable, size: int, *words: str) -> bool:
    """Whether words are in one cluster of a size."""
    return len(set(values_of(table.word_codes(words), size).tolist())) == 1


def test_words_whose_paths_begin_alike_share_a_coarser_cluster(tmp_path: Path) -> None:
    """After 4 bits, and at the end; none has more than 6."""
    table = read(tmp_path, PATHS)
    assert table.sizes == [4, 5]
    assert together(table, 0, "IL-2", "gp120")
    assert not together(table, 1, "IL-2", "gp120")
    assert not together(table, 0, "IL-2", "cell")


@pytest.mark.parametrize(
    "text",
    ["verbs\tsaw\t3\nverbs\tran\t2\nnouns\tcat\t9\n", "saw verbs\nran verbs\ncat nouns\n",
     "verbs\tsaw\nverbs\tran\nnouns\tcat\n", "\ufeffsaw\t17\r\n\r\nran\t17\r\ncat\t4"],
)  # fmt: skip
def test_clusters_of_any_names(text: str, tmp_path: Path) -> None:
    for name, content in (("l", text.encode()), ("l.gz", gzip.compress(text.encode()))):
        table = read(tmp_path, content, name)
        assert table.sizes == [2]
        assert together(table, 0, "saw", "ran")
        assert not together(table, 0, "saw", "cat")
        assert table.word_codes(["dog"]).tolist() == [0]


def test_names_are_no_paths_where_not_all_of_them_are(tmp_path: Path) -> None:
    table = read(tmp_path, "verbs1\tsaw\t3\nverbs2\tran\t2\n000100\tcat\t9\n000101\tdog\t9\n")
    assert table.sizes == [4]


def test_of_a_word_that_is_listed_twice_the_more_frequent_line_counts(tmp_path: Path) -> None:
    table = read(tmp_path, "a\tx\t1\nb\tx\t3\na\ty\t1\nb\tz\t1\na\tx\t2\n")
    assert together(table, 0, "x", "z")


@pytest.mark.parametrize(
    ("word", "same"),
    [("The", "the"), ("CELL", "cell"), ("1987", "0000"), ("IL-2", "IL-2"), ("Gp120", "gp120")],
)
def test_a_word_is_looked_up_as_written_then_in_lower_case_then_without_digits(
    word: str, same: str, tmp_path: Path
) -> None:
    table = read(tmp_path, PATHS)
    assert table.word_codes([word]).tolist() == table.word_codes([same]).tolist() != [0]


def test_a_cluster_is_named_by_its_most_frequent_words(tmp_path: Path) -> None:
    table = read(tmp_path, "".join(f"a\tword{i}\t{i}\n" for i in range(9)) + "b\tx\t1\n")
    assert table.describe(1, 0) == "1 (word8, word7, word6)"
    assert table.describe(2, 0) == "2 (x)"
    assert table.describe(0, 0) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "no columns"), ("a\tx\t1\nb\ty\n", "line 2 of .* is not like the others"),
     ("a\tx\tmany\n", "line 1"), ("a\t\t1\n", "line 1"), ("the 0.1 0.2 0.3\n", "file of vectors"),
     ("2 3\nthe 0.1 0.2 0.3\n", "line 2"), (b"caf\xe9\tx\t1\n", "decode"),
     (gzip.compress(b"a\tx\t1\n" * 999, mtime=0), "decode"), (b"PK\3\4" + bytes(50), "archive")],
)  # fmt: skip
def test_a_file_that_is_none(text: str | bytes, problem: str, tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=f"(?s)table of words 'mine': .*{problem}.*words make"):
        read(tmp_path, text)


def test_a_file_that_is_cut_off_or_missing(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"templates\.words"):
        read(tmp_path, gzip.compress(PATHS.encode() * 99)[:-20], "cut.gz")
    with pytest.raises(TemplateError, match="No such file"):
        read_table("mine", str(tmp_path / "none"))
