"""All parts of the proof, in the order of the page."""

from __future__ import annotations

from collections.abc import Mapping

from tests.proof.fuzzing import FuzzingPart
from tests.proof.kills import KillsPart
from tests.proof.kit import Kit
from tests.proof.load import Load
from tests.proof.matrix import Matrix
from tests.proof.mutants import MutationPart
from tests.proof.part import Part
from tests.proof.tested import PytestPart

PARTS: Mapping[str, Part] = {
    "robustness": PytestPart(
        "What goes wrong around it",
        "Broken corpora and model files, full disks, read-only homes, long and odd texts, threads, "
        "processes and stopped trainings, in `tests/robustness`.",
        "tests/robustness",
    ),
    "saved": PytestPart(
        "Pipelines of earlier releases",
        "The saved pipelines of 0.3, one for each system, load and write what they wrote.",
        "tests/storage/test_saved_pipelines.py",
    ),
    "fuzzing": FuzzingPart(),
    "kills": KillsPart(),
    "load": Load(),
    "matrix": Matrix(),
    "kit": Kit(),
    "mutation": MutationPart(),
}
