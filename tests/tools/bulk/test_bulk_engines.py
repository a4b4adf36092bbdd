"""Ray, Spark and Dask by one callable, and `annotate` on a Ray cluster."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from bulk_truth import Row, contents, texts_of
from helpers import PROJECT, TEXTS
from spacy_cascade.errors import ConfigError
from spacy_cascade.tools.bulk.run import Settings, annotate_files
from spacy_cascade.tools.bulk.writers import Layout

Truth = dict[str, list[Row]]
N = 3000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with Parquet files, one of them without rows."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in").mkdir()
    texts = texts_of(N, TEXTS)
    for part, (begin, end) in enumerate([(0, 1000), (1000, 1000), (1000, N)]):
        rows = {"n": pa.array(range(begin, end), pa.int64()), "text": texts[begin:end]}
        schema = pa.schema([("n", pa.int64()), ("text", pa.string())])
        pq.write_table(pa.table(rows, schema=schema), tmp_path / "in" / f"{part}.parquet")
    return tmp_path / "in"


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    yield ray
    ray.shutdown()


def example(name: str) -> Any:
    sys.path.insert(0, str(PROJECT / "examples"))
    try:
        return import_module(name)
    finally:
        sys.path.pop(0)


def check(target: Path, truth: Truth) -> None:
    """Every row is there once, with the entities of its text."""
    pq = pytest.importorskip("pyarrow.parquet")
    rows = pq.read_table(target).sort_by("n").to_pylist()
    assert [row["n"] for row in rows] == list(range(N))
    assert [row["text"] for row in rows] == texts_of(N, TEXTS)
    assert all(row["entities"] == truth[row["text"]] for row in rows)
    assert all(row["entities_error"] is None for row in rows)


@pytest.mark.slow(kind="engines")
def test_ray_data(ray: Any, model: Path, truth: Truth, source: Path, tmp_path: Path) -> None:
    ray.init(num_cpus=2, include_dashboard=False)
    example("annotate_ray").annotate(str(model), str(source), str(tmp_path / "out"))
    check(tmp_path / "out", truth)


@pytest.mark.slow(kind="engines")
@pytest.mark.parametrize("kind", ["pandas", "numpy"])
def test_other_batches_of_ray(ray: Any, model: Path, truth: Truth, source: Path, kind: str) -> None:
    from spacy_cascade import Annotator

    ray.init(num_cpus=2, include_dashboard=False)
    found = ray.data.read_parquet(str(source)).map_batches(
        Annotator, fn_constructor_args=(str(model),), batch_format=kind,
        compute=ray.data.ActorPoolStrategy(size=1),
    )  # fmt: skip
    rows = found.take_all()
    assert sorted(row["n"] for row in rows) == list(range(N))
    assert all(list(row["entities"]) == truth[row["text"]] for row in rows)


@pytest.mark.slow(kind="engines")
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs a Java runtime")
def test_spark(model: Path, truth: Truth, source: Path, tmp_path: Path) -> None:
    sql = pytest.importorskip("pyspark.sql")
    annotate = example("annotate_spark").annotate
    spark = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.warehouse.dir", str(tmp_path / "warehouse"))
        .getOrCreate()
    )
    try:
        annotate(spark, str(model), str(source), str(tmp_path / "out"))
    finally:
        spark.stop()
    check(tmp_path / "out", truth)


@pytest.mark.slow(kind="engines")
@pytest.mark.parametrize("scheduler", ["processes", "threads"])
def test_dask(model: Path, truth: Truth, source: Path, tmp_path: Path, scheduler: str) -> None:
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.dataframe")
    with dask.config.set(scheduler=scheduler, num_workers=2):
        example("annotate_dask").annotate(str(model), str(source), str(tmp_path / "out"))
    check(tmp_path / "out", truth)


def files_of_one_process(model: Path, source: Path, output: Path) -> dict[str, bytes]:
    annotate_files(model, [str(source)], output, Settings(Layout("jsonl"), shard_size=50))
    return contents(output)


@pytest.mark.slow(kind="engines")
def test_annotate_on_ray(ray: Any, model: Path, source: Path, tmp_path: Path) -> None:
    ray.init(num_cpus=2, include_dashboard=False)
    settings = Settings(Layout("jsonl"), "ray", 0, 50)
    summary = annotate_files(model, [str(source)], tmp_path / "out", settings)
    assert summary.records == N
    assert summary.shards > 20
    assert contents(tmp_path / "out") == files_of_one_process(model, source, tmp_path / "one")


@pytest.mark.slow(kind="engines")
def test_a_node_of_the_cluster_dies(ray: Any, model: Path, source: Path, tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    expected = files_of_one_process(model, source, tmp_path / "one")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    node = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address)
    log = tmp_path / "out" / "_shards.jsonl"

    def kill() -> None:
        if log.exists() and len(log.read_text().splitlines()) > 3:
            cluster.remove_node(node, allow_graceful=False)
            killed.append(True)
        else:
            timer()

    def timer() -> None:
        one = Timer(0.05, kill)
        one.daemon = True
        one.start()

    killed: list[bool] = []
    timer()
    try:
        settings = Settings(Layout("jsonl"), "ray", 0, 50)
        annotate_files(model, [str(source)], tmp_path / "out", settings)
        assert killed, "the node died before the end"
        assert contents(tmp_path / "out") == expected
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.parametrize(
    ("module", "settings", "extra"),
    [
        ("ray", Settings(Layout("jsonl"), "ray"), "ray"),
        ("pyarrow.parquet", Settings(Layout("parquet")), "parquet"),
        ("pyarrow", Settings(Layout("parquet")), "parquet"),
    ],
)
def test_an_extra_that_is_missing_is_named(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    settings: Settings,
    extra: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "a.txt").write_text("x\n")
    with pytest.raises(ConfigError, match=rf'pip install "spacy-cascade\[{extra}\]"'):
        annotate_files(model, [str(tmp_path / "a.txt")], tmp_path / "out", settings)


def test_settings_that_there_are_not(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    for settings, message in (
        (Settings(Layout("xml")), "There is no format 'xml'. The formats are jsonl, jsonl.gz"),
        (Settings(engine="slurm"), "There is no engine 'slurm'. The engines are local, ray"),
        (Settings(timeout=-1.0), "timeout is -1. It is a number of seconds above 0, and at most"),
        (Settings(timeout=float("nan")), "timeout is nan. It is a number of seconds above 0"),
        (Settings(timeout=1e9), "timeout is 1e[+]09. It is a number of seconds above 0"),
    ):
        with pytest.raises(ConfigError, match=message):
            annotate_files(model, [str(tmp_path / "a.txt")], tmp_path / "out", settings)
