"""The report of a comparison: `python comparison_report.py RESULTS.json` writes it anew."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import bootstrap
from measure import Result, is_installed

PICTURES = {
    "time": "F1 on dev against seconds of training",
    "nbest": "F1 by the length of the N-best list, on dev",
    "learning": "F1 by the size of the training corpus",
    "threads": "Speed-up of training by threads",
    "labels": "Seconds of an L-BFGS iteration by the number of types",
}
"""Names of the pictures, and what they show."""


def f1_of(counts: Iterable[Sequence[int]]) -> float:
    """F1 in percent of summed numbers of right, found and gold entities."""
    table = np.array(list(counts), dtype=np.int64).reshape(-1, 3)
    return float(bootstrap.f1(table.sum(axis=0)))


def compare_f1(results: Result) -> None:
    """Put F1 with its interval, and the differences between our models, into the results."""
    models = results["models"]
    counts = {name: np.array(model["by_doc"]) for name, model in models.items()}
    sampled = bootstrap.samples(counts)
    for name, model in models.items():
        model["f1"] = float(bootstrap.f1(counts[name].sum(axis=0)))
        model["f1_interval"] = bootstrap.interval(sampled[name])
    ours = {name: c for name, c in counts.items() if is_ours(models[name], name)}
    results["differences"] = [
        {"left": left, "right": right, **asdict(found), "is_clear": found.is_clear}
        for (left, right), found in bootstrap.differences(ours).items()
    ]


def is_ours(model: Mapping[str, Any], name: str) -> bool:
    """Whether a model is one of ours."""
    return bool(model["reader"] == "spacy" and name != "ner")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose first column is text and whose others are numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main_table(results: Result) -> str:
    """A line for each model."""
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
        f"{round(speed, -3):,.0f}" if speed else "",
        *([f"{errors[name]:.3f}" for name in ("before", "after")] if errors else ["", ""]),
    ]


def type_table(results: Result) -> str:
    """F1 by type; a line for each model."""
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
    """What each of our models has more than the others, the clear differences in bold."""
    found: dict[tuple[str, str], str] = {}
    for pair in results["differences"]:
        for names, sign in (
            ((pair["left"], pair["right"]), 1),
            ((pair["right"], pair["left"]), -1),
        ):
            text = f"{sign * pair['value']:+.2f}"
            found[names] = f"**{text}**" if pair["is_clear"] else text
    names = list(dict.fromkeys(left for left, _ in found))
    titles = [f"{i} {results['models'][name]['title']}" for i, name in enumerate(names, 1)]
    rows = [
        [title, *(found.get((row, column), "") for column in names)]
        for title, row in zip(titles, names, strict=True)
    ]
    return table(["", *map(str, range(1, len(names) + 1))], rows)


def curve_table(curves: Mapping[str, Sequence[Sequence[float]]], x: str, digits: int = 2) -> str:
    """Curves as rows; a column for each x."""
    columns = sorted({point[0] for curve in curves.values() for point in curve})
    rows = []
    for name, curve in curves.items():
        values = {point[0]: f"{point[1]:.{digits}f}" for point in curve}
        rows.append([name, *(values.get(column, "") for column in columns)])
    return table([x, *(f"{column:g}" for column in columns)], rows)


def picture_path(path: Path, name: str) -> Path:
    """Where a picture of the results stands."""
    return path.with_name(f"{path.stem}_{name}.png")


def _picture(path: Path, name: str) -> str:
    picture = picture_path(path, name)
    return f"\n![{PICTURES[name]}]({picture.name})\n" if picture.exists() else ""


def make_report(results: Result, path: Path) -> str:
    """The whole report; path: of the JSON file, beside which the pictures are."""
    evaluated = "test" if "test" in results["corpus"] else "dev"
    parts = [_heading(results), *(f"{line}\n" for line in results["missing"].values())]
    parts += [f"## Scores on {evaluated}\n", main_table(results), _explanation(results)]
    parts += [_picture(path, "time"), "## F1 by type\n", type_table(results)]
    if results["differences"]:
        parts += [
            "## Differences of F1\n",
            "Row less column; bold where the 95 % interval of a paired bootstrap over Docs "
            f"({bootstrap.SAMPLES:,} samples) leaves out 0.\n",
            difference_table(results),
        ]
    for name, section in SECTIONS.items():
        if name in results:
            parts += [section(results), _picture(path, name)]
    parts.append(_times(results))
    return "\n".join(parts)


def _heading(results: Result) -> str:
    machine = results["machine"]
    packages = ", ".join(f"{k} {v}" for k, v in machine["packages"].items())
    corpora = "; ".join(
        f"{name} {c['documents']:,} Docs, {c['sentences']:,} sentences, {c['tokens']:,} tokens, "
        f"{c['entities']:,} entities"
        for name, c in results["corpus"].items()
    )
    return (
        "# Comparison\n\n"
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}, {packages}.\n\nCorpora: {corpora}.\n"
    )


def _explanation(results: Result) -> str:
    settings = results["settings"]
    return (
        "Training: seconds of `initialize`, encoding and all updates until the config ends it, "
        f"with {settings['threads']} thread(s), {settings['at_once']} training(s) at a time with a "
        f"core each, median of {settings['repeats']}; reading and scoring are not counted. The "
        "best update on dev is kept. python-crfsuite has the templates of our one-phase models and "
        f"{settings['peer_iterations']} iterations of L-BFGS; its process holds no spaCy. spaCy's "
        "`ner` has its efficiency configuration and "
        f"{settings['ner_seconds']:g} s to learn. Peak memory: of the training process, scoring "
        "included. tokens/s: Docs with words to entities, confidences included, words known, one "
        f"thread, in turn, median of {settings['rounds']}. 95 %: bootstrap over Docs. ECE: "
        "expected calibration error of the confidences in ten bins, as trained and with "
        "temperatures fitted to dev (where there is no test, to one half of dev and judged on the "
        "other).\n"
    )


def _nbest(results: Result) -> str:
    return "## N best\n\n" + curve_table(results["nbest"]["curves"], "N")


def learning_curves(results: Result) -> dict[str, tuple[str, Sequence[Sequence[float]]]]:
    """By name of the model what to call it, and its curve.

    That of spaCy's `ner` has parts only, for it had other seconds to learn on the whole.
    """
    found = {}
    for name, curve in results["learning"]["curves"].items():
        title = results["models"][name]["title"]
        if name == "ner":
            seconds = results["settings"]["ner_part_seconds"]
            found[name] = (f"{title}, {seconds:g} s", [point for point in curve if point[0] < 100])
        else:
            found[name] = (title, curve)
    return found


def _learning(results: Result) -> str:
    curves = dict(learning_curves(results).values())
    parts = results["learning"]["parts"].values()
    sizes = ", ".join(f"{part['sentences']:,}" for part in parts)
    return (
        "## Learning from little data\n\n"
        + curve_table(curves, "% of train")
        + f"\nThe parts have {sizes} sentences. Below 2,000 of them `min_count` is 1. spaCy's "
        f"`ner` has {results['settings']['ner_part_seconds']:g} s for each part, which is what "
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
    milliseconds = {
        name: [(n, 1000 * seconds) for n, seconds in curve]
        for name, curve in found["curves"].items()
    }
    return (
        "## Cost of types\n\n"
        + curve_table(milliseconds, "types", 1)
        + f"\nMilliseconds of an L-BFGS iteration on {found['tokens']:,} tokens whose entities "
        "have so many made-up types, the same templates everywhere. A chain over typed tags grows "
        "with the square of the number of types; of a cascade only the classifier grows, in a "
        "line.\n"
    )


SECTIONS = {"nbest": _nbest, "learning": _learning, "threads": _threads, "labels": _labels}


def _times(results: Result) -> str:
    parts = ", ".join(f"{name} {s:.0f} s" for name, s in results["part_seconds"].items())
    whole = sum(results["part_seconds"].values()) / 60
    return f"Made in {whole:.1f} minutes: {parts}.\n"


def write(results: Result, path: Path, *, with_pictures: bool) -> None:
    """Write the JSON file, the pictures and the report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf8")
    for name in PICTURES:  # earlier ones would not show these results
        picture_path(path, name).unlink(missing_ok=True)
    if with_pictures:
        import comparison_pictures

        comparison_pictures.draw_all(results, lambda name: picture_path(path, name))
    else:
        print('  no pictures: add matplotlib with pip install "spacy-cascade[viz]"')
    path.with_suffix(".md").write_text(make_report(results, path), encoding="utf8")


if __name__ == "__main__":
    where = Path(sys.argv[1])
    content = json.loads(where.read_text(encoding="utf8"))
    compare_f1(content)
    write(content, where, with_pictures=is_installed("matplotlib"))
