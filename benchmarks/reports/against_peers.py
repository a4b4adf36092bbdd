"""Ours against the best peer on each corpus of the suite: from the corpus alone, and as it comes.

Systems without results are left out. The words of a comparison are those of `TITLES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

import numpy as np

from ..lib.bootstrap import Difference, mean_difference
from .markdown import table
from .suite_results import ALONE, DEFAULT, TOKENS, Entry, home_columns

TITLES = {
    "from the corpus alone": "the best peer on each corpus: python-crfsuite with two trainers and "
    "a small grid, or spaCy `ner`",
    "as it comes": "the best peer on each corpus, which may have the same word clusters or vectors",
}
"""What is compared, and with which peers."""
PUBLISHED = (
    ("conll2003", 90.94, "LSTM-CRF (Lample et al. 2016)", "pretrained word vectors"),
    ("conll2003", 91.21, "BLSTM-CNNs-CRF (Ma and Hovy 2016)", "pretrained word vectors"),
)
"""Corpus, F1 on its test part by exact match, system, and what it had besides the corpus."""


@dataclass(frozen=True)
class Comparison:
    """Ours against the best peer on each corpus. pairs: their entries, by corpus."""

    pairs: Mapping[str, tuple[Entry, Entry]]

    @property
    def has_words(self) -> bool:
        """Whether ours has word knowledge on any corpus."""
        return any(has_words(ours) for ours, _ in self.pairs.values())

    @property
    def means(self) -> tuple[float, float]:
        """Mean F1 of ours, and of the best peers."""
        ours, theirs = zip(*self.pairs.values(), strict=True)
        return fmean(entry["f1"] for entry in ours), fmean(entry["f1"] for entry in theirs)

    def gap(self, *corpora: str) -> Difference:
        """The mean difference of F1 on these corpora, or all; its interval is paired over Docs."""
        chosen = [self.pairs[corpus] for corpus in corpora or self.pairs]
        counts = [(np.array(a["by_doc"]), np.array(b["by_doc"])) for a, b in chosen]
        return mean_difference(counts)


def has_words(entry: Entry) -> bool:
    """Whether a system had word knowledge that its corpus does not give."""
    return bool(entry.get("has_words"))


def comparisons(entries: Iterable[Entry]) -> dict[str, Comparison]:
    """Those that were measured, by their titles.

    From the corpus alone neither side has word knowledge. As it comes, ours has it where it is
    there for the language. The peer is the best of those with the same knowledge and those
    without; a corpus on which no peer with knowledge was measured is left out.
    """
    entries = [entry for entry in entries if entry["input"] == TOKENS]
    alone = [entry for entry in entries if not has_words(entry)]
    made = (_compare(alone, (ALONE, DEFAULT)), _compare(entries, (DEFAULT,)))
    found = dict(zip(TITLES, made, strict=True))
    if not found["as it comes"].has_words:
        del found["as it comes"]
    return {title: comparison for title, comparison in found.items() if comparison.pairs}


def _compare(entries: Sequence[Entry], systems: Sequence[str]) -> Comparison:
    """systems: ours, of which the first that was measured on a corpus counts."""
    pairs = {}
    for (corpus,) in home_columns(entries):
        here = [entry for entry in entries if entry["corpus"] == corpus]
        own = {e["system"]: e for e in here if e["is_fixed"] and not e["is_peer"]}
        ours = next((own[name] for name in systems if name in own), None)
        if ours is None:
            continue
        peers = [e for e in here if e["is_peer"] and (has_words(ours) or not has_words(e))]
        if any(has_words(peer) == has_words(ours) for peer in peers):
            pairs[corpus] = ours, max(peers, key=lambda peer: float(peer["f1"]))
    return Comparison(pairs)


def comparison_table(entries: Sequence[Entry]) -> str:
    """F1 of ours and of the best peer on each corpus; nothing where nothing was measured."""
    found = comparisons(entries)
    rows = [
        [corpus, *chain(*(_cells(each, corpus) for each in found.values()))]
        for (corpus,) in home_columns(entries)
    ]
    means = [[*map(_number, each.means), difference_cell(each.gap())] for each in found.values()]
    header = chain(*([title, "best peer", "difference"] for title in found))
    return table(["dev F1", *header], [*rows, ["**mean**", *chain(*means)]]) if found else ""


def published_table() -> str:
    """What others report without a transformer."""
    rows = [[corpus, f"{f1:.2f}", system, had] for corpus, f1, system, had in PUBLISHED]
    return table(["corpus", "test F1", "system", "besides the corpus"], rows, "lrll")


def _cells(comparison: Comparison, corpus: str) -> list[str]:
    if corpus not in comparison.pairs:
        return ["", "", ""]
    scores = [_number(entry["f1"]) for entry in comparison.pairs[corpus]]
    return [*scores, difference_cell(comparison.gap(corpus))]


def _number(value: float) -> str:
    return f"{value:.2f}"


def difference_cell(found: Difference) -> str:
    """A difference with its interval."""
    return f"{found.value:+.2f} ({found.low:+.1f} to {found.high:+.1f})"


def headline_lines(entries: Sequence[Entry]) -> list[str]:
    """A line of the README's table for each comparison, and one for spaCy's `ner` by itself."""
    lines = []
    for title, comparison in comparisons(entries).items():
        (ours, theirs), gap = comparison.means, comparison.gap()
        n, interval = len(comparison.pairs), f"({gap.low:+.1f} to {gap.high:+.1f})"
        lines.append(
            f"| F1, mean of {n} corpora, *{title}* | {ours:.1f} | {theirs:.1f} | {TITLES[title]}; "
            f"difference {gap.value:+.1f} {interval} |"
        )
    ner = [entry["f1"] for entry in entries if entry["system"] == "ner" and entry["is_fixed"]]
    return [*lines, f"| | | {fmean(ner):.1f} | spaCy `ner`, 60 or 120 s |"] if ner else lines
