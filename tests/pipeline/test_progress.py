"""Bars that show long work."""

from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace

import pytest

from spacy_cascade.pipeline import progress as module
from spacy_cascade.pipeline.progress import progress


class Screen(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BAR_AFTER", 0.15)


def shown(is_terminal: bool, seconds: float) -> str:
    screen = Screen(is_terminal)
    with progress("Folds", total=5, file=screen):
        time.sleep(seconds)
        return screen.getvalue()


def test_a_bar_appears_before_the_first_part_is_done() -> None:
    assert "Folds:   0%|" in shown(True, 0.3)
    assert "0/5" in shown(True, 0.3)


@pytest.mark.parametrize("n_done", [[], [5]])
def test_a_bar_is_gone_when_the_work_is_done(n_done: list[int]) -> None:
    screen = Screen(True)
    with progress("Folds", total=5, file=screen) as bar:
        time.sleep(0.3)
        for n in n_done:
            bar.update(n)
    assert "\n" not in screen.getvalue()
    assert not screen.getvalue().split("\r")[-1].strip()


def test_none_appears_for_short_work_or_in_a_file() -> None:
    assert shown(True, 0.0) == ""
    assert shown(False, 0.2) == ""


def test_a_notebook_has_bars_although_it_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    fake = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", fake)  # type: ignore[arg-type]
    assert "0/5" in shown(False, 0.3)
    shell.config = {}
    assert shown(False, 0.2) == ""
