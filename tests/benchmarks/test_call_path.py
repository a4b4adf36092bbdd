"""What one annotation and one update pass, which may only become less."""

from __future__ import annotations

import pytest
from numba.core import config

from benchmarks.experiments import call_path
from spacy_cascade import checks

AT_MOST = {"predict": (30, 108), "update": (43, 189)}
"""Modules and functions, with what decides whether a sequence is a sentence or a Doc."""


def test_functions_of_the_package_count_once_and_in_order() -> None:
    def call() -> None:
        for _ in range(2):
            checks.check_positive("block", one=1.0)
            checks.check_counts("block", two=2)

    assert call_path.passed_by(call) == {"checks": ["check_positive", "check_counts"]}


@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="kernels would count as functions")
def test_annotation_and_training_pass_no_more_than_before() -> None:
    found = call_path.measure()
    assert found.keys() == AT_MOST.keys()
    for what, passed in found.items():
        n_modules, n_functions = AT_MOST[what]
        assert what in next(iter(passed.values()))  # the call itself comes first
        assert passed["features.keys"] == []  # of which only kernels are called
        assert len(passed) <= n_modules
        assert sum(map(len, passed.values())) <= n_functions
