"""Results say which releases made them, also where figures of several releases are together."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.lib.machine import describe_machine
from benchmarks.reports.against_peers import comparison_table
from benchmarks.reports.figure_report import Report, Row, _values, headline
from benchmarks.reports.markdown import measured_with
from benchmarks.reports.output import read_json
from benchmarks.reports.suite_results import read_both
from helpers import PROJECT

RESULTS = PROJECT / "benchmarks/results"
IN_PARTS = {"jnlpba.json": "figures", "proof.json": None}
"""Files whose parts each name it; the key that these stand under."""
PART = {"documents": 1, "tokens": 2}
CONDITIONS = {"corpus": {"train": PART, "dev": PART}, "peer_iterations": 3}


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_results_name_the_release_that_made_them(path: Path) -> None:
    results = read_json(path)
    key = IN_PARTS.get(path.name)
    of_parts = results if key is None else results[key]
    parts = of_parts.values() if path.name in IN_PARTS else [results]
    for part in parts:
        machine = part.get("machine") or part["conditions"]["machine"]
        assert machine["packages"]["spacy-cascade"]


def test_figures_of_another_release_stay_and_keep_its_name(tmp_path: Path) -> None:
    path, now = tmp_path / "figures.json", describe_machine()
    older = {**now, "packages": {**now["packages"], "spacy-cascade": "0.0.9"}}
    Report(path, older, CONDITIONS).add("one", [Row("a", 1.0, "s")], {})
    Report(path, older, CONDITIONS).add("two", [Row("b", 1.0, "s")], {})
    report = Report(path, now, CONDITIONS)
    report.add("two", [Row("b", 2.0, "s")], {})
    figures = read_json(path)["figures"]
    assert [figures[name]["machine"] for name in ("one", "two")] == [older, now]
    assert figures["two"]["rows"][0]["value"] == 2.0
    lines = [line for line in report.table().splitlines() if line.startswith("- ")]
    assert ["one" in line and "0.0.9" in line for line in lines] == [True, False]
    assert Report(path, now, {**CONDITIONS, "peer_iterations": 4}).figures == {}


def test_the_headline_compares_the_same_ends() -> None:
    """All updates against all iterations, and new text with confidences on against new text."""
    figures = read_json(RESULTS / "jnlpba.json")["figures"]
    values, details = _values(figures), figures["training"]["details"]
    assert details["crfsuite"]["iterations"] == 200
    last, best = details["cascade"]["series"][-1], max(r[-1] for r in details["cascade"]["series"])
    assert values["F1 after all updates"] == last[-1] < best
    assert values["computed by the cascade"] >= last[1]
    rates = figures["decoding"]["details"]["tokens_per_second"]
    text = headline()
    assert f"{round(rates['first_confidence'], -3):,.0f} tokens/s" in text
    assert f"{round(rates['first_crfsuite'], -3):,.0f} |" in text
    assert measured_with(figures["decoding"]["machine"]) in text


def test_the_headline_has_the_mean_of_the_best_on_each_corpus() -> None:
    """From the corpus alone, and as it comes: as the table of all corpora."""
    entries = read_both(RESULTS / "suite.jsonl", RESULTS / "words.jsonl")
    (mean,) = [line for line in comparison_table(entries).splitlines() if "**mean**" in line]
    cells = [cell.strip() for cell in mean.split("|")]
    text = headline()
    for title, ours, peer in (
        ("from the corpus alone", *cells[2:4]),
        ("as it comes", *cells[5:7]),
    ):
        (line,) = [line for line in text.splitlines() if f"*{title}*" in line]
        shown = [float(cell) for cell in line.split("|")[2:4]]
        assert shown == pytest.approx([float(ours), float(peer)], abs=0.056)
