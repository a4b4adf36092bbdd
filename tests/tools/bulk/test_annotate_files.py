"""Files to files: every kind of input and output, failures, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from filelock import FileLock
from spacy.tokens import DocBin

from bulk_truth import Row, contents, failures_in, is_right, json_rows, rows_of, texts_of
from helpers import TEXTS, blank
from spacy_cascade.errors import CascadeError, ConfigError, CorpusError, SavingError
from spacy_cascade.tools.bulk.plan import Shard
from spacy_cascade.tools.bulk.run import (
    LOCK,
    LOG,
    MANIFEST,
    SUCCESS,
    Settings,
    Summary,
    annotate_files,
)
from spacy_cascade.tools.bulk.shards import ShardTask
from spacy_cascade.tools.bulk.sources.base import Names, Range
from spacy_cascade.tools.bulk.sources.lines import TextSource
from spacy_cascade.tools.bulk.writers import Layout

Truth = dict[str, list[Row]]
N = 40


def annotate(model: Path, output: Path, *inputs: Path, **settings: Any) -> Summary:
    layout = {"format": "jsonl", **settings.pop("layout", {})}
    settings.setdefault("shard_size", 500)
    return annotate_files(
        model, list(map(str, inputs)), output, Settings(Layout(**layout), **settings)
    )


def write_lines(path: Path, lines: list[str]) -> Path:
    data = "".join(f"{line}\n" for line in lines).encode()
    compress: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
    }  # fmt: skip
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(compress.get(path.suffix, bytes)(data))
    return path


def records(n: int = N) -> list[str]:
    return [
        json.dumps({"id": i, "text": text, "year": 2000 + i, "tags": ["a", i]})
        for i, text in enumerate(texts_of(n, TEXTS))
    ]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_lines_of_text(model: Path, truth: Truth, tmp_path: Path, suffix: str) -> None:
    texts = texts_of(N, TEXTS)
    source = write_lines(tmp_path / f"a.txt{suffix}", texts)
    summary = annotate(model, tmp_path / "out", source)
    rows = json_rows(tmp_path / "out")
    assert [row["id"] for row in rows] == [f"{source.name}:{i}" for i in range(1, N + 1)]
    assert [row["text"] for row in rows] == texts
    assert is_right(rows, truth)
    assert summary.shards > 2
    assert (summary.records, summary.failed, summary.continued) == (N, 0, 0)
    assert summary.entities == sum(len(truth[text]) for text in texts)


def test_zstandard(model: Path, truth: Truth, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    with pa.CompressedOutputStream(str(tmp_path / "a.txt.zst"), "zstd") as file:
        file.write("".join(f"{text}\n" for text in texts_of(N, TEXTS)).encode())
    annotate(model, tmp_path / "out", tmp_path / "a.txt.zst")
    assert [row["text"] for row in json_rows(tmp_path / "out")] == texts_of(N, TEXTS)


def test_other_fields_of_json_stay(model: Path, truth: Truth, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [*records(), ""])
    annotate(model, tmp_path / "out", source)
    rows = json_rows(tmp_path / "out")
    assert [(r["id"], r["year"], r["tags"]) for r in rows] == [
        (i, 2000 + i, ["a", i]) for i in range(N)
    ]
    assert list(rows[0]) == ["id", "text", "year", "tags", "entities"]
    assert is_right(rows, truth)


def test_columns_of_parquet_keep_their_types(model: Path, truth: Truth, tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "key": pa.array(range(N), pa.int16()),
        "when": pa.array([i * 10**9 for i in range(N)], pa.timestamp("ns")),
        "body": pa.array(texts_of(N, TEXTS)).dictionary_encode(),
        "vector": pa.array([[i, 0.5] for i in range(N)], pa.list_(pa.float32())),
    }
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    layout = {"format": "parquet", "names": Names("body", "key", "found")}
    annotate(model, tmp_path / "out", tmp_path / "a.parquet", layout=layout, shard_size=300)
    first, *others = sorted((tmp_path / "out").glob("part-*.parquet"))
    assert len(others) > 1
    assert pq.ParquetFile(first).metadata.row_group(0).column(0).compression == "ZSTD"
    found = pq.read_table(tmp_path / "out")
    assert found.column_names == ["key", "body", "when", "vector", "found"]
    assert found.select(["key", "when", "vector"]).equals(table.select(["key", "when", "vector"]))
    texts = found.column("body").to_pylist()
    assert texts == texts_of(N, TEXTS)
    assert found.column("found").to_pylist() == [truth[text] for text in texts]


def test_json_to_parquet_loses_nothing(model: Path, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    late = [{"text": "x", "year": "early", "more": 1}, {"text": "y", "id": "z", "year": 2**70}]
    source = write_lines(tmp_path / "a.jsonl", [*records(1200), *map(json.dumps, late)])
    annotate(model, tmp_path / "out", source, layout={"format": "parquet"}, shard_size=None)
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert rows[0]["id"] == 0
    assert rows[0]["tags"] == '["a", 0]'
    assert rows[1]["other_fields"] is None
    assert [row["year"] for row in rows[-3:]] == [3199, None, None]
    assert json.loads(rows[-2]["other_fields"]) == {
        "id": "a.jsonl:1201", "year": "early", "more": 1,
    }  # fmt: skip
    assert json.loads(rows[-1]["other_fields"]) == {"id": "z", "year": 2**70}


def test_docs_keep_their_tokens(model: Path, truth: Truth, tmp_path: Path) -> None:
    nlp = blank()
    docs = [nlp(text) for text in texts_of(N, TEXTS)]
    DocBin(docs=docs).to_disk(tmp_path / "a.spacy")
    summary = annotate(model, tmp_path / "out", tmp_path / "a.spacy", layout={"format": "spacy"})
    assert summary.shards > 2
    vocab = spacy.load(model).vocab
    found = [
        doc
        for file in sorted((tmp_path / "out").glob("*.spacy"))
        for doc in DocBin().from_disk(file).get_docs(vocab)
    ]
    assert [doc.user_data["record"]["id"] for doc in found] == [
        f"a.spacy:{i}" for i in range(1, N + 1)
    ]
    assert all(rows_of(doc) == truth[doc.text] for doc in found)


def test_folders_patterns_and_names(model: Path, tmp_path: Path) -> None:
    for name in ("in/a.txt", "in/b.txt.gz", "in/deep.txt", "other/a.txt"):
        write_lines(tmp_path / name, [TEXTS[0], name])
    inputs = (tmp_path / "in", tmp_path / "oth*" / "*.txt", tmp_path / "in" / "a.txt")
    summary = annotate(model, tmp_path / "in" / "out", *inputs)
    assert [row["id"] for row in json_rows(tmp_path / "in" / "out")] == [
        f"{name}:{i}"
        for name in ("in/a.txt", "in/b.txt.gz", "in/deep.txt", "other/a.txt")
        for i in (1, 2)
    ]
    again = annotate(model, tmp_path / "in" / "out", *inputs)
    assert (again.records, again.continued) == (8, summary.shards), "its own output is no input"


def test_records_that_fail_go_to_a_file(model: Path, truth: Truth, tmp_path: Path) -> None:
    bad = ["{", "[1]", '{"text": 1}', '{"body": "x"}', '{"text": "x", "entities": []}', "\udcff"]
    lines = [line for pair in zip(records(6), bad, strict=True) for line in pair]
    data = "\n".join(lines).encode("utf8", "surrogateescape")
    (tmp_path / "a.jsonl").write_bytes(data)
    summary = annotate(model, tmp_path / "out", tmp_path / "a.jsonl")
    assert (summary.records, summary.failed) == (6, 6)
    assert failures_in(tmp_path / "out") == [("a.jsonl", i, i) for i in range(2, 13, 2)]
    reasons = " ".join(file.read_text() for file in (tmp_path / "out" / "_failed").iterdir())
    for part in ("is no JSON", "but list", "int, not a string", "fields are body", "not UTF-8"):
        assert part in reasons
    assert is_right(json_rows(tmp_path / "out"), truth)


def test_the_end_of_a_damaged_file_fails(model: Path, tmp_path: Path) -> None:
    """Its pages are read only when their turn comes; what is before them is kept."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    texts = [f"{text} {i}" for i, text in enumerate(texts_of(400, TEXTS))]
    pq.write_table(
        pa.table({"text": texts}), path, row_group_size=100, use_dictionary=False,
        write_page_checksum=True,
    )  # fmt: skip
    place = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[place : place + 60] = bytes(60)
    path.write_bytes(data)
    write_lines(tmp_path / "b.txt", TEXTS)
    summary = annotate(model, tmp_path / "out", path, tmp_path / "b.txt", shard_size=2000)
    failed = [i for _, first, last in failures_in(tmp_path / "out") for i in range(first, last + 1)]
    kept = [row["text"] for row in json_rows(tmp_path / "out")]
    assert set(range(201, 301)) <= set(failed)
    assert kept == [t for i, t in enumerate(texts, start=1) if i not in failed] + TEXTS
    assert summary.failed == len(failed) == len(set(failed))


