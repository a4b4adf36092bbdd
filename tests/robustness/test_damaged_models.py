"""Damaged model files: refused by an error that says where, at once and within their own size."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import damage
import numpy as np
import pytest
import spacy
from model_files import Model, array_bytes

from helpers import run_python
from spacy_cascade import ModelFileError

pytestmark = pytest.mark.slow


def test_damaged_models(
    models: Path, cases: Callable[[int], int], figure: Callable[[str, str], None]
) -> None:
    """Cut off, bits flipped, and fields edited with all checksums right."""
    n = cases(10_000)
    done = run_python("-W", "ignore", damage.__file__, str(models), "0", str(n), timeout=3600.0)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    came = result["came"]
    assert came["refused"] > 0.9 * n
    figure(
        f"{n:,} damaged model files",
        f"{came['refused']:,} refused by an error that names the field, "
        f"{came.get('another valid model', 0):,} edited into another valid model; slowest "
        f"{1000 * result['slowest']:.0f} ms, memory at most twice the file and "
        f"{result['memory'] / 1000:.0f} kB",
    )


def large_model(models: Path, name: str) -> tuple[Any, Model]:
    """A component, and a valid model of some megabytes for it."""
    folder, _, component = name.partition("/")
    pipe = spacy.load(models / folder, exclude=["tokenizer"]).get_pipe(component)
    model = Model.of(pipe.to_bytes())
    generator = np.random.default_rng(3)
    n_columns = pipe.structure.n_columns
    n_features = 1_500_000 // n_columns
    for array, values in list(model.arrays.items()):
        if array.endswith("keys") or "_keys:" in array:
            n = n_features if array == "keys" else 20_000
            model.arrays[array] = generator.permutation(np.arange(1, n + 1, dtype=np.uint64))
        elif array.startswith(("evidence", "lexicon")) and "labels" not in array:
            model.arrays[array] = np.zeros((20_000, *values.shape[1:]), values.dtype)
    weights = generator.normal(size=(n_features, n_columns)).astype(np.float16)
    for array, values in (("weights", weights), ("curvature", np.ones(weights.shape, np.uint8))):
        if f"{array}_places" in model.arrays:
            there = generator.random(values.shape) < 0.1
            model.arrays[f"{array}_places"] = np.packbits(there)
            model.arrays[f"{array}_values"] = values[there]
        elif array in model.arrays:
            model.arrays[array] = values
    return pipe, model


def last(array: np.ndarray, value: Any) -> np.ndarray:
    """With another value at its end, where a reader finds it last."""
    changed = array.copy()
    changed.reshape(-1)[-1] = value
    return changed


def damaged(model: Model) -> Iterator[tuple[str, bytes]]:
    """Files that are right up to their end, and what has to be named."""
    bad: dict[str, Any] = {"f": np.nan, "i": -1, "b": 2}
    for name, array in model.arrays.items():
        if "keys" in name:
            value = last(array, array.reshape(-1)[0])
        elif name.startswith("curvature") or name.endswith("places"):
            value = array[:-1]
        elif "labels" in name:
            text = json.dumps([f"label {i}" for i in range(65_536)])
            value = np.frombuffer(text[:-1].encode(), np.uint8)
        else:
            as_numbers = array.view(np.uint8) if array.dtype == np.bool_ else array
            value = last(as_numbers, bad[array.dtype.kind]).view(array.dtype)
        yield name, Model(model.header, {**model.arrays, name: value}).pack()
    good = model.pack()
    yield "end of the archive", good[:-1]
    yield "directory|description", good[:-30] + bytes([good[-30] ^ 1]) + good[-29:]
    middle = len(good) // 2
    yield "checksum", good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    empty = array_bytes(np.zeros(0, np.uint8))
    yield "unknown", model.pack({**model.members(), **{f"{i}.npy": empty for i in range(1000)}})


@pytest.mark.parametrize(
    "name", ["memb/cascade_segmenter", "lexicons/cascade_segmenter", "tagged/cascade_tagger"]
)
def test_memory_of_large_damaged_models(
    name: str, models: Path, figure: Callable[[str, str], None]
) -> None:
    """At most twice the file, itself counted, whatever is found wrong at its very end."""
    pipe, model = large_model(models, name)
    pipe.from_bytes(model.pack())
    most, slowest, n = 0.0, 0.0, 0
    for named, data in damaged(model):
        n += 1
        tracemalloc.start()
        begin = time.process_time()
        with pytest.raises(ModelFileError, match=named):
            pipe.from_bytes(data)
        slowest = max(slowest, time.process_time() - begin)
        most = max(most, 1.0 + tracemalloc.get_traced_memory()[1] / len(data))
        tracemalloc.stop()
    assert most <= 2.0
    assert slowest < damage.LIMIT
    size = len(model.pack()) / 1e6
    figure(
        f"{n} ways to damage a {name.partition('/')[2]} of {size:.1f} MB",
        f"all refused; memory at most {most:.2f} x the file, slowest {1000 * slowest:.0f} ms",
    )
