"""A model of one domain in another: as it is, adapted, pooled, and trained there alone.

python -m benchmarks.suite.domains --data assets/suite
python -m benchmarks.suite.domains --data assets/suite --system online --output online.json

Tables 2 to 6 and figure 2 of the report on maximum entropy Markov models: persons, places and
organisations of CoNLL-2003 in three other corpora, tokens and sentences given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ..lib.arguments import add_at_once
from ..lib.package import SEGMENTER, TOKENS_GIVEN
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..lib.variants import config_path
from ..reports.markdown import Curves, curve_table, machine_sentence, table
from ..reports.output import Picture, run
from ..reports.plotting import COLOURS, draw_curves, new_figure, save
from .arguments import data_parser
from .corpora import Prepared

SOURCE, TARGETS = "conll2003", ("wikigold", "btc", "sec-filings")
LABELS = ["PER", "LOC", "ORG"]
CRF, MEMM, CASCADE, ONLINE = "CRF", "MEMM", "cascade", "online cascade"
SYSTEMS = {"batch": (CRF, MEMM, CASCADE), "online": (ONLINE,)}
SIZES = (20, 100, 300, 0)
"""Sentences to adapt to, 0 for all."""
GAUSSIAN, PLAIN, CURVATURE = "Gaussian", "plain", "curvature"
PRIORS = {"batch": (GAUSSIAN, CURVATURE), "online": (PLAIN, CURVATURE)}
"""The report's prior, centred on the weights, or plain updates; and ours, narrow where a weight is
well known."""


def write_config(system: str, path: str) -> Result:
    """Write the config of a system: one phase with tags of types, or two phases."""
    from spacy.util import load_config

    if system in (CASCADE, ONLINE):
        config = load_config(CONFIGS / ("memb.cfg" if system == CASCADE else "ocr.cfg"))
    else:
        config = load_config(config_path("crf.cfg"))
        model = config["components"][SEGMENTER]["model"]
        model["min_count"] = 1
        model["templates"] = {"@misc": "spacy_cascade.SegmentationTemplates.v1"}
        if system == MEMM:
            model["@architectures"] = "spacy_cascade.MaximumEntropyMarkov.v1"
            del model["label_pairs"]
    for component in config["components"].values():
        if "threads" in component["trainer"]:
            component["trainer"]["threads"] = 1
    for part in ("train", "dev"):
        config["corpora"][part] = {**TOKENS_GIVEN, "path": f"${{paths.{part}}}"}
    config["training"]["before_to_disk"] = None
    config.to_disk(path)
    return {}


def first_sentences(source: str, target: str, n: int) -> Result:
    """Write the first sentences of the shuffled Docs of a corpus, or all for 0."""
    import random

    from ..lib import adaptation
    from ..lib.corpora import read_docs, write_docs

    docs = read_docs(source)
    random.Random(0).shuffle(docs)
    part = adaptation.first_sentences(docs, n) if n else docs
    write_docs(part, Path(target))
    return {"sentences": sum(1 for doc in part for _ in doc.sents)}


@dataclass(frozen=True)
class Study:
    """data: folder of the corpora. kind: of the systems, a key of `SYSTEMS`."""

    runner: TaskRunner
    data: Path
    kind: str

    def prepare(self) -> Result:
        """Write all corpora and configs; numbers of sentences of each part."""
        task, here = self.runner.run, "suite.domains"
        prepared = Prepared(self.runner, self.data)
        for name in (SOURCE, *TARGETS):
            prepared.sizes(name)
            for part in ("train", "dev"):
                source = str(prepared.folder(name) / f"{part}.spacy")
                arguments = {"source": source, "target": self.corpus(name, part)}
                task("lib.corpora:keep_labels", {**arguments, "labels": LABELS})
        found = {}
        for name in TARGETS:
            both = [self.corpus(each, "train") for each in (SOURCE, name)]
            task("lib.corpora:join", {"sources": both, "target": self.corpus(name, "pooled")})
            for size in SIZES:
                cut: Result = {"source": both[1], "target": self.corpus(name, f"{size}"), "n": size}
                found[f"{name} {size}"] = task(f"{here}:first_sentences", cut)["sentences"]
        for system in SYSTEMS[self.kind]:
            task(f"{here}:write_config", {"system": system, "path": self._path(f"{system}.cfg")})
        return found

    def corpus(self, name: str, part: str) -> str:
        return self._path(f"{name}-{part}.spacy")

    def _path(self, name: str) -> str:
        return str(self.runner.work / name)

    def train(self, system: str, name: str, part: str) -> str:
        """The path of a model of a part of a corpus, trained."""
        model = self._path(f"{system}-{name}-{part}")
        corpora = {"train": self.corpus(name, part), "dev": self.corpus(name, "dev")}
        arguments = {"config": self._path(f"{system}.cfg"), **corpora, "model": model}
        paths = {f"paths.{key}": path for key, path in corpora.items()}
        self.runner.run("lib.training:train_as_configured", {**arguments, "overrides": paths})
        return model

    def adapt(self, system: str, name: str, size: int, prior: str) -> str:
        """The path of the source's model, adapted to the first sentences of a target."""
        output = self._path(f"{system}-{name}-{size}-{prior}")
        arguments = {
            "model": self.train(system, SOURCE, "train"), "data": self.corpus(name, f"{size}"),
            "output": output, "overrides": {}, "updates": 2,
            "has_curvature": prior == CURVATURE,
        }  # fmt: skip
        self.runner.run("lib.adaptation:adapt_cascade", arguments)
        return output

    def score(self, model: Callable[[], str], name: str, **named: Any) -> Result:
        """F1 of a model, and of each type, on dev of a target and of the source."""
        parts = {"target": self.corpus(name, "dev"), "source": self.corpus(SOURCE, "dev")}
        path = model()
        found = self.runner.run("lib.adaptation:score_parts", {"model": path, "parts": parts})
        scores = {part: found[part] for part in parts}
        row = {**named, "target": name, "scores": scores}
        print(*named.values(), name, *(f"{part['f1']:.2f}" for part in scores.values()), flush=True)
        return row


