"""Trains on the bundled sample and annotates a sentence, with the package that is installed.

`python first_use.py SAMPLE`, in an empty folder; SAMPLE: `assets/sample`. Prints the entities.
"""

import subprocess
import sys
from pathlib import Path

import spacy
from spacy.tokens import DocBin

import spacy_cascade

TEXT = "NF-kappa B binds the IL-2 promoter in Jurkat T cells ."


def main() -> None:
    sample = Path(sys.argv[1])
    cascade = [sys.executable, "-m", "spacy", "cascade"]
    subprocess.run([*cascade, "--help"], check=True, stdout=subprocess.DEVNULL)
    nlp, docs = spacy.blank("en"), []
    for split in ("train", "dev"):
        read, written = str(sample / f"{split}.iob2"), f"{split}.spacy"
        subprocess.run([*cascade, "convert", read, written], check=True)
        docs.append(list(DocBin().from_disk(written).get_docs(nlp.vocab)))
    spacy_cascade.fit(nlp, *docs, updates=2)
    nlp.to_disk("MODEL")
    doc = spacy.load("MODEL")(TEXT)
    assert doc.ents
    assert all(0 < entity._.confidence <= 1 for entity in doc.ents)
    print(", ".join(f"{entity.text} {entity.label_}" for entity in doc.ents))


if __name__ == "__main__":
    main()
