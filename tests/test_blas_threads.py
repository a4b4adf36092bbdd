"""Products of dense matrices have the same bits for any number of threads that NumPy may use."""

from __future__ import annotations

import os
import subprocess
import sys

_DIGESTS = """
import hashlib
import numpy as np
from spacy_cascade.numeric.dense import DenseRows, TokenVectors
from spacy_cascade.parallel import Workers
from spacy_cascade.systems.word_window.layer import product

generator = np.random.default_rng(0)
values, slopes = generator.standard_normal((5000, 96)), generator.standard_normal((5000, 41))
weights = generator.standard_normal((96, 41))
rows, scores, gradient = DenseRows.of(TokenVectors(values), 0), 0 * slopes, 0 * weights
rows.add_scores(weights, scores, Workers(1))
rows.add_gradient(slopes, gradient, Workers(1))
singles = [values.astype(np.float32), slopes.astype(np.float32), weights.astype(np.float32)]
x, g, w = singles
found = [
    product(x, w), product(x, g, first_transposed=True), product(g, w, second_transposed=True),
    scores, gradient, rows.token_slopes(),
]
for each in found[3:]:
    single = found.pop(0)
    assert np.allclose(single, each, rtol=1e-3, atol=1e-2)
    print(hashlib.sha256(single.tobytes() + each.tobytes()).hexdigest())
"""


def test_products_have_the_same_bits_for_any_number_of_threads() -> None:
    found = set()
    for n_threads in "12":
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, n_threads)}
        child = subprocess.run(
            [sys.executable, "-c", _DIGESTS],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert child.stdout.count("\n") == 3
        found.add(child.stdout)
    assert len(found) == 1
