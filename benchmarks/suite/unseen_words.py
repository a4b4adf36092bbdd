"""Words that training has not seen: how often a warning is false, and how often it is right.

python -m benchmarks.suite.unseen_words --data assets/suite

The words of the suite's corpora under the rule of `spacy_cascade.pipeline.unseen_words`, without
any model. At home one half of a dev part is what was calibrated on, and the other half, whole and
in pieces of neighbouring words, is new text: each warning is false. Away from home all of dev is
what was calibrated on, and dev of each other English corpus is new text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

from spacy_cascade.pipeline.unseen_words import WordCounts
from spacy_cascade.tools.formats.columns import read_columns

from ..lib.processes import Result, TaskRunner
from ..reports.markdown import machine_sentence, table
from ..reports.output import run
from .arguments import data_parser
from .corpora import CORPORA

PIECES = (0, 4000, 2000, 1000)
"""Ordinary words of a piece, 0 for all of a half."""
Words = Sequence[str]


def words_of(path: str) -> list[str]:
    """The words of a column file."""
    documents = read_columns(path)
    return [word for doc in documents for sentence in doc.sentences for word in sentence.words]


def ordinary(words: Words) -> list[str]:
    """Those of letters alone, in small letters."""
    return [word for word in words if word.isalpha() and word == word.lower()]


def counts(words: Words, known: set[str]) -> WordCounts:
    """Of ordinary words. known: those of training."""
    return WordCounts(len(words), sum(word not in known for word in words))


def halves(words: Words) -> Iterator[tuple[Words, Words]]:
    """Each half, with the other one."""
    middle = len(words) // 2
    yield words[:middle], words[middle:]
    yield words[middle:], words[:middle]


def row_at_home(name: str, known: set[str], dev: Words) -> Result:
    """By the size of pieces: how many there are, and how many are warned of."""
    found: Result = {}
    for size in PIECES:
        warned = [
            counts(new[i : i + n], known).warning(counts(usual, known).share) is not None
            for usual, new in halves(dev)
            for n in [size or len(new)]
            for i in range(0, len(new) - n + 1, n)
        ]
        found[str(size)] = [len(warned), sum(warned)]
    return {"corpus": name, "pieces": found}


def row_away(source: str, target: str, known: set[str], home: Words, away: Words) -> Result:
    """The shares of unseen words at home and away, and whether that is warned of."""
    usual, new = counts(home, known), counts(away, known)
    warns = new.warning(usual.share) is not None
    return {"source": source, "target": target, "home": usual.share, "away": new.share,
            "warns": warns}  # fmt: skip


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    data: Path = arguments.data
    known, dev = {}, {}
    for name, corpus in CORPORA.items():
        files = corpus.files(data)
        known[name] = {word.lower() for word in words_of(files["train"])}
        dev[name] = ordinary(words_of(files["dev"]))
    english = [name for name, corpus in CORPORA.items() if corpus.lang == "en"]
    return {
        "home": [row_at_home(name, known[name], dev[name]) for name in CORPORA],
        "away": [
            row_away(source, target, known[source], dev[source], dev[target])
            for source, target in permutations(english, 2)
        ],
    }


def make_report(results: Result) -> str:
    away = results["away"]
    n_warned = sum(row["warns"] for row in away)
    return "\n".join(
        [
            "# Unseen words\n",
            "Texts with far more unseen words than those of calibration, by the rule of "
            "`pipeline/unseen_words.py`.\n\n"
            f"{machine_sentence(results['machine'])}\n",
            "False warnings: one half of a dev part after the other half, whole or in pieces of so "
            "many ordinary words.\n",
            _home_table(results["home"]),
            f"Dev of another corpus: {n_warned} of {len(away)} pairs are warned of.\n",
            _away_table(away),
        ]
    )


def _home_table(rows: Sequence[Result]) -> str:
    lines = [[row["corpus"], *(_of(row["pieces"][str(size)]) for size in PIECES)] for row in rows]
    sums = [[sum(row["pieces"][str(size)][i] for row in rows) for i in (0, 1)] for size in PIECES]
    lines.append(["**all**", *map(_of, sums)])
    return table(["corpus", "halves", *(f"{size:,}" for size in PIECES[1:])], lines)


def _of(found: Sequence[int]) -> str:
    n, warned = found
    return f"{warned} of {n}"


def _away_table(rows: Sequence[Result]) -> str:
    lines = [
        [f"{row['source']} → {row['target']}", f"{row['home']:.3f}", f"{row['away']:.3f}",
         "yes" if row["warns"] else ""]
        for row in rows
    ]  # fmt: skip
    return table(["trained on → new text", "unseen at home", "unseen away", "warns"], lines)


REPORT = make_report, None


def main() -> None:
    run(data_parser(__doc__, "unseen_words.json"), "unseen_words", measure, make_report)


if __name__ == "__main__":
    main()
