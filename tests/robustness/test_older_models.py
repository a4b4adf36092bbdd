"""Models of an earlier release find what they found; those of a later one are refused."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from model_files import Model
from spacy.language import Language

from helpers import annotation, make_doc
from spacy_cascade import ModelFileError

pytestmark = pytest.mark.slow

RELEASES = Path(__file__).parent / "models"
PIPELINES = sorted(path.parent for path in RELEASES.glob("*/*/predictions.jsonl"))


def load(folder: Path) -> Language:
    """Without the tokenizer, which is spaCy's own and was not saved; old names may only warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("default", FutureWarning)
        return spacy.load(folder, exclude=["tokenizer"])


def found_before(folder: Path) -> list[dict[str, Any]]:
    """What the release that saved a pipeline found in some texts."""
    with (folder / "predictions.jsonl").open(encoding="utf8") as lines:
        return [json.loads(line) for line in lines]


def check_predictions(nlp: Language, expected: list[dict[str, Any]]) -> int:
    """Compare tags, spans and labels exactly, confidences to 1e-12; the number of spans."""
    n_spans = 0
    for before in expected:
        doc = nlp(make_doc(nlp.vocab, before["text"]))
        now = json.loads(json.dumps(annotation(doc)))
        assert [token.tag_ for token in doc] == before["tags"]
        assert now["ents"] == before["ents"]
        assert now["spans"] == before["spans"]
        assert now["scores"].keys() == before["scores"].keys()
        for key, scores in before["scores"].items():
            if scores is None:
                assert now["scores"][key] is None
            else:
                np.testing.assert_allclose(now["scores"][key], scores, rtol=0, atol=1e-12)
        n_spans += sum(map(len, before["spans"].values()))
    return n_spans


@pytest.mark.parametrize("folder", PIPELINES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_models_of_an_earlier_release_predict_the_same(
    folder: Path, figure: Callable[[str, str], None], tmp_path: Path
) -> None:
    expected = found_before(folder)
    nlp = load(folder)
    n_spans = check_predictions(nlp, expected)
    assert n_spans > 50
    nlp.to_disk(tmp_path, exclude=["vocab", "tokenizer"])
    for name in nlp.pipe_names:
        files = [path / name / "cascade.npz" for path in (folder, tmp_path)]
        before, now = (Model.of(file.read_bytes()) for file in files)
        assert now.header.pop("settings") == json.loads(json.dumps(nlp.get_pipe(name).cfg))
        assert {**before.header, "version": 3} == now.header
        assert before.arrays.keys() == now.arrays.keys()
        for array, values in before.arrays.items():
            np.testing.assert_array_equal(now.arrays[array], values)
    check_predictions(load(tmp_path), expected)
    figure(
        f"models of release {folder.parent.name}: {', '.join(nlp.pipe_names)}",
        f"{n_spans} spans of {len(expected)} Docs equal, confidences to 1e-12, and equal again "
        "when saved by this release",
    )


def later(data: bytes) -> Model:
    model = Model.of(data)
    model.header["version"] = 4
    return model


def as_now(data: bytes) -> bytes:
    """Only the number of the version tells it from a model of today."""
    return later(data).pack()


def with_other_fields(data: bytes) -> bytes:
    """What a header has to have today is not there, and there is something else."""
    model = later(data)
    model.header = {"format": "spacy_cascade", "version": 1000, "types": {"DNA": 1}}
    model.arrays = {"numbers": np.zeros((2, 3, 4), np.int64)}
    return model.pack()


def with_arrays_of_another_kind(data: bytes) -> bytes:
    model = later(data)
    model.arrays["weights"] = model.arrays["weights"].astype(np.float64)
    return model.pack()


FORMS = [as_now, with_other_fields, with_arrays_of_another_kind]


@pytest.mark.parametrize("form", FORMS)
def test_models_of_a_later_format_are_refused(
    form: Callable[[bytes], bytes], figure: Callable[[str, str], None], tmp_path: Path
) -> None:
    shutil.copytree(PIPELINES[0], tmp_path / "model")
    file = tmp_path / "model" / "cascade_segmenter" / "cascade.npz"
    file.write_bytes(form(file.read_bytes()))
    with pytest.raises(ModelFileError, match=r"format version (4|1000), .*Update spacy_cascade"):
        load(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"cascade_segmenter/cascade\.npz"):
        load(tmp_path / "model")
    figure("models of a later format: refused, with advice", form.__name__.replace("_", " "))