def jobs(study: Study) -> list[Callable[[], Result]]:
    found: list[Callable[[], Result]] = []
    for system in SYSTEMS[study.kind]:
        for name in TARGETS:
            models = {
                "matched": partial(study.train, system, name, "train"),
                "mismatched": partial(study.train, system, SOURCE, "train"),
                "pooled": partial(study.train, system, name, "pooled"),
            }
            for regime, model in models.items():
                found.append(partial(study.score, model, name, system=system, regime=regime))
            for size in SIZES:
                for prior in PRIORS[study.kind]:
                    model = partial(study.adapt, system, name, size, prior)
                    named = {"system": system, "regime": "adapted", "prior": prior, "size": size}
                    found.append(partial(study.score, model, name, **named))
    return found


FEW = 100
"""Sentences by which forgetting is judged."""
MEANINGS = {
    "Gaussian": "Gaussian: the prior of the report, centred on the weights of the source.",
    "plain": "Plain: passive-aggressive updates that go on from the weights of the source.",
    "curvature": "Curvature: a weight that the source has determined well moves less.",
}
TABLES = {
    "matched": "Tables 2 and 3, matched: trained and scored on the target",
    "mismatched": "Table 4, mismatched: trained on CoNLL-2003, scored on the target",
    "adapted": "Table 5, adapted: the model of CoNLL-2003 adapted to all of the target",
    "pooled": "Table 6, pooled: trained on both corpora",
}


class Rows:
    """Rows of the results, by what they are of."""

    def __init__(self, rows: Iterable[Result]) -> None:
        self.rows = list(rows)
        self.systems = list(dict.fromkeys(row["system"] for row in self.rows))
        self.targets = list(dict.fromkeys(row["target"] for row in self.rows))
        self.priors = list(dict.fromkeys(row["prior"] for row in self.rows if "prior" in row))

    def scores(self, **named: object) -> Result:
        """The scores of the only row with these values."""
        (found,) = (r for r in self.rows if all(r.get(k) == v for k, v in named.items()))
        scores: Result = found["scores"]
        return scores

    def f1(self, part: str = "target", **named: object) -> float:
        return float(self.scores(**named)[part]["f1"])

    def adapted(self) -> dict[str, dict[str, str]]:
        """What tells the rows of each system and prior apart, by both their names."""
        return {
            f"{system}, {prior}": {"system": system, "prior": prior}
            for system, prior in product(self.systems, self.priors)
        }

    def curves(self, target: str, sentences: Result) -> Curves:
        """F1 on a target by the number of sentences, for each system and prior."""
        sizes = {row["size"] for row in self.rows if "size" in row}
        found = {}
        for name, named in self.adapted().items():
            start = self.f1(system=named["system"], target=target, regime="mismatched")
            points = [
                (sentences[f"{target} {size}"], self.f1(target=target, size=size, **named))
                for size in sizes
            ]
            found[name] = sorted([(0.0, start), *points])
        return found


