"""The report of adaptation to new documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .markdown import machine_sentence, table


def make_report(results: Mapping[str, Any]) -> str:
    settings = results["settings"]
    text = [
        "# Learning without forgetting\n",
        f"{machine_sentence(results['machine'])}\n",
        "Pipelines are trained on the old documents and adapted to sentences of new ones, which "
        "are taken document by document, with all entities annotated. F1 is that of the old and of "
        f"the new documents of dev, the mean of {settings['draws']} random draw(s) of documents. "
        "spaCy's `ner` continues its training on the first draw, after "
        f"{settings['ner_train_seconds']:g} s of training. Seconds are those of one thread, "
        "without reading and scoring.\n",
    ]
    names = ("old", "all", "dev_old", "dev_new")
    sizes = {name: f"{results['documents'][name]['documents']:,}" for name in names}
    text.append(
        f"New documents have a type that the old ones lack. Train: {sizes['old']} old of "
        f"{sizes['all']} documents; dev: {sizes['dev_old']} old, {sizes['dev_new']} new.\n"
    )
    text.append(change_table(results["lines"]))
    return "\n".join(text)


def change_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """F1 on old and new documents, and how it changed. lines: summaries of models."""
    header = ["", "F1 old", "change", "F1 new", "change", "seconds"]
    rows = [
        [
            line["title"],
            f"{line['old']:.2f}", f"{line['old_change']:+.2f}",
            f"{line['new']:.2f}", f"{line['new_change']:+.2f}",
            "" if line["seconds"] is None else f"{line['seconds']:.1f}",
        ]
        for line in lines
    ]  # fmt: skip
    return table(header, rows)