def test_bad_input_is_refused_before_anything_is_done(model: Path, tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"body": ["x"], "n": [1]}), tmp_path / "no_text.parquet")
    pq.write_table(pa.table({"text": [1]}), tmp_path / "numbers.parquet")
    (tmp_path / "damaged.parquet").write_bytes((tmp_path / "no_text.parquet").read_bytes()[:-9])
    (tmp_path / "damaged.spacy").write_bytes(b"no Docs")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"a\n" * 10_000)[:-20])
    (tmp_path / "latin.txt").write_bytes(b"\xe9\n")
    write_lines(tmp_path / "fields.jsonl", ['{"body": "x"}'])
    write_lines(tmp_path / "taken.jsonl", ['{"text": "x", "other_fields": 1}'])
    for name, message in (
        ("no_text.parquet", "no column 'text'; the columns are body, n. Name the column"),
        ("numbers.parquet", "the column 'text' has values of type int64"),
        ("damaged.parquet", "Repair the file"),
        ("damaged.spacy", "no file of Docs"),
        ("cut.txt.gz", "Repair the file"),
        ("latin.txt", "in the first one the line is not UTF-8.* Give UTF-8 text, a text a line"),
        ("fields.jsonl", "there is no field 'text'; the fields are body. .*--text"),
        ("taken.jsonl", "has a column 'other_fields'"),
        ("nowhere.txt", "There is no text at"),
        ("no*where", "No file has a path like"),
    ):
        with pytest.raises(CascadeError, match=message):
            annotate(model, tmp_path / "out", tmp_path / name)
        assert [path.name for path in (tmp_path / "out").iterdir()] in ([], [LOCK])


