"""A process that annotates for a long time: its memory, and what its caches hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from helpers import add_classifier, blank, run_python, sample_examples, train

pytestmark = [
    pytest.mark.slow(kind="long service"),
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory cannot be read"),
]

SCRIPT = Path(__file__).with_name("long_service.py")
N_DOCS = 200_000
MAXIMUM_LEXEMES = 1 << 16
WARM_UP = 3
"""Periods, in each of which the tables of words fill up once, before memory may not grow."""
MOST_GROWTH = 20.0
"""Megabytes."""
MOST_OF_A_BATCH = 3000
"""Words of a batch of the service, by which tables may exceed their bound."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained cascade with all kinds of features."""
    nlp = blank()
    nlp.add_pipe("cascade_segmenter")
    add_classifier(nlp)
    train(nlp, sample_examples(nlp), updates=1)
    folder = tmp_path_factory.mktemp("service") / "model"
    nlp.to_disk(folder)
    return folder


def service(model: Path, pipes: str, zones: str, n: int, maximum: int) -> dict[str, Any]:
    arguments = [str(SCRIPT), str(model), pipes, zones, str(n), str(maximum)]
    result = run_python(*arguments, timeout=3600.0)
    assert result.returncode == 0, result.stderr
    came: dict[str, Any] = json.loads(result.stdout)
    return came


def growth(megabytes: list[float]) -> float:
    """By how much the later half of the periods takes more than the warm-up, at the median.

    Highest values differ by 20 MB from period to period, by what happens to be copied at once.
    """
    return median(megabytes[len(megabytes) // 2 :]) - median(megabytes[:WARM_UP])


@pytest.mark.parametrize("zones", ["zones", "none"])
def test_memory_and_caches(
    model: Path, zones: str, cases: Callable[[int], int], figure: Callable[[str, str], None]
) -> None:
    """Where memory grows, what spaCy's vocabulary takes is measured apart, without components."""
    n, maximum = cases(N_DOCS), cases(MAXIMUM_LEXEMES)
    came = service(model, "all", zones, n, maximum)
    for what, count in came["entries"].items():
        if what.endswith("words"):
            assert count <= maximum + MOST_OF_A_BATCH, what
        elif what.endswith("tables of scores"):
            assert count == 1, what
        elif what == "strings":
            assert count < maximum, "strings are kept beyond a zone"
    total, of_spacy = growth(came["megabytes"]), 0.0
    if total > MOST_GROWTH:
        of_spacy = growth(service(model, "none", zones, n, maximum)["megabytes"])
    assert total - of_spacy <= MOST_GROWTH, came["megabytes"]
    held = sum(count for what, count in came["entries"].items() if what.endswith("bytes"))
    figure(
        f"a long life, memory zones: {zones}",
        f"{n:,} Docs with {n * 10:,} new words: {total:+.1f} MB after the tables of words were "
        f"full {WARM_UP} times"
        + (f", {of_spacy:+.1f} MB with spaCy's tokenizer alone" if of_spacy else "")
        + f"; tables of {held / 2**20:.0f} MB, process of {max(came['megabytes']):.0f} MB",
    )
