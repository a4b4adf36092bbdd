"""What is asked of Ray, by a stand-in that does everything in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bulk_truth import contents, texts_of
from helpers import TEXTS
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.bulk.run import Settings, annotate_files
from spacy_cascade.tools.bulk.shards import ShardTask


class TaskError(Exception):
    """What Ray raises for an error of a task."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("an error of a task")
        self.cause = cause


class Cluster:
    """Stands for the module: a cluster with so many cores, None if it does not know them.

    asked: of the cluster itself, in order. most: calls that waited at the same time.
    """

    exceptions = SimpleNamespace(RayTaskError=TaskError)

    def __init__(self, is_running: bool, cores: float | None = 3.0) -> None:
        self.is_running, self.cores, self.asked, self.most = is_running, cores, list[str](), 0

    def is_initialized(self) -> bool:
        return self.is_running

    def init(self, *, log_to_driver: bool, include_dashboard: bool) -> None:
        assert not log_to_driver
        assert not include_dashboard
        self.asked.append("init")

    def shutdown(self) -> None:
        self.asked.append("shutdown")

    def cluster_resources(self) -> dict[str, float]:
        return {"memory": 1e9, **({} if self.cores is None else {"CPU": self.cores})}

    def put(self, value: Any) -> Any:
        return value

    def remote(self, *, num_cpus: int, max_retries: int) -> Callable[..., Any]:
        assert num_cpus == 1, "of a shard"
        assert max_retries > 1, "a node may die"

        def of(function: Callable[..., Any]) -> Any:
            return SimpleNamespace(remote=lambda *given: lambda: function(*given))

        return of

    def wait(
        self, running: Sequence[Any], num_returns: int = 1, *, timeout: float
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Ray refuses to wait for more than there are."""
        assert num_returns <= len(running)
        assert timeout <= 1.0, "progress is to be shown"
        self.most = max(self.most, len(running))
        return running[-1:], running[:-1]

    def get(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            raise TaskError(error) from error


@pytest.fixture
def annotate(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Annotate many shards on a cluster, or without one, with so many processes."""
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in texts_of(40, TEXTS)))

    def run(name: str, cluster: Cluster | None, processes: int = 1) -> Path:
        monkeypatch.setitem(sys.modules, "ray", cluster)
        settings = Settings(
            engine="local" if cluster is None else "ray", processes=processes, shard_size=100
        )
        annotate_files(model, [str(tmp_path / "a.txt")], tmp_path / name, settings)
        return tmp_path / name

    return run


def test_all_shards_are_done_with_so_many_at_once(
    annotate: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("spacy_cascade.tools.bulk.run._LINE_SECONDS", 0.0)
    expected = contents(annotate("local", None))
    assert len(expected) > 9
    for processes, cores, most in ((0, 3.0, 6), (0, None, 2), (3, 1.0, 3), (1, 3.0, 1)):
        cluster = Cluster(False, cores)
        capsys.readouterr()
        assert contents(annotate(f"{processes} of {cores}", cluster, processes)) == expected
        assert cluster.most == most
        assert "% done, " in capsys.readouterr().err


@pytest.mark.parametrize("is_running", [False, True])
@pytest.mark.parametrize(
    ("error", "raised"),
    [(None, None), (CorpusError("bad"), CorpusError), (OSError("bad"), TaskError)],
)
def test_only_a_cluster_that_the_run_began_is_ended(
    annotate: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    is_running: bool,
    error: Exception | None,
    raised: type[Exception] | None,
) -> None:
    """Also after an error; those of this package are raised as they are in one process."""

    def fail(*_: object) -> None:
        assert error
        raise error

    cluster = Cluster(is_running)
    if error:
        monkeypatch.setattr(ShardTask, "__call__", fail)
    with pytest.raises(raised) if raised else nullcontext():
        annotate("out", cluster)
    assert cluster.asked == ([] if is_running else ["init", "shutdown"])
