"""The table of parallel training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .markdown import machine_sentence, table, thread_count


def make_report(results: Mapping[str, Any]) -> str:
    same = all(size["same_weights"] for size in results["sizes"])
    text = (
        f"{machine_sentence(results['machine'])} {results['config']}, {results['updates']} updates "
        f"of {results['iterations']} iterations. Weights for different numbers of threads: "
        f"{'the same to the last bit' if same else 'DIFFERENT'}.\n\n{_size_table(results)}"
    )
    if results["lines"]:
        header = ["", "constant", "for 1,000 sequences", "R²"]
        rows = [
            [
                thread_count(line["threads"]),
                f"{line['constant']:.3f} s",
                f"{line['per_thousand']:.4f} s",
                f"{line['r_squared']:.4f}",
            ]
            for line in results["lines"]
        ]
        text += "\nSeconds of an iteration as a line through these points:\n\n"
        text += table(header, rows, "rrrr")
    return text


def _size_table(results: Mapping[str, Any]) -> str:
    threads = results["threads"]
    header = ["sequences", "tokens", *(f"iteration, {thread_count(n)}" for n in threads)]
    header += [f"training, {thread_count(n)}" for n in threads]
    header += [f"{n} over {threads[0]}" for n in threads[1:]]
    header += [f"{n} over {threads[0]} by processor time" for n in threads[1:]]
    rows = []
    for size in results["sizes"]:
        cells = [f"{size['sequences']:,}", f"{size['tokens']:,}"]
        cells += [f"{seconds:.3f} s" for seconds in size["iteration_seconds"]]
        cells += [f"{seconds:.1f} s" for seconds in size["training_seconds"]]
        spread = zip(size["speed_ups"][1:], size["speed_up_ranges"][1:], strict=True)
        cells += [f"{value:.2f} x ({low:.2f} to {high:.2f})" for value, (low, high) in spread]
        rows.append(cells + [f"{value:.2f} x" for value in size["possible_speed_ups"][1:]])
    return table(header, rows, "r" * len(header))
