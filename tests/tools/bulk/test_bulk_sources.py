"""Files of records: how they are divided, read in batches, and what of them cannot be read."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.bulk.sources import lines
from spacy_cascade.tools.bulk.sources.base import Names, Range, Source
from spacy_cascade.tools.bulk.sources.docs import DocSource
from spacy_cascade.tools.bulk.sources.lines import ForwardReader, JsonSource, TextSource
from spacy_cascade.tools.bulk.sources.parquet import ParquetSource

MODULES = "spacy_cascade.tools.bulk.sources"
TEXTS = ["a", "b", "c d", "e", "f"]
"""The third one counts twice, whether bytes are counted or tokens."""


def texts_in_lines(folder: Path) -> tuple[Source, int]:
    (folder / "a.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    return TextSource(folder / "a.txt", "a.txt", Names()), 2


def docs(folder: Path) -> tuple[Source, int]:
    made = [Doc(Vocab(), words=text.split()) for text in TEXTS]
    DocBin(docs=made).to_disk(folder / "a.spacy")
    return DocSource(folder / "a.spacy", "a.spacy", Names()), 6


Made = Callable[[Path], tuple[Source, int]]
"""A file of `TEXTS`, and the bytes that the first of them counts."""


def parquet_of(path: Path, texts: list[str], **options: Any) -> ParquetSource:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), path, **options)
    return ParquetSource(path, path.name, Names())


def bytes_of_row(source: Source) -> int:
    """Of the texts without compression, rounded down."""
    metadata = pytest.importorskip("pyarrow.parquet").ParquetFile(source.path).metadata
    return int(metadata.row_group(0).column(0).total_uncompressed_size) // int(metadata.num_rows)


def numbers_in(source: Source, wanted: Range) -> list[list[int]]:
    """Those of the records of each batch."""
    return [rows.numbers for rows in source.read(wanted)]


@pytest.mark.parametrize("make", [texts_in_lines, docs])
@pytest.mark.parametrize(
    ("wanted", "more", "lengths", "sizes"),
    [
        (1, 0, [1, 1, 1, 1, 1], [1, 1, 2, 1, 1]),
        (1, 1, [2, 1, 2], [2, 2, 2]),
        (2, 1, [3, 2], [4, 2]),
        (99, 0, [5], [6]),
    ],
)
def test_a_range_ends_as_soon_as_it_is_as_large_as_wanted(
    make: Made, tmp_path: Path, wanted: int, more: int, lengths: list[int], sizes: list[int]
) -> None:
    """As many times the first record, and some bytes more; only the last one may be smaller."""
    source, unit = make(tmp_path)
    ranges = list(source.ranges(wanted * unit + more))
    firsts = accumulate(lengths[:-1], initial=0)
    assert [one.size for one in ranges] == [unit * size for size in sizes]
    assert [(one.first, one.length) for one in ranges] == list(zip(firsts, lengths, strict=True))
    if make is texts_in_lines:
        offsets = accumulate([one.size for one in ranges[:-1]], initial=0)
        assert [one.offset for one in ranges] == list(offsets)


@pytest.mark.parametrize("make", [texts_in_lines, docs])
@pytest.mark.parametrize(
    ("wanted", "more", "most", "expected"),
    [
        (1, 1, 99, [[1, 2], [3], [4, 5]]),
        (2, 0, 99, [[1, 2], [3], [4, 5]]),
        (2, 1, 99, [[1, 2, 3], [4, 5]]),
        (99, 0, 2, [[1, 2], [3, 4], [5]]),
        (99, 0, 3, [[1, 2, 3], [4, 5]]),
    ],
)
def test_a_batch_ends_with_enough_characters_or_records(
    make: Made,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wanted: int,
    more: int,
    most: int,
    expected: list[list[int]],
) -> None:
    source, unit = make(tmp_path)
    module = f"{MODULES}.{'docs' if make is docs else 'lines'}"
    monkeypatch.setattr(f"{module}.BATCH_CHARACTERS", wanted * unit + more)
    monkeypatch.setattr(f"{module}.BATCH_RECORDS", most)
    found = numbers_in(source, Range(0, 5, 0, 0))
    if make is texts_in_lines and not found[-1]:
        found.pop()
    assert found == expected


def test_rows_of_parquet_are_divided_by_their_mean_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = parquet_of(tmp_path / "a.parquet", TEXTS[:4] * 2, row_group_size=99)
    row = bytes_of_row(source)
    for size, lengths in ((1, [1] * 8), (3 * row, [3, 3, 2]), (4 * row - 1, [3, 3, 2]), (999, [8])):
        firsts = accumulate(lengths[:-1], initial=0)
        assert list(source.ranges(size)) == [
            Range(first, length, 0, length * row)
            for first, length in zip(firsts, lengths, strict=True)
        ]
    monkeypatch.setattr(f"{MODULES}.parquet.BATCH_CHARACTERS", 3 * row)
    assert numbers_in(source, Range(1, 5, 0, 0)) == [[2, 3], [4, 5, 6]]
    monkeypatch.setattr(f"{MODULES}.parquet.BATCH_RECORDS", 2)
    assert numbers_in(source, Range(3, 4, 0, 0)) == [[4], [5, 6], [7]]
    assert not list(parquet_of(tmp_path / "empty.parquet", []).ranges(9))
    same = parquet_of(tmp_path / "same.parquet", ["a"] * 1000)
    assert bytes_of_row(same) == 0, "the text is there once"
    assert [one.length for one in same.ranges(400)] == [400, 400, 200]


def test_damage_before_or_after_a_range_does_not_matter_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the second of four groups, the second half is damaged."""
    texts = [f"{i}: {'long ' * 20}" for i in range(40)]
    source = parquet_of(
        tmp_path / "a.parquet", texts, row_group_size=10, use_dictionary=False,
        data_page_size=1, write_batch_size=5,
    )  # fmt: skip
    pq, data = pytest.importorskip("pyarrow.parquet"), bytearray(source.path.read_bytes())
    end = pq.ParquetFile(source.path).metadata.row_group(2).column(0).data_page_offset
    data[end - 60 : end] = bytes(60)
    source.path.write_bytes(data)
    (damaged,) = source.read(Range(12, 5, 0, 0))
    assert [one[:2] for one in damaged.unreadable] == [(13, 17)]
    for first, end in ((0, 10), (20, 40), (23, 31)):
        (rows,) = source.read(Range(first, end - first, 0, 0))
        assert rows.numbers == list(range(first + 1, end + 1))
        assert (rows.texts, rows.unreadable) == (texts[first:end], [])
    monkeypatch.setattr(f"{MODULES}.parquet.BATCH_RECORDS", 5)
    (rows,) = source.read(Range(12, 3, 0, 0))
    assert (rows.numbers, rows.texts, rows.unreadable) == ([13, 14, 15], texts[12:15], [])


