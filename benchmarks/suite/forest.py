"""Ensembles of members with random classes of features, at home and away from home.

python -m benchmarks.suite.forest wikigold --data assets/suite

Figures 3 and 4 of the report on maximum entropy Markov models: F1 by the penalty on the background,
and by the number of members and the share of the classes of features that each of them has.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..lib.arguments import add_at_once
from ..lib.package import TOKENS_GIVEN, read_examples
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..reports.markdown import Curves, machine_sentence, table
from ..reports.output import Picture, run
from ..reports.plotting import COLOURS, draw_curves, new_figure, save
from .arguments import corpora_parser
from .corpora import SHIFTS, Prepared

HOME = "at home"
CONFIG = "memb.cfg"
SHARES = (0.58, 0.67, 0.83, 0.92)
"""14, 16, 20 and 22 of the report's 24 classes."""
SIZES = (1, 5, 10)
PENALTIES = tuple(round(0.05 * i, 2) for i in range(19))
"""Of means of probabilities: those of the report, of sums over ten members, are ten times these."""
_OVERRIDES = {
    f"corpora.{part}.{name}": value
    for part in ("train", "dev")
    for name, value in TOKENS_GIVEN.items()
}


def train_member(
    config: str, train: str, dev: str, folder: str, number: int, features: float, data: float
) -> Result:
    """Train the member of that number. features, data: shares that it has of both."""
    from spacy_cascade.systems.ensembles.workflow import Drawing, EnsembleTask, train_member
    from spacy_cascade.workflows.jackknife import read_config

    Path(folder).mkdir(parents=True, exist_ok=True)
    settings = read_config(CONFIGS / config, _OVERRIDES)
    drawing = Drawing(features, data)
    task = EnsembleTask((settings,), Path(train), Path(dev), number + 1, drawing)
    trained = train_member(task, number, Path(folder), 1)
    return {"name": trained.name, "f1": trained.f1}


def score_ensembles(
    folder: str,
    dev: str,
    targets: Mapping[str, Mapping[str, Any]],
    sizes: Sequence[int],
    penalties: Sequence[float],
) -> Result:
    """Counts of each corpus by the number of members and the penalty, and of each member alone.

    dev: at home, whose name is the empty text. targets: for each other corpus its `data`, and what
    each of its labels counts as. A member alone annotates as it was trained.
    """
    import spacy

    from spacy_cascade.systems.ensembles.members import decide, mean_posteriors, read_members

    found: Result = {}
    names = sorted(path.name for path in Path(folder).iterdir())
    alone = [spacy.load(Path(folder) / name) for name in names]
    members = read_members(Path(folder), alone[0].vocab)
    for name, target in {"": {"data": dev, "labels": None}, **targets}.items():
        examples = read_examples(target["data"], alone[0])
        labels, gold = target["labels"], set[tuple[int, int, str]]()
        offsets = [0]
        for example in examples:
            gold.update((e.start + offsets[-1], e.end + offsets[-1], e.label_)
                        for e in example.reference.ents)  # fmt: skip
            offsets.append(offsets[-1] + len(example.predicted))
        docs = [example.predicted for example in examples]
        listed = [member.posteriors(docs) for member in members]
        by_size: Result = {}
        for size in sizes:
            mean = mean_posteriors(listed[:size])
            by_size[str(size)] = {}
            for penalty in penalties:
                decision = decide(mean, penalty)
                spans = zip(
                    mean.start[decision.chosen].tolist(), mean.end[decision.chosen].tolist(),
                    (members[0].labels[i] for i in decision.label[decision.chosen].tolist()),
                    strict=True,
                )  # fmt: skip
                by_size[str(size)][f"{penalty:g}"] = _counts(set(spans), gold, labels)
        singles = []
        for nlp in alone:
            annotated = nlp.pipe([doc.copy() for doc in docs])
            own = {
                (e.start + offset, e.end + offset, e.label_)
                for offset, doc in zip(offsets, annotated, strict=False)
                for e in doc.ents
            }
            singles.append(_counts(own, gold, labels))
        found[name] = {"ensembles": by_size, "members": singles}
    return found


