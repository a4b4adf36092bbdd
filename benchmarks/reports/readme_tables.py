"""Write the tables of results in the README, in docs/ and in some pages of benchmarks/results/.

python -m benchmarks.reports.readme_tables
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from statistics import fmean
from typing import Any

from ..lib.paths import PROJECT, RESULTS
from .against_peers import comparison_table
from .figure_report import cascade, headline
from .markdown import measured_with, table, thousands
from .output import read_json
from .settings_report import settings_table, words_table
from .suite_report import suite_table
from .suite_results import read_both, read_entries

Make = Callable[..., str]
PAGES = [
    PROJECT / "README.md",
    *sorted((PROJECT / "docs").glob("*.md")),
    *(RESULTS / f"{name}.md" for name in ("init", "proof", "scale")),
]
_MARK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)

TABLES: dict[str, Callable[[], str]] = {
    "headline": headline,
    "cascade": cascade,
    "suite": lambda: suite_table(read_entries(RESULTS / "suite.jsonl")),
    "as_it_comes": lambda: comparison_table(
        read_both(RESULTS / "suite.jsonl", RESULTS / "words.jsonl")
    ),
    "words": lambda: words_table(read_entries(RESULTS / "words.jsonl")),
    "semi_markov": lambda: settings_table(read_entries(RESULTS / "semi_markov.jsonl")),
}
"""Those that are not from one file of results, or that say themselves what they are measured with,
are here; the others follow."""


def _read(name: str) -> Any:
    return read_json(RESULTS / f"{name}.json")


def table_of(name: str, file: str) -> Callable[[Make], Make]:
    """Add a table that is made of a file of results, with the releases that made these below it."""

    def add(make: Make) -> Make:
        def made() -> str:
            results = _read(file)
            machine = results.get("machine") or results["conditions"]["machine"]
            return f"{make(results)}\nMeasured with {measured_with(machine)}.\n"

        TABLES[name] = made
        return make

    return add


@table_of("bulk", "bulk")
def bulk(results: Any) -> str:
    """Tokens per second by processes and batch size."""
    rates = results["tokens_per_second"]
    return table(["", "tokens/s"], [[name, thousands(r)] for name, r in rates.items()])


@table_of("prior_width", "prior_width")
def prior_width(results: Any) -> str:
    """F1 by multiples of sigma, for parts of corpora."""
    rows = results["rows"]
    factors = list(rows[0]["factors"])
    shown = [
        [
            row["corpus"],
            f"{row['tokens']:,}",
            f"{row['sigma']['cascade_segmenter']:.3f}",
            *(f"{row['factors'][factor]['f1']:.2f}" for factor in factors),
            str(row["factors"]["1"]["updates"]),
        ]
        for row in rows
    ]
    header = ["corpus", "words", "sigma", *(f"{factor} sigma" for factor in factors), "updates"]
    return table(header, shown)


@table_of("auto_search", "auto_search")
def auto_search(results: Any) -> str:
    """What `init --auto` gains, on documents that it did not choose by."""
    rows = results["rows"]
    gains = [row["auto"]["kept_out"] - row["rules"]["kept_out"] for row in rows]
    shown = [
        [
            row["corpus"],
            f"{row['rules']['kept_out']:.2f}",
            f"{row['auto']['kept_out']:.2f}",
            f"{gain:+.2f}",
            ", ".join(row["kept"]) or "none",
        ]
        for row, gain in zip(rows, gains, strict=True)
    ]
    shown.append(["mean", "", "", f"{fmean(gains):+.2f}", ""])
    return table(["corpus", "rules", "`--auto`", "gain", "changes that were kept"], shown, "lrrrl")


@table_of("few_documents", "few_documents")
def few_documents(results: Any) -> str:
    """F1 with word clusters and without, on shares of the training documents."""
    rows = results["rows"]
    scores = [[f"{f1:.2f}" for f1 in row["f1"].values()] for row in rows]
    sizes = [[row["corpus"], f"{row['tokens']:,}"] for row in rows]
    shown = [[*size, *of_size] for size, of_size in zip(sizes, scores, strict=True)]
    return table(["corpus", "words", *rows[0]["f1"]], shown)


@table_of("network", "network")
def network(results: Any) -> str:
    """What a network of words gains and costs."""
    rows = [*results["rows"], *_read("network_abstracts")["rows"]]
    shown, gains = [], []
    for row in rows:
        without, having = row["features"], row["network"]
        gains.append(having["f1"] - without["f1"])
        away = [f"{name} {having['away'][name] - f1:+.2f}" for name, f1 in without["away"].items()]
        shown.append(
            [
                row["corpus"],
                f"{without['f1']:.2f}",
                f"{gains[-1]:+.2f}",
                ", ".join(away),
                f"{having['seconds'] / without['seconds']:.1f}",
                f"{(having['bytes'] - without['bytes']) / 1e6:.1f}",
                *(f"{row['speed'][words]:.2f}" for words in ("known", "new")),
                f"{row['raw_text']['known']:.0f}",
            ]
        )
    shown.append(["**mean**", "", f"{fmean(gains):+.2f}", *[""] * 6])
    names = "corpus, features, network, away, training, MB, known words, new words, `ner`"
    return table(names.split(", "), shown)


@table_of("past_memory", "past_memory")
def past_memory(results: Any) -> str:
    """Processor time and memory of trainings on streams, online and in batches."""
    stages = ("cascade_segmenter", "cascade_classifier")
    trainings = [("online", each) for each in results["trainings"]]
    batch = _read("past_memory_batch")
    trainings += [("batch", each) for each in batch["trainings"]]
    trainings += [("batch, in memory", each) for each in batch["in_memory"]]
    shown = [
        [
            title,
            f"{each['tokens'] / 1e6:.1f} M",
            *(f"{each['features'][name]:,}" for name in stages),
            f"{each['microseconds_per_token']:.1f} µs",
            f"{each['peak_memory_megabytes'] / 1000:.2f} GB",
            f"{100 * each['ents_f']:.2f}",
        ]
        for title, each in trainings
    ]
    header = [
        "training", "tokens", "features of the segmenter", "of the classifier",
        "processor time of a token", "peak memory", "F1 on dev",
    ]  # fmt: skip
    return table(header, shown)


@table_of("many_labels", "many_labels")
def many_labels(results: Any) -> str:
    """A cascade with the types of a corpus, and with many made of them."""
    few, many = (results["runs"][name] for name in ("own types", "many types"))
    rows = [
        ["training", *(f"{run['training_seconds']:.0f} s" for run in (few, many))],
        ["peak memory", *(f"{run['peak_memory_megabytes'] / 1000:.2f} GB" for run in (few, many))],
        ["raw text", *(thousands(run["annotated_tokens_per_second"]) for run in (few, many))],
        ["weights that are not zero", *(f"{run['weights_not_zero']:,}" for run in (few, many))],
        ["classifier on disk", *(f"{run['megabytes_on_disk']:.1f} MB" for run in (few, many))],
    ]
    rows[2][1:] = [f"{rate} tokens/s" for rate in rows[2][1:]]
    return table(["", *(f"{run['types']} types" for run in (few, many))], rows)


def proof() -> str:
    """A line for each part of the proof of a release (`tests/proof`), and what is not as promised.

    Parts have dates and commits of their own.
    """
    parts = _read("proof").values()
    lines = [[part["title"], part["summary"], part["date"], part["commit"]] for part in parts]
    gaps = [
        f"- **{row['tried']}**: {row['found']}"
        for part in parts
        for row in part["rows"]
        if row["is_gap"]
    ]
    not_promised = "\n".join(["", "Not as promised:", "", *gaps, ""]) if gaps else ""
    return table(["part", "what came of it", "date", "commit"], lines, "llll") + not_promised


def all_of_proof() -> str:
    """Each part with all that was tried, and what came of it."""
    return "\n".join(map(_part_of_proof, _read("proof").values()))


def _part_of_proof(part: Any) -> str:
    rows = [
        [f"**{row['tried']}**" if row["is_gap"] else row["tried"], row["found"]]
        for row in part["rows"]
    ]
    machine = part["machine"]
    return (
        f"## {part['title']}\n\n{part['says']}\n\n{table(['tried', 'found'], rows, 'll')}\n"
        f"{part['date']}, commit {part['commit']}, {part['hours']} hours; {machine['processor']} "
        f"({machine['cores']} cores), Python {machine['python']}.\n"
    )


TABLES.update(proof=proof, all_of_proof=all_of_proof)


def with_tables(text: str) -> str:
    """A page with every marked table made from the results."""
    return _MARK.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf8")), encoding="utf8")


if __name__ == "__main__":
    main()
