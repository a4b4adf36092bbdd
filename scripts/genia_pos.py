"""Remove the section marks from the part-of-speech corpus of GENIA.

python scripts/genia_pos.py assets/genia-pos/train.tsv corpus/genia-pos/train.tsv

The corpus has a word and its tag on each line. Each document begins with a sentence `UI - NUMBER`,
its title with `TI -` and its abstract with `AB -`; none of these is part of the text. The script
replaces the first with a line `-DOCSTART-`, and removes the other two.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

SECTIONS = ("TI", "AB")


def clean(text: str) -> Iterator[str]:
    """The sentences of a corpus, each with its blank line, and a mark before each document."""
    for sentence in text.strip().split("\n\n"):
        lines = sentence.split("\n")
        words = [line.split("\t")[0] for line in lines[:2]]
        if words == ["UI", "-"]:
            yield "-DOCSTART-\n\n"
        elif len(words) == 2 and words[0] in SECTIONS and words[1] == "-":
            yield "\n".join([*lines[2:], "", ""])
        else:
            yield sentence + "\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="file of the corpus")
    parser.add_argument("output", type=Path, help="file to write")
    arguments = parser.parse_args()
    text = arguments.source.read_text(encoding="utf8")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text("".join(clean(text)), encoding="utf8")


if __name__ == "__main__":
    main()
