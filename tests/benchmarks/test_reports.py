"""Reports are made of the results: each file is what the code makes of its JSON, and draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.lib.paths import RESULTS
from benchmarks.reports import comparison_report, suite_report
from benchmarks.reports.figure_report import Report
from benchmarks.reports.output import read_json
from benchmarks.reports.suite_results import read_entries
from benchmarks.suite.reports import REPORTS, as_written


@pytest.mark.parametrize("name", REPORTS)
def test_reports_are_made_of_the_results(name: str) -> None:
    path = RESULTS / f"{name}.json"
    text = path.with_suffix(".md").read_text(encoding="utf8")
    assert as_written(path, REPORTS[name]) == text, "run benchmarks.suite.reports"


def test_larger_reports_are_made_of_the_results() -> None:
    comparison, figures = RESULTS / "jnlpba_comparison.json", RESULTS / "jnlpba.json"
    suite = suite_report.report(read_entries(RESULTS / "suite.jsonl"))
    made = {
        "jnlpba_comparison": comparison_report.make_report(read_json(comparison), comparison),
        "jnlpba": Report(figures, {}, read_json(figures)["conditions"]).table(),
    }
    for name, text in made.items():
        assert (RESULTS / f"{name}.md").read_text(encoding="utf8") == text
    assert (RESULTS / "suite.md").read_text(encoding="utf8").startswith(suite)


WITH_PICTURES = [name for name, (_, picture) in REPORTS.items() if picture]


@pytest.mark.slow(kind="pictures")
@pytest.mark.parametrize("name", WITH_PICTURES)
def test_pictures_are_drawn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    _, picture = REPORTS[name]
    assert picture
    picture.draw(read_json(RESULTS / f"{name}.json"), str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000
