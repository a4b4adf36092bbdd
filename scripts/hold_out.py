"""Hold out a part of a corpus, to choose settings on.

python scripts/hold_out.py corpus/all.spacy corpus/train.spacy corpus/dev.spacy --share 0.1

Every so many Docs go into the second file, spread over the corpus; the order stays.
"""

import argparse
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin


def held_out(docs: list[Doc], share: float) -> tuple[list[Doc], list[Doc]]:
    """The Docs to keep, and those to hold out: a share of them, at least one of each."""
    n = min(max(1, round(share * len(docs))), len(docs) - 1)
    chosen = {i * len(docs) // n for i in range(n)}
    return (
        [doc for i, doc in enumerate(docs) if i not in chosen],
        [doc for i, doc in enumerate(docs) if i in chosen],
    )


def main() -> None:
    """Read the arguments, write both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the corpus")
    parser.add_argument("train", type=Path, help="file for what is kept")
    parser.add_argument("dev", type=Path, help="file for what is held out")
    parser.add_argument("--share", type=float, default=0.1, help="how much is held out")
    arguments = parser.parse_args()
    docs = list(DocBin().from_disk(arguments.source).get_docs(spacy.blank("en").vocab))
    if len(docs) < 2 or not 0 < arguments.share < 1:
        parser.error(f"cannot hold out {arguments.share} of {len(docs)} Docs")
    for path, part in zip(
        (arguments.train, arguments.dev), held_out(docs, arguments.share), strict=True
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        DocBin(docs=part, store_user_data=True).to_disk(path)
        print(f"{len(part)} Docs -> {path}")


if __name__ == "__main__":
    main()
