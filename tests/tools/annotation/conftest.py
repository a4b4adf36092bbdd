"""A backend for Label Studio, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from spacy_cascade.tools.annotation.label_studio.learner import Learner
from studio import client_of


@pytest.fixture
def learner(model: Path, tmp_path: Path) -> Iterator[Learner]:
    with closing(Learner(model, tmp_path / "out")) as learner:
        yield learner


@pytest.fixture
def client(learner: Learner) -> Iterator[Any]:
    pytest.importorskip("fastapi")
    with client_of(learner) as client:
        yield client
