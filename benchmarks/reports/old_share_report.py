"""Tables of results of `suite.old_share`."""

from __future__ import annotations

from typing import Any

from .markdown import machine_sentence, table

Result = dict[str, Any]


def make_report(results: Result) -> str:
    rows = results["rows"]
    shares = list(rows[0]["shares"])
    names = ["from, to", "target alone", *(f"share {share}" for share in shares), "chosen"]
    parts = [
        "# How much the old corpus should count\n",
        "F1 in percent of models of a source that were adapted to all of a target, by the share "
        "with which the source counts: 1 for all of it, 0 for none. The share in the last column "
        "was chosen by three-fold cross-validation on train of the target "
        f"(`adapt --old-share auto`).\n\n{machine_sentence(results['machine'])}\n",
    ]
    for part in ("target", "source"):
        lines = []
        for row in rows:
            chosen = f"{row['chosen']['share']:g}"
            by_share = {share: row["shares"][share][part] for share in shares}
            values = [row["alone"][part], *by_share.values()]
            lines.append(
                [
                    f"{row['system']}, {row['source']}, {row['target']}",
                    *(f"{value:.2f}" for value in values),
                    f"{by_share[chosen]:.2f} ({chosen})",
                ]
            )
        parts += [f"## F1 on dev of the {part}\n", table(names, lines)]
    return "\n".join(parts)