class Lines(io.BytesIO):
    def read(self, *_: object) -> bytes:
        raise AssertionError("reads what is before a line")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_reader_goes_to_any_line_and_closes_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """A file that is not compressed is not read up to there."""
    data = b"".join(b"line %d\n" % i for i in range(10))
    path, other = tmp_path / f"a.txt{suffix}", tmp_path / f"b.txt{suffix}"
    path.write_bytes(gzip.compress(data) if suffix else data)
    other.write_bytes(path.read_bytes())
    opened: list[IO[bytes]] = []
    open_bytes = lines.open_bytes

    def note(path: Path) -> IO[bytes]:
        opened.append(open_bytes(path) if suffix else Lines(path.read_bytes()))
        return opened[-1]

    monkeypatch.setattr(lines, "open_bytes", note)
    monkeypatch.setattr(lines, "_BLOCK", 10)
    reader = ForwardReader()
    for i, n_opened in ((2, 1), (3, 1), (8, 1), (0, 2)):
        reader.move(path, 7 * i)
        assert reader.line() == b"line %d\n" % i
        assert len(opened) == n_opened, "only the way back needs another one"
    reader.move(other, 7)
    assert reader.line() == b"line 1\n"
    assert [one.closed for one in opened] == [True, True, False]
    reader.close()
    assert opened[-1].closed
    reader.close()
    reader.move(other, 7)
    assert reader.line() == b"line 1\n"
    if suffix:
        with pytest.raises(EOFError, match="the file is shorter than it was"):
            reader.move(path, len(data) + 1)


