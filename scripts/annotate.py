"""Annotate a text with a trained pipeline and print its entities with their confidence.

python scripts/annotate.py training/sample/model-best "Some text ."
"""

import argparse

import spacy
from wasabi import table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder of a trained pipeline")
    parser.add_argument("text", help="the text to annotate")
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.model)
    doc = nlp(arguments.text)
    print(f"\n{doc.text}")
    rows = [
        (entity.text, entity.label_, "-" if score is None else f"{score:.2f}")
        for entity in doc.ents
        for score in [entity._.confidence]
    ]
    if not rows:
        print("\nNo entities found.")
        return
    print(table(rows, header=("Entity", "Type", "Confidence"), divider=True, max_col=60))


if __name__ == "__main__":
    main()