def _counts(
    found: set[tuple[int, int, str]],
    gold: set[tuple[int, int, str]],
    labels: Mapping[str, str] | None,
) -> list[int]:
    """Right, found and gold entities; labels: what each counts as, others do not count."""
    if labels is not None:
        found, gold = (
            {(start, end, labels[label]) for start, end, label in spans if label in labels}
            for spans in (found, gold)
        )
    return [len(found & gold), len(found), len(gold)]


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """A row for each share of the classes: F1 of its members, and of ensembles of them."""
    prepared, name = Prepared(runner, arguments.data), arguments.corpus
    prepared.sizes(name)
    targets = prepared.targets(name, SHIFTS)
    corpus = prepared.folder(name)
    paths = {part: str(corpus / f"{part}.spacy") for part in ("train", "dev")}
    rows = []
    for share in (*arguments.shares, 1.0):
        folder = runner.work / "members" / f"{name}-{share:g}"
        n_members = max(arguments.sizes) if share < 1 else 1
        settings = {"config": CONFIG, "folder": str(folder), "features": share, "data": 1.0}
        jobs = [
            partial(runner.run, "suite.forest:train_member", {**paths, **settings, "number": i})
            for i in range(n_members)
        ]
        runner.run_in_parallel(jobs, arguments.at_once)
        own_sizes = [size for size in arguments.sizes if size <= n_members]
        asked: dict[str, Any] = {"folder": str(folder), "dev": paths["dev"], "targets": targets}
        asked |= {"sizes": own_sizes, "penalties": list(PENALTIES)}
        found = runner.run("suite.forest:score_ensembles", asked)
        scores = {corpus: found[corpus] for corpus in ("", *targets)}
        rows.append({"source": name, "share": share, "scores": scores})
    return {"rows": rows}


def f1(counts: list[int]) -> float:
    """In percent, of numbers of right, found and gold entities."""
    right, found, gold = counts
    return 200 * right / max(found + gold, 1)


def corpora_of(row: Result) -> list[str]:
    """The names of the corpora of a row; the empty one is the corpus at home."""
    return list(row["scores"])


def curves(row: Result, corpus: str) -> Curves:
    """F1 by the penalty, for each number of members."""
    return {
        f"{size} members": [(float(penalty), f1(counts)) for penalty, counts in found.items()]
        for size, found in row["scores"][corpus]["ensembles"].items()
    }


def at_tuned_penalty(row: Result, size: str) -> dict[str, float]:
    """F1 on each corpus with the penalty that is best at home, and this penalty."""
    home = row["scores"][""]["ensembles"][size]
    penalty = max(home, key=lambda it: f1(home[it]))
    scores = {name: f1(found["ensembles"][size][penalty]) for name, found in row["scores"].items()}
    return {"penalty": float(penalty), **scores}


def best_member(row: Result, size: str) -> dict[str, float]:
    """F1 on each corpus of the member of the ensemble that is best there."""
    return {
        name: max(map(f1, found["members"][: int(size)])) for name, found in row["scores"].items()
    }


def make_report(results: Result) -> str:
    rows = results["rows"]
    names = corpora_of(rows[0])
    shown = [name or f"{rows[0]['source']} ({HOME})" for name in names]
    header = ["classes", "members", "penalty", *shown]
    lines = []
    for row in rows:
        for size in row["scores"][""]["ensembles"]:
            found = at_tuned_penalty(row, size)
            own = best_member(row, size)
            cells = [f"{found[name]:.2f} ({found[name] - own[name]:+.2f})" for name in names]
            lines.append([f"{100 * row['share']:.0f} %", size, f"{found['penalty']:g}", *cells])
    parts = [
        "# Ensembles of random classes of features\n",
        f"Entity F1 on dev in percent, of models of {rows[0]['source']}; tokens and sentences "
        "given. The penalty is the one that is best at home. In brackets the gain over the member "
        "that is best on that corpus, as it was trained.\n",
        table(header, lines),
        "\nThe picture has F1 by the penalty on the background.\n",
        f"\n{machine_sentence(results['machine'])}\n",
    ]
    return "\n".join(parts)


def draw(results: Result, path: str) -> None:
    """Figure 3: F1 by the penalty, a panel for each corpus, a line for each share of classes."""
    rows = [row for row in results["rows"] if row["share"] < 1]
    names = corpora_of(rows[0])
    figure, panels = new_figure(5 * len(names), 4.5, len(names))
    for axes, name in zip(panels, names, strict=True):
        lines = {}
        for row in rows:
            *_, (most, line) = curves(row, name).items()
            lines[f"{100 * row['share']:.0f} % of the classes, {most}"] = line
        draw_curves(axes, lines, COLOURS)
        axes.set(xlabel="penalty on the background", ylabel="F1, %", title=name or HOME)
    panels[0].legend(frameon=False)
    save(figure, path)


REPORT = make_report, Picture("F1 by the penalty on the background", draw)


def main() -> None:
    parser = corpora_parser(__doc__, "forest.json", nargs=None)
    parser.add_argument("--shares", nargs="+", type=float, default=list(SHARES), help="of classes")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="of ensembles")
    add_at_once(parser)
    run(parser, "forest", measure, *REPORT)


if __name__ == "__main__":
    main()
