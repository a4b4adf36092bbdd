"""Write the tables of results in the README and in docs/.

python -m benchmarks.reports.readme_tables
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from statistics import fmean
from typing import Any

from ..lib.paths import PROJECT, RESULTS
from .active_learning_report import needed_table
from .adaptation_report import change_table
from .comparison_report import is_ours, learning_curves, type_table
from .figure_report import cascade, headline
from .markdown import curve_table, in_milliseconds, measured_with, table, thousands
from .output import read_json
from .settings_report import settings_table
from .suite_report import suite_table
from .suite_results import read_entries

Make = Callable[..., str]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
_MARK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)

CONLL2003 = {
    "conll2003": "margin: `conll2003.cfg`",
    "conll2003_ocr": "online, passive-aggressive",
    "conll2003_icrf": "likelihood, trained jointly",
    "conll2003_crf_crf": "likelihood, trained apart",
    "crfsuite": "python-crfsuite, 200 iterations",
}
"""Two chains with different losses and trainers (`lib/variants.py`), and a peer."""


TABLES: dict[str, Callable[[], str]] = {
    "headline": headline,
    "cascade": cascade,
    "suite": lambda: suite_table(read_entries(RESULTS / "suite.jsonl")),
    "ingredients": lambda: settings_table(read_entries(RESULTS / "ingredients.jsonl")),
    "semi_markov": lambda: settings_table(read_entries(RESULTS / "semi_markov.jsonl")),
    "active_learning": lambda: needed_table(_read("active_learning")["rows"]),
}
"""Those that are not from one file of results, or that say themselves what they are measured with,
are here; the others follow."""


def _read(name: str) -> Any:
    return read_json(RESULTS / f"{name}.json")


def table_of(name: str, file: str, *given: Any) -> Callable[[Make], Make]:
    """Add a table that is made of a file of results, with the releases that made these below it."""

    def add(make: Make) -> Make:
        def made() -> str:
            results = _read(file)
            machine = results.get("machine") or results["conditions"]["machine"]
            return f"{make(results, *given)}\nMeasured with {measured_with(machine)}.\n"

        TABLES[name] = made
        return make

    return add


@table_of("comparison", "jnlpba_comparison")
def comparison(results: Any) -> str:
    header = ["", "F1", "95 %", "training", "peak memory", "tokens/s", "calibration error"]
    rows = []
    for model in results["models"].values():
        errors = model.get("calibration")
        rows.append(
            [
                model["title"],
                f"{model['f1']:.2f}",
                "{:.1f} to {:.1f}".format(*model["f1_interval"]),
                f"{model['seconds']:.1f} s",
                f"{model['peak_memory_megabytes']:,.0f} MB",
                thousands(model["tokens_per_second"]),
                f"{errors['before']:.3f} → {errors['after']:.3f}" if errors else "",
            ]
        )
    return table(header, rows)


@table_of("learning", "jnlpba_comparison")
def learning(results: Any) -> str:
    sizes = [f"{part['sentences']:,}" for part in results["learning"]["parts"].values()]
    sizes.append(f"{results['corpus']['train']['sentences']:,}")
    rows = [
        [title, *(f"{f1:.1f}" for _, f1 in curve), *[""] * (len(sizes) - len(curve))]
        for title, curve in learning_curves(results).values()
    ]
    return table(["sentences", *sizes], rows)


@table_of("conll2003", "conll2003")
def conll2003(results: Any) -> str:
    rows = []
    for name, title in CONLL2003.items():
        row = results[name]
        seconds = [f"{s:.1f} s" for s in row["seconds"].values()]
        chunks = f"{row['chunks_f']:.2f}" if "chunks_f" in row else "given"
        rows.append([title, f"{row['ents_f']:.2f}", chunks, *seconds, *[""] * (2 - len(seconds))])
    header = ["training", "F1 of entities", "of chunks", "time, one thread", "two threads"]
    return table(header, rows)


def _ours(results: Any) -> dict[str, Any]:
    models = {name: m for name, m in results["models"].items() if is_ours(m, name)}
    return {**results, "models": models}


@table_of("models", "jnlpba_comparison")
def models(results: Any) -> str:
    """Time, memory, size and speed of our models, and their F1."""
    header = ["", "F1", "training", "peak memory", "weights", "tokens/s", "where words are new"]
    rows = [
        [
            model["title"],
            f"{model['f1']:.2f}",
            f"{model['seconds']:.0f} s",
            f"{model['peak_memory_megabytes']:,.0f} MB",
            f"{model['weights']:,}" if "weights" in model else "",
            thousands(model["tokens_per_second"]),
            thousands(model["first_tokens_per_second"]),
        ]
        for model in _ours(results)["models"].values()
    ]
    return table(header, rows)


@table_of("types", "jnlpba_comparison")
def types(results: Any) -> str:
    return type_table(_ours(results))


@table_of("labels", "jnlpba_comparison", "labels", "types", 1)
@table_of("nbest", "jnlpba_comparison", "nbest", "N", 2)
def curves(results: Any, part: str, x: str, digits: int) -> str:
    """Curves of the comparison: milliseconds by the number of types, or F1 by N."""
    found = results[part]["curves"]
    return curve_table(in_milliseconds(found) if part == "labels" else found, x, digits)


@table_of("serving", "serving")
def serving(results: Any) -> str:
    header = [
        "clients", "requests", "requests/s", "half within", "99 % within", "memory at first",
        "at the end",
    ]  # fmt: skip
    rows = [
        [
            str(load["clients"]),
            f"{load['requests']:,}",
            f"{load['requests_per_second']:,.0f}",
            *(f"{load['milliseconds'][name]:.1f} ms" for name in ("p50", "p99")),
            *(f"{load['memory_megabytes'][i]:.0f} MB" for i in (0, -1)),
        ]
        for load in results["loads"]
    ]
    return table(header, rows)


@table_of("bulk", "bulk")
def bulk(results: Any) -> str:
    """Tokens per second by processes and batch size."""
    rates = results["tokens_per_second"]
    return table(["", "tokens/s"], [[name, thousands(r)] for name, r in rates.items()])


@table_of("bulk_memory", "bulk")
def bulk_memory(results: Any) -> str:
    curves = results["memory_megabytes"]
    rows = [[name, *(f"{megabytes:.0f} MB" for megabytes in c[::10])] for name, c in curves.items()]
    n_passes = max(map(len, curves.values()))
    return table(["after pass", *(str(i + 1) for i in range(0, n_passes, 10))], rows)


@table_of("lexicons", "jnlpba_lexicons")
def lexicons(results: Any) -> str:
    names = ("without", "with")
    details, rates = results["details"], results["tokens_per_second"]
    trained = [details[f"training_{name}"] for name in names]
    seconds, memory = results["load_seconds"], results["peak_memory_megabytes"]
    rows = [
        ["tokens/s, words known", *(thousands(rates[f"warm_{name}"]) for name in names)],
        ["the same, times as long", "1", f"{results['slowdown']['warm']:.2f}"],
        ["tokens/s, every word new", *(thousands(rates[f"first_{name}"]) for name in names)],
        ["reading and building the list, a stage", "", f"{trained[1]['build_seconds']:.1f} s"],
        ["loading", *(f"{seconds[name]:.1f} s" for name in names)],
        ["memory of loading and a first Doc", *(f"{memory[name]:.0f} MB" for name in names)],
        ["pipeline on disk", *(f"{part['disk_megabytes']:.1f} MB" for part in trained)],
    ]
    return table(["", "without", f"with {details['terms']['terms']:,} terms"], rows)


@table_of("leaving_out", "jnlpba_leaving_out")
def leaving_out(results: Any) -> str:
    """F1 with a term list that is made from the training corpus."""
    titles = {
        "no list": "no list",
        "all seen": "the list, all of it seen in training",
        "own left out": "the list, own entries left out",
    }
    f1 = results["f1"]
    return table(["", "F1"], [[title, f"{f1[name]:.2f}"] for name, title in titles.items()])


@table_of("adapting", "jnlpba_adapt")
def adapting(results: Any) -> str:
    """Adaptation to new documents."""
    return change_table(results["lines"])


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


def robustness() -> str:
    """Results of the tests of robustness at their full size."""
    lines = (RESULTS / "robustness.jsonl").read_text(encoding="utf8").splitlines()
    found: dict[tuple[str, str], list[str]] = {}
    for figure in map(json.loads, lines):
        found.setdefault((figure["test"], figure["what"]), []).append(figure["came"])
    return table(["tried", "found"], ([key[1], "; ".join(found[key])] for key in sorted(found)))


@table_of("mutation", "mutation")
def mutation(results: Any) -> str:
    """Mutants that the tests killed, by folder."""
    groups = results["groups"]
    shown = [
        [
            f"`{each['folder']}`", f"{each['mutants']:,}", f"{each['tried']:,}",
            f"{100 * each['killed'] / each['tried']:.1f} %", f"{each['equivalent']:,}",
        ]
        for each in groups
    ]  # fmt: skip
    header = ["folder", "mutants", "tried", "killed", "equivalent"]
    return table(header, shown, "lrrrr")


TABLES["robustness"] = robustness


def with_tables(text: str) -> str:
    """A page with every marked table made from the results."""
    return _MARK.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf8")), encoding="utf8")


if __name__ == "__main__":
    main()
