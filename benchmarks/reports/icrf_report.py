"""Tables of results of `experiments.icrf`: joint training and joint decoding of two chains."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean
from typing import Any

from .markdown import machine_sentence, table

Result = dict[str, Any]
APART, VITERBI = "CRF + CRF", "Viterbi"
TITLES = {
    "thesis": "Phrase chunks and entities, templates of the thesis",
    "ours": "Phrase chunks and entities, our templates",
}
PARTS = {"dev": "dev", "held back": "documents of train that were kept back"}


def make_report(results: Result) -> str:
    rows = results["rows"]
    parts = [
        "# Two chains, trained jointly and decoded jointly\n",
        "F1 of entities in percent, as means over random parts of train. Each table has the two "
        "chains trained apart (CRF + CRF) and trained jointly (ICRF) with a strength `C` of the "
        "constraint. Viterbi decodes one chain after the other. The other columns take the `N` "
        "best paths of the first chain: product, by the probabilities of both chains; scores, by "
        "the sum of both scores; mixture, by the mean scores of the second chain. The change is to "
        "CRF + CRF with Viterbi. Chains of phrase chunks and entities were trained on "
        f"{100 * results['share']:.0f} % of CoNLL-2003, chains of entities and their types on "
        f"{100 * results['part']:.0f} % of another corpus, or on all of it where nothing is kept "
        f"back.\n\n{machine_sentence(results['machine'])}\n",
    ]
    for chains in dict.fromkeys(row["chains"] for row in rows):
        own = [row for row in rows if row["chains"] == chains]
        for part, title in PARTS.items():
            if all(part in row["scores"] for row in own):
                heading = TITLES.get(chains, f"Entities and types, {chains}")
                parts += [f"## {heading}: {title}\n", _table(own, part)]
    return "\n".join(parts)


def _table(rows: Iterable[Result], part: str) -> str:
    found: dict[str, list[Result]] = {}
    for row in rows:
        found.setdefault(row["system"], []).append(row)
    ways = [way for way in found[APART][0]["scores"][part] if way.startswith(_WAYS)]
    base = _mean(found[APART], part, VITERBI)
    lines = []
    for system, of_system in found.items():
        values = (_mean(of_system, part, way) for way in ways)
        lines.append([system, *(f"{value:.2f} ({value - base:+.2f})" for value in values)])
    seeds = len(found[APART])
    note = f"Means over {seeds} parts.\n" if seeds > 1 else "One training.\n"
    return table(["", *ways], lines) + "\n" + note


_WAYS = (VITERBI, "product", "scores", "mixture")


def _mean(rows: Iterable[Result], part: str, way: str) -> float:
    return mean(row["scores"][part][way] for row in rows)
