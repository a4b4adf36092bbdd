"""The report of a comparison.

python -m benchmarks.reports.comparison_report RESULTS.json
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..lib import bootstrap
from ..lib.bootstrap import f1_of
from .comparison_results import compare_f1, learning_curves
from .markdown import curve_table, in_milliseconds, machine_sentence, table, thousands
from .output import can_draw, read_json, write_json

Result = dict[str, Any]

PICTURES = {
    "time": "F1 on dev against seconds of training",
    "nbest": "F1 by the length of the N-best list, on dev",
    "learning": "F1 by the size of the training corpus",
    "threads": "Speed-up of training by threads",
    "labels": "Seconds of an L-BFGS iteration by the number of types",
}
"""What each picture shows."""


def main_table(results: Result) -> str:
    header = [
        "model", "P", "R", "F1", "95 %", "training", "peak memory", "features", "weights",
        "tokens/s", "ECE", "calibrated",
    ]  # fmt: skip
    return table(header, [_line(model) for model in results["models"].values()])


def _line(model: Mapping[str, Any]) -> list[str]:
    right, found, gold = np.array(model["by_doc"]).sum(axis=0)
    errors = model.get("calibration")
    numbers = [f"{model[name]:,}" if name in model else "" for name in ("features", "weights")]
    speed = model["tokens_per_second"]
    return [
        model["title"],
        f"{100 * right / max(found, 1):.2f}",
        f"{100 * right / max(gold, 1):.2f}",
        f"**{model['f1']:.2f}**",
        "{:.1f} to {:.1f}".format(*model["f1_interval"]),
        f"{model['seconds']:.1f} s",
        f"{model['peak_memory_megabytes']:,.0f} MB",
        *numbers,
        thousands(speed) if speed else "",
        *([f"{errors[name]:.3f}" for name in ("before", "after")] if errors else ["", ""]),
    ]


def type_table(results: Result) -> str:
    models = results["models"]
    labels = sorted({label for model in models.values() for label in model["by_label"]})
    nothing = (0, 0, 0)
    rows = [
        [m["title"], *(f"{f1_of([m['by_label'].get(label, nothing)]):.2f}" for label in labels)]
        for m in models.values()
    ]
    gold = [max(m["by_label"].get(label, nothing)[2] for m in models.values()) for label in labels]
    return table(["", *labels], [*rows, ["gold entities", *(f"{n:,}" for n in gold)]])


def difference_table(results: Result) -> str:
    """F1 of the model of the row minus that of the column; clear differences are bold."""
    found: dict[tuple[str, str], str] = {}
    for pair in results["differences"]:
        left, right = pair["left"], pair["right"]
        for key, value in (((left, right), pair["value"]), ((right, left), -pair["value"])):
            found[key] = f"**{value:+.2f}**" if pair["is_clear"] else f"{value:+.2f}"
    names = list(dict.fromkeys(left for left, _ in found))
    titles = [f"{i} {results['models'][name]['title']}" for i, name in enumerate(names, 1)]
    rows = [
        [title, *(found.get((row, column), "") for column in names)]
        for title, row in zip(titles, names, strict=True)
    ]
    return table(["", *map(str, range(1, len(names) + 1))], rows)


def picture_path(path: Path, name: str) -> Path:
    return path.with_name(f"{path.stem}_{name}.png")


def _picture(path: Path, name: str) -> str:
    picture = picture_path(path, name)
    return f"\n![{PICTURES[name]}]({picture.name})\n" if picture.exists() else ""


def make_report(results: Result, path: Path) -> str:
    """The whole report. path: of the JSON file; pictures are beside it."""
    evaluated = "test" if "test" in results["corpus"] else "dev"
    parts = [_heading(results), *(f"{line}\n" for line in results["missing"].values())]
    parts += [f"## Scores on {evaluated}\n", main_table(results), _explanation(results)]
    parts += [_picture(path, "time"), "## F1 by type\n", type_table(results)]
    if results["differences"]:
        parts += [
            "## Differences of F1\n",
            "Row minus column; bold where the 95 % interval of a paired bootstrap over Docs "
            f"({bootstrap.SAMPLES:,} samples) leaves out 0.\n",
            difference_table(results),
        ]
    for name, section in SECTIONS.items():
        if name in results:
            parts += [section(results), _picture(path, name)]
    parts.append(_times(results))
    return "\n".join(parts)


def _heading(results: Result) -> str:
    corpora = "; ".join(
        f"{name} {c['documents']:,} Docs, {c['sentences']:,} sentences, {c['tokens']:,} tokens, "
        f"{c['entities']:,} entities"
        for name, c in results["corpus"].items()
    )
    return f"# Comparison\n\n{machine_sentence(results['machine'])}\n\nCorpora: {corpora}.\n"


def _explanation(results: Result) -> str:
    settings = results["settings"]
    return (
        "Training: seconds of `initialize`, encoding and all updates of the config, "
        f"with {settings['threads']} thread(s), {settings['at_once']} training(s) at a time with a "
        f"core each, median of {settings['repeats']}; reading and scoring are not counted. The "
        "best update on dev is kept. python-crfsuite has the templates of our one-phase models and "
        f"{settings['peer_iterations']} iterations of L-BFGS; its process holds no spaCy. spaCy's "
        "`ner` has its efficiency configuration and "
        f"{settings['ner_seconds']:g} s of training. Peak memory: of the training process, with "
        "scoring. tokens/s: from Docs with words to entities with confidences, on words that the "
        f"model has seen, one thread, in turn, median of {settings['rounds']}. 95 %: bootstrap "
        "over Docs. ECE: expected calibration error of the confidences in ten bins, as trained and "
        "with temperatures that are fitted on dev (without a test corpus: on one half of dev "
        "and evaluated on the other).\n"
    )


def _nbest(results: Result) -> str:
    return "## N best\n\n" + curve_table(results["nbest"]["curves"], "N")


def _learning(results: Result) -> str:
    curves = dict(learning_curves(results).values())
    parts = results["learning"]["parts"].values()
    sizes = ", ".join(f"{part['sentences']:,}" for part in parts)
    return (
        "## Learning from little data\n\n"
        + curve_table(curves, "% of train")
        + f"\nThe parts have {sizes} sentences. Below 2,000 of them `min_count` is 1. spaCy's "
        f"`ner` has {results['settings']['ner_part_seconds']:g} s for each part, which "
        "keeps it from gaining by more data.\n"
    )


def _threads(results: Result) -> str:
    found = results["threads"]
    rows = [
        ["seconds of an update of MEMB", *(f"{s:.2f}" for s in found["update_seconds"])],
        ["times as fast", *(f"{s:.2f}" for s in found["speed_ups"])],
    ]
    same = "the same" if found["same_weights"] else "not the same"
    return (
        "## Threads\n\n"
        + table(["threads", *map(str, found["counts"])], rows)
        + f"\nThe weights are {same} to the last bit.\n"
    )


def _labels(results: Result) -> str:
    found = results["labels"]
    return (
        "## Cost of types\n\n"
        + curve_table(in_milliseconds(found["curves"]), "types", 1)
        + f"\nMilliseconds of an L-BFGS iteration on {found['tokens']:,} tokens whose entities "
        "have made-up types, with the same templates everywhere. The cost of a chain over typed "
        "tags grows with the square of the number of types; in a cascade only the cost of the "
        "classifier grows, linearly.\n"
    )


SECTIONS = {"nbest": _nbest, "learning": _learning, "threads": _threads, "labels": _labels}


def _times(results: Result) -> str:
    parts = ", ".join(f"{name} {s:.0f} s" for name, s in results["part_seconds"].items())
    whole = sum(results["part_seconds"].values()) / 60
    return f"Made in {whole:.1f} minutes: {parts}.\n"


def write(results: Result, path: Path) -> None:
    write_json(results, path)
    if can_draw(picture_path(path, name) for name in PICTURES):
        from .comparison_pictures import draw_all

        draw_all(results, lambda name: picture_path(path, name))
    path.with_suffix(".md").write_text(make_report(results, path), encoding="utf8")


def main() -> None:
    """Write the report of results again, without measuring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="JSON file of a comparison")
    path = parser.parse_args().results
    results = read_json(path)
    compare_f1(results)
    write(results, path)


if __name__ == "__main__":
    main()