def test_a_run_goes_on_only_with_the_same(model: Path, tmp_path: Path) -> None:
    source, output = write_lines(tmp_path / "a.txt", TEXTS), tmp_path / "out"
    annotate(model, output, source)
    before = contents(output)
    other = tmp_path / "model"
    nlp = spacy.load(model)
    nlp.meta["version"] = "2.0.0"
    nlp.to_disk(other)
    write_lines(tmp_path / "b.txt", TEXTS)
    for message, again in (
        ("its pipeline, .*, was not what", lambda: annotate(other, output, source)),
        ("shard_size was 500, and is 600 now", lambda: annotate(
            model, output, source, shard_size=600)),
        ("keeps_text was True", lambda: annotate(
            model, output, source, layout={"keeps_text": False})),
        ("b.txt is new", lambda: annotate(model, output, source, tmp_path / "b.txt")),
        ("a.txt is missing", lambda: annotate(model, output, tmp_path / "b.txt")),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=message):
            again()
    write_lines(source, [*TEXTS, "more"])
    with pytest.raises(ConfigError, match=r"a\.txt has changed since"):
        annotate(model, output, source)
    assert contents(output) == before
    assert annotate(model, output, source, restarts=True).records == len(TEXTS) + 1
    assert len(json_rows(output)) == len(TEXTS) + 1


def test_a_run_that_was_killed_within_its_plan_is_begun_again(model: Path, tmp_path: Path) -> None:
    source, output = write_lines(tmp_path / "a.txt", TEXTS), tmp_path / "out"
    output.mkdir()
    (output / "._manifest.json.0123456789abcdef").write_text('{"header": ')
    assert annotate(model, output, source).records == len(TEXTS)
    assert not [path for path in output.iterdir() if path.name.startswith(".")]


def test_folders_of_others_are_refused(model: Path, tmp_path: Path) -> None:
    source, output = write_lines(tmp_path / "a.txt", TEXTS), tmp_path / "out"
    output.mkdir()
    (output / "thesis.tex").touch()
    for restarts in (False, True):
        with pytest.raises(ConfigError, match=r"has other files, such as thesis\.tex"):
            annotate(model, output, source, restarts=restarts)