def make_report(results: Result) -> str:
    rows = Rows(results["rows"])
    parts = [
        "# A model of one domain in another\n",
        "Persons, places and organisations of CoNLL-2003 in three other corpora. F1 on dev, and "
        "F1 of persons in brackets, in percent; tokens and sentences given. "
        f"{' '.join(MEANINGS[prior] for prior in rows.priors)}\n\n"
        f"{machine_sentence(results['machine'])}\n",
    ]
    for regime, title in TABLES.items():
        parts += [f"## {title}\n", _table(rows, regime)]
    parts += [
        "## In short\n", _summary(rows),
        f"## Old domain: F1 on CoNLL-2003 lost by adapting to {FEW} sentences\n", _lost(rows),
        "## Figure 2: F1 by the number of sentences\n",
        *(curve_table(rows.curves(name, results["sentences"]), name) for name in rows.targets),
    ]  # fmt: skip
    return "\n".join(parts)


def _table(rows: Rows, regime: str) -> str:
    each = {system: {"system": system} for system in rows.systems}
    if regime == "adapted":
        each = {name: {**named, "size": 0} for name, named in rows.adapted().items()}
    lines = []
    for name, named in each.items():
        found = [rows.scores(target=t, regime=regime, **named)["target"] for t in rows.targets]
        cells = (
            f"{scores['f1']:.2f} ({scores['by_type'].get('PER', 0.0):.2f})" for scores in found
        )
        lines.append([name, *cells])
    return table(["", *rows.targets], lines)


def _summary(rows: Rows) -> str:
    """On how many targets an adapted model is better than others of its system."""
    lines = []
    for name, named in rows.adapted().items():
        after = {t: rows.f1(target=t, size=0, **named) for t in rows.targets}
        others = [
            {t: rows.f1(system=named["system"], target=t, regime=regime) for t in rows.targets}
            for regime in ("pooled", "matched")
        ]
        lines.append([name, *(str(sum(after[t] > other[t] for t in other)) for other in others)])
    n = len(rows.targets)
    header = ["adapted is better", f"than pooled, of {n}", f"than the target alone, of {n}"]
    return table(header, lines)


def _lost(rows: Rows) -> str:
    """What adapting to a few sentences changes on the source."""
    lines = []
    for name, named in rows.adapted().items():
        gaps = [
            rows.f1("source", target=t, size=FEW, **named)
            - rows.f1("source", system=named["system"], target=t, regime="mismatched")
            for t in rows.targets
        ]
        lines.append([name, *(f"{gap:+.2f}" for gap in gaps)])
    return table(["change", *rows.targets], lines)


def draw(results: Result, path: str) -> None:
    """A panel for each target of figure 2."""
    rows = Rows(results["rows"])
    figure, panels = new_figure(4.8 * len(rows.targets), 4.4, len(rows.targets))
    for axes, target in zip(panels, rows.targets, strict=True):
        draw_curves(axes, rows.curves(target, results["sentences"]), COLOURS)
        axes.set_xscale("symlog", linthresh=20)
        axes.set(title=target, xlabel="sentences to adapt to", ylabel="F1, %")
    panels[-1].legend(frameon=False, loc="lower right", fontsize=9)
    save(figure, path)


REPORT = make_report, Picture("F1 by the number of sentences to adapt to", draw)


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    study, at_once = Study(runner, arguments.data, arguments.system), arguments.at_once
    sentences = study.prepare()
    first = [partial(study.train, system, SOURCE, "train") for system in SYSTEMS[study.kind]]
    runner.run_in_parallel(first, at_once)
    return {"sentences": sentences, "rows": runner.run_in_parallel(jobs(study), at_once)}


def main() -> None:
    parser = data_parser(__doc__, "domains.json")
    parser.add_argument("--system", choices=SYSTEMS, default="batch")
    add_at_once(parser)
    run(parser, "domains", measure, *REPORT)


if __name__ == "__main__":
    main()
