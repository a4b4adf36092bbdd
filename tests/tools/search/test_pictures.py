"""Pictures of searches on two settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_cascade.tools.search import quadrants
from spacy_cascade.tools.search.axes import Axis, Point
from spacy_cascade.tools.search.pictures import draw
from spacy_cascade.tools.search.searches import Search
from spacy_cascade.tools.search.trials import Trial

AXES = [Axis("a.sigma", 0.01, 1.0, is_log=True), Axis("a.kappa", 0.0, 8.0)]


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    trials: list[Trial] = []

    def scores_of(points: list[Point]) -> list[float]:
        scores = [0.9 - abs(sigma - 0.3) - abs(kappa - 3) / 8 for sigma, kappa in points]
        for (sigma, kappa), score in zip(points, scores, strict=True):
            trials.append(Trial({"a.sigma": sigma, "a.kappa": kappa}, score, [score], 1.0))
        return scores

    finished = Search("search", AXES, quadrants.search(AXES, scores_of, rounds=3))
    trials.append(Trial({"b.sigma": 1.0}, 0.5, [0.5], 1.0))
    draw(finished, trials, tmp_path / "search.png")
    pixels = image.imread(tmp_path / "search.png")[..., :3]
    assert pixels.shape == (540, 720, 3)
    # Points have colours; axes, text and boxes have not.
    coloured = (pixels.max(axis=2) - pixels.min(axis=2) > 0.1)[:, :500]
    assert coloured.sum() > 100 * len(finished.found.boxes)
