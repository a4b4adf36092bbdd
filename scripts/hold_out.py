"""Hold out a part of a corpus, for example to choose settings.

python scripts/hold_out.py corpus/all.spacy corpus/train.spacy corpus/dev.spacy --share 0.1

The held-out Docs are spread evenly over the corpus. Both files keep its order.
"""

import argparse
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin


def held_out(docs: list[Doc], share: float) -> tuple[list[Doc], list[Doc]]:
    """The Docs to keep and those to hold out, at least one of each."""
    n = min(max(1, round(share * len(docs))), len(docs) - 1)
    chosen = {i * len(docs) // n for i in range(n)}
    return (
        [doc for i, doc in enumerate(docs) if i not in chosen],
        [doc for i, doc in enumerate(docs) if i in chosen],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the corpus")
    parser.add_argument("train", type=Path, help="file for the remaining part")
    parser.add_argument("dev", type=Path, help="file for the held-out part")
    parser.add_argument("--share", type=float, default=0.1, help="share of the Docs to hold out")
    arguments = parser.parse_args()
    docs = list(DocBin().from_disk(arguments.source).get_docs(spacy.blank("en").vocab))
    if len(docs) < 2 or not 0 < arguments.share < 1:
        parser.error(
            f"cannot hold out {arguments.share} of {len(docs)} Docs: give at least 2 Docs, and a "
            "share between 0 and 1"
        )
    for path, part in zip(
        (arguments.train, arguments.dev), held_out(docs, arguments.share), strict=True
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        DocBin(docs=part, store_user_data=True).to_disk(path)
        print(f"{len(part)} Docs -> {path}")


if __name__ == "__main__":
    main()
