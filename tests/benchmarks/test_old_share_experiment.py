"""The experiment on shares of the old corpus: its jobs and its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.lib.processes import TaskRunner
from benchmarks.suite.domains import CASCADE, CRF, Study
from benchmarks.suite.old_share import SHARES, jobs, make_report


class Recorded(TaskRunner):
    """A runner that computes nothing: F1 on the target grows as the share falls."""

    def run(self, task: str, arguments: Any, *_: Any, **__: Any) -> dict[str, Any]:
        if task.endswith("choose_share"):
            return {"share": 0.1, "tried": {}, "seconds": 1.0}
        if task.endswith("score_parts"):
            name = Path(arguments["model"]).name
            share = next((s for s in SHARES if name.endswith(f"-{s:g}")), None)
            target = 80.0 if share is None else 90.0 - share
            return {"target": {"f1": target}, "source": {"f1": 50.0}}
        return {}


def test_a_row_for_each_system_and_target(tmp_path: Path) -> None:
    study = Study(Recorded(tmp_path), tmp_path, "batch")
    planned = jobs(study, [CASCADE, CRF], "wikigold", ["wikigold", "btc", "sec-filings"])
    rows = [job() for job in planned]
    assert [(row["system"], row["target"]) for row in rows] == [
        (system, target) for system in (CASCADE, CRF) for target in ("btc", "sec-filings")
    ]
    machine = {"processor": "x", "system": "y", "python": "3", "packages": {}}
    report = make_report({"rows": rows[:1], "machine": machine})
    cells = ["80.00", *(f"{90.0 - share:.2f}" for share in SHARES), "89.90 (0.1)"]
    assert f"| cascade, wikigold, btc | {' | '.join(cells)} |" in report
