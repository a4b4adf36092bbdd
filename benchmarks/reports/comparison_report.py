"""The report of a comparison.

python -m benchmarks.reports.comparison_report RESULTS.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lib import bootstrap
from ..lib.bootstrap import f1_of
from ..lib.processes import Result
from .markdown import curve_table, in_milliseconds, machine_sentence, table, thousands
from .output import can_draw, read_json, write_json
from .plotting import COLOURS, annotate, draw_curves, log_ticks, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    return f"\n![{PICTURES[name][0]}]({picture.name})\n" if picture.exists() else ""


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


def write(results: Result, path: Path) -> None:
    write_json(results, path)
    if can_draw(picture_path(path, name) for name in PICTURES):
        draw_all(results, lambda name: picture_path(path, name))
    path.with_suffix(".md").write_text(make_report(results, path), encoding="utf8")


def compare_f1(results: Result) -> None:
    """Add F1 with its interval, and the differences between our models, to the results."""
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
    return bool(model["reader"] == "spacy" and name != "ner")


def learning_curves(results: Result) -> dict[str, tuple[str, Sequence[Sequence[float]]]]:
    """The title and the curve of each model, by its name.

    The curve of spaCy's `ner` has parts of the corpus only. On the whole corpus its training time
    is another one.
    """
    found: dict[str, tuple[str, Sequence[Sequence[float]]]] = {}
    for name, curve in results["learning"]["curves"].items():
        title = results["models"][name]["title"]
        if name == "ner":
            seconds = results["settings"]["ner_part_seconds"]
            found[name] = (f"{title}, {seconds:g} s", [point for point in curve if point[0] < 100])
        else:
            found[name] = (title, curve)
    return found


MODEL_COLOURS = {
    "crf": "#7f7f7f",
    "crf_online": "#b0b0b0",
    "crf_crf": "#8a5aa8",
    "icrf": "#c98a1b",
    "memb": "#1b6ca8",
    "ocr": "#3d7a3a",
    "crfsuite": "#b8442d",
    "crfsuite_pa": "#e08a70",
    "ner": "#111111",
}


def draw_all(results: Result, path_of: Callable[[str], Path]) -> None:
    """Draw every picture for which there are results."""
    for name, (_, draw_axes) in PICTURES.items():
        if name == "time" or name in results:
            figure, (axes,) = new_figure(9.6 if name == "time" else 7.6, 4.6)
            draw_axes(axes, results)
            save(figure, str(path_of(name)))


def _draw_time(axes: Axes, results: Result) -> None:
    from matplotlib.ticker import FuncFormatter

    models = results["models"]
    shown = {name: model for name, model in models.items() if model["series"]}
    for name, model in shown.items():
        seconds, f1 = zip(*model["series"], strict=True)
        marker = "o" if len(f1) < 12 else None
        style = {"color": MODEL_COLOURS[name], "marker": marker, "markersize": 4}
        axes.plot(seconds, f1, label=model["title"], **style)
        if len(f1) == 1:
            axes.plot(seconds, f1, color=MODEL_COLOURS[name], marker="s", markersize=8)
    best = max(f1 for model in shown.values() for _, f1 in model["series"])
    ends = [model["series"][-1][1] for model in shown.values()]
    # Much earlier points would only make the rest small.
    axes.set_ylim(max(best - 20, min([*ends, best - 8]) - 6), best + 1)
    axes.set_xscale("log")
    for axis in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        axis(FuncFormatter(_tick))
    axes.set(xlabel="seconds of training (one mark: only its end is known)", ylabel="F1 on dev")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _tick(value: float, _: object) -> str:
    """Only numbers that begin with 1, 2 or 5, so that labels do not overlap."""
    text = f"{value:g}"
    return text if text.lstrip("0.")[:1] in "125" else ""


def _draw_nbest(axes: Axes, results: Result) -> None:
    draw_curves(axes, results["nbest"]["curves"], COLOURS)
    log_ticks(axes, results["nbest"]["curves"])
    axes.set(xlabel="N best segmentations of each sentence", ylabel="F1 on dev")
    axes.legend(frameon=False, fontsize=9)


def _draw_learning(axes: Axes, results: Result) -> None:
    found = learning_curves(results)
    curves = dict(found.values())
    draw_curves(axes, curves, [MODEL_COLOURS[name] for name in found])
    log_ticks(axes, curves)
    axes.set(xlabel="% of the training corpus", ylabel="F1")
    axes.legend(frameon=False, fontsize=9, loc="lower right")


def _draw_threads(axes: Axes, results: Result) -> None:
    found = results["threads"]
    counts = found["counts"]
    axes.plot(counts, counts, color="#bbbbbb", linestyle="--", label="as many times as threads")
    axes.plot(
        counts, found["speed_ups"], color=MODEL_COLOURS["memb"], marker="o", label="MEMB, an update"
    )
    annotate(axes, counts, found["speed_ups"])
    axes.set_xticks(counts)
    axes.set(xlabel="threads", ylabel="times as fast", ylim=(0, max(counts) * 1.1))
    axes.legend(frameon=False, fontsize=9, loc="upper left")


def _draw_labels(axes: Axes, results: Result) -> None:
    curves = results["labels"]["curves"]
    draw_curves(axes, in_milliseconds(curves), ("#7f7f7f", "#b8442d", MODEL_COLOURS["memb"]))
    log_ticks(axes, curves)
    axes.set_yscale("log")
    axes.set(xlabel="types", ylabel="milliseconds of an iteration")
    axes.legend(frameon=False, fontsize=9, loc="upper left")


PICTURES: dict[str, tuple[str, Callable[[Axes, Result], None]]] = {
    "time": ("F1 on dev against seconds of training", _draw_time),
    "nbest": ("F1 by the length of the N-best list, on dev", _draw_nbest),
    "learning": ("F1 by the size of the training corpus", _draw_learning),
    "threads": ("Speed-up of training by threads", _draw_threads),
    "labels": ("Seconds of an L-BFGS iteration by the number of types", _draw_labels),
}
"""The title of each picture, and what draws it."""


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
