"""Folders of the project."""

from __future__ import annotations

from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent
PROJECT = BENCHMARKS.parent
CONFIGS = PROJECT / "configs"
RESULTS = BENCHMARKS / "results"
WORK = BENCHMARKS / "work"
"""Models, kernels and the results of single tasks."""