def test_two_runs_on_a_folder_are_refused(model: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.txt", TEXTS)
    (tmp_path / "out").mkdir()
    with FileLock(tmp_path / "out" / LOCK), pytest.raises(ConfigError, match="Another run"):
        annotate(model, tmp_path / "out", source)
    annotate(model, tmp_path / "out", source)


def test_lost_shards_and_cut_logs_are_done_again(model: Path, tmp_path: Path) -> None:
    source, output = write_lines(tmp_path / "a.txt", texts_of(N, TEXTS)), tmp_path / "out"
    complete = annotate(model, output, source)
    before = contents(output)
    (output / "part-000001.jsonl").unlink()
    (output / LOG).write_bytes((output / LOG).read_bytes()[:-20])
    (output / ".part-000001.jsonl.0123456789abcdef").write_text("left by a killed process")
    (output / "_failed").mkdir()
    (output / "_failed" / "part-000001.jsonl").write_text("of records that fail no more")
    summary = annotate(model, output, source)
    assert summary.continued == complete.shards - 2
    assert summary.records == complete.records
    assert contents(output) == before
    assert not list(output.glob(".*"))


DAMAGES: list[dict[str, Any]] = [
    {"format": 99}, {"format": None}, {"pipeline": 1}, {"pipeline": {}}, {"releases": 3},
    {"options": None}, {"files": [["a.txt"]]}, {"files": []}, {"files": [["a", "a", 1e999, 0]]},
    {"shards": 3}, {"shards": [[]]}, {"shards": [[0, 1]]}, {"shards": [[7, 0, 0, 0, 0]]},
    {"shards": [["a", 0, 0, 0, 0]]}, {"schema": "!"}, {"schema": "AAAA"}, {"schema": 5},
]  # fmt: skip


def test_a_damaged_manifest_is_refused(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    source, output = write_lines(tmp_path / "a.txt", TEXTS[:1]), tmp_path / "out"
    annotate(model, output, source)
    manifest = json.loads((output / MANIFEST).read_text())
    for damage in DAMAGES:
        (output / MANIFEST).write_text(json.dumps({**manifest, **damage}))
        with pytest.raises((ConfigError, CorpusError), match="--force"):
            annotate(model, output, source)
    assert annotate(model, output, source, restarts=True).records == 1


@pytest.mark.parametrize("is_read", [False, True])
def test_input_that_changes_during_the_run(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_read: bool
) -> None:
    """Before a shard is read, which then is not begun, or while it is read."""
    source, output = write_lines(tmp_path / "a.txt", texts_of(N, TEXTS)), tmp_path / "out"
    do, read, reads = ShardTask.__call__, TextSource.read, list[int]()

    def do_or_change(task: ShardTask, shard: Shard) -> Any:
        if shard.number == 1 and not is_read:
            write_lines(source, TEXTS)
        return do(task, shard)

    def read_and_change(self: TextSource, wanted: Range) -> Any:
        reads.append(wanted.first)
        yield from read(self, wanted)
        if wanted.first and is_read:
            write_lines(source, TEXTS)

    monkeypatch.setattr(ShardTask, "__call__", do_or_change)
    monkeypatch.setattr(TextSource, "read", read_and_change)
    with pytest.raises(CorpusError, match=r"a\.txt has changed since this run began"):
        annotate(model, output, source)
    assert sorted(contents(output)) == ["part-000000.jsonl"]
    assert len(reads) == 1 + is_read


def test_results_that_are_removed_only_in_part(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark of success goes first, and the folder can always be used again."""
    source, output = write_lines(tmp_path / "a.jsonl", [*records(12), "{"]), tmp_path / "out"
    removed, most = list[Path](), 0

    def stopped(remove: Callable[..., None]) -> Callable[..., None]:
        def removed_or_stopped(path: Path, **options: bool) -> None:
            if path.is_relative_to(output) and path.exists() and not path.name.startswith("."):
                if len(removed) == most:
                    raise KeyboardInterrupt
                removed.append(path)
            remove(path, **options)

        return removed_or_stopped

    is_stopped = True
    while is_stopped:
        annotate(model, output, source, restarts=True)
        removed.clear()
        with monkeypatch.context() as context:
            context.setattr(Path, "unlink", stopped(Path.unlink))
            context.setattr(Path, "rmdir", stopped(Path.rmdir))
            try:
                annotate(model, output, source, restarts=True)
                is_stopped = False
            except KeyboardInterrupt:
                assert (output / SUCCESS).exists() == (most == 0)
        most += 1
    assert [removed[0].name, removed[-1].name] == [SUCCESS, MANIFEST]
    assert len(removed) > 5


@pytest.mark.parametrize("format", ["jsonl", "jsonl.gz", "parquet", "spacy"])
def test_a_full_disk(model: Path, tmp_path: Path, format: str) -> None:
    resource = pytest.importorskip("resource")
    if format == "parquet":
        pytest.importorskip("pyarrow")
    texts = [f"{text} {i}" for i, text in enumerate(texts_of(400, TEXTS))]
    source, output = write_lines(tmp_path / "a.txt", texts), tmp_path / "out"
    layout = {"format": format}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        with pytest.raises(SavingError, match=r"Cannot save .*part-000000.* Make room"):
            annotate(model, output, source, layout=layout, shard_size=100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(output.glob("*part*"))
    assert annotate(model, output, source, layout=layout, shard_size=100_000).records == 400
