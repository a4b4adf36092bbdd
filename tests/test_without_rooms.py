"""The core works without systems and tools: both folders and their entry points are taken away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import spacy_cascade
from helpers import PROJECT, write_sample

ROOMS = ("systems", "tools")
_WORK = """
import json, sys
from pathlib import Path

import spacy
from spacy.tokens import DocBin

import spacy_cascade
from spacy_cascade import fit

place = Path(spacy_cascade.__file__).parent
assert not (place / "systems").exists() and not (place / "tools").exists()
model, corpus = map(Path, sys.argv[1:])
trained = spacy.load(model)
docs = list(DocBin().from_disk(corpus).get_docs(trained.vocab))
texts = [doc.text for doc in docs]
found = [[(e.text, e.label_, e._.confidence) for e in doc.ents] for doc in trained.pipe(texts)]
again = spacy.load(model)
again.from_bytes(trained.to_bytes())
assert [[(e.text, e.label_, e._.confidence) for e in again(t).ents] for t in texts] == found
nlp = spacy.blank("en")
nlp.add_pipe("cascade_segmenter")
nlp.add_pipe("cascade_classifier")
fit(nlp, [(doc.text, [(e.start_char, e.end_char, e.label_) for e in doc.ents]) for doc in docs])
print(json.dumps([sum(map(len, found)), sum(len(nlp(text).ents) for text in texts)]))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the core alone, as if it had been installed."""
    folder = tmp_path_factory.mktemp("site")
    source = Path(spacy_cascade.__file__).parent
    skipped = shutil.ignore_patterns("__pycache__", *ROOMS)
    shutil.copytree(source, folder / "spacy_cascade", ignore=skipped)
    installed = folder / "spacy_cascade-0.3.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: spacy-cascade\nVersion: 0.3\n"
    )
    lines = []
    for point in distribution("spacy-cascade").entry_points:
        if not any(f"spacy_cascade.{ring}." in point.value for ring in ROOMS):
            lines += [f"[{point.group}]", f"{point.name} = {point.value}"]
    (installed / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def alone(site: Path, folder: Path, *arguments: str) -> str:
    """What a fresh Python prints that knows the core alone."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,  # In that of the checkout, Python would find the whole package.
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True, text=True, encoding="utf8", timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("config", ["memb", "ocr"])
def test_the_core_trains_annotates_saves_and_loads_alone(
    config: str, site: Path, tmp_path: Path
) -> None:
    train, dev = (write_sample(tmp_path / f"{split}.spacy", split) for split in ("train", "dev"))
    alone(
        site, tmp_path, "-m", "spacy", "train", str(PROJECT / "configs" / f"{config}.cfg"),
        "--output", "out", "--paths.train", str(train), "--paths.dev", str(dev),
        "--training.max_epochs", "3",
    )  # fmt: skip
    printed = alone(site, tmp_path, "-c", _WORK, "out/model-best", str(dev))
    n_found, n_fitted = json.loads(printed.splitlines()[-1])
    assert n_found > 0
    assert n_fitted > 0