def test_lines_behind_a_damage_cannot_be_read(tmp_path: Path) -> None:
    texts = [f"{i:x}" * 9 for i in range(3000)]
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("\n".join(texts).encode())[:-100])
    (rows,) = TextSource(path, "a.txt.gz", Names()).read(Range(0, 3000, 0, 9))
    n = len(rows.numbers)
    assert 0 < n < 3000
    assert (rows.numbers, rows.texts) == (list(range(1, n + 1)), texts[:n])
    ((first, last, reason),) = rows.unreadable
    assert (first, last) == (n + 1, 3000)
    assert reason.startswith("cannot read the file: Compressed file ended")
    path.write_bytes(gzip.compress(b"a\nb\n")[:-12])
    (rows,) = TextSource(path, "a.txt.gz", Names()).read(Range(0, 2, 0, 9))
    assert [one[:2] for one in rows.unreadable] == [(1, 2)]
    path.write_bytes(gzip.compress(b"a\nb\n"))
    (rows,) = TextSource(path, "a.txt.gz", Names()).read(Range(0, 2, 0, 9))
    assert (rows.texts, rows.unreadable) == (["a", "b"], []), "of the file as it is now"


def json_of(path: Path, data: bytes) -> JsonSource:
    path.write_bytes(data)
    return JsonSource(path, path.name, Names())


def test_a_mark_of_utf_8_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    source = json_of(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"text": "x", "n": 1}')
    assert source.columns() == {"n": "int64"}
    (rows,) = source.read(Range(0, 1, 0, 0))
    assert (rows.texts, rows.unreadable) == (["x"], [])


def test_an_empty_line_of_text_is_a_record(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\n\xe9\n")
    source = TextSource(tmp_path / "a.txt", "a.txt", Names())
    assert source.sample() == [{}]
    (rows,) = source.read(Range(0, 2, 0, 0))
    assert (rows.numbers, rows.texts) == ([1], [""])
    reason = "the line is not UTF-8: invalid continuation byte at byte 0"
    assert rows.unreadable == [(2, 2, reason)]


def test_what_is_nested_too_deep_is_no_json(tmp_path: Path) -> None:
    source = json_of(tmp_path / "a.jsonl", b'{"text": ' + b"[" * 100_000 + b'\n{"text": "x"}\n')
    (rows,) = source.read(Range(0, 2, 0, 0))
    assert (rows.numbers, rows.texts) == ([2], ["x"])
    ((*numbers, reason),) = rows.unreadable
    assert numbers == [1, 1]
    assert reason.startswith("the line is no JSON: maximum recursion depth")


def test_empty_lines_between_json_are_no_records(tmp_path: Path) -> None:
    source = json_of(tmp_path / "a.jsonl", b"\n \r\n")
    assert source.sample() == []
    (rows,) = source.read(Range(0, 2, 0, 0))
    assert not [*rows.numbers, *rows.unreadable]
    assert not list(json_of(tmp_path / "b.jsonl", b"").ranges(1))
    problem = r"no line is a record; in the first one there is no field 'text'; the fields are none"
    with pytest.raises(CorpusError, match=rf"{problem}\. Correct the lines"):
        json_of(tmp_path / "c.jsonl", b"\n{}\n[]\n").sample()
