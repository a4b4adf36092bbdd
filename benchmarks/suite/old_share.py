"""How much the old corpus should count: a model of one domain adapted to another, by its share.

python -m benchmarks.suite.old_share --data assets/suite --source conll2003

The systems, corpora and labels are those of `suite.domains`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..lib.arguments import add_at_once
from ..lib.processes import Result, TaskRunner
from ..reports.markdown import machine_sentence, table
from ..reports.output import run
from .arguments import data_parser
from .domains import CASCADE, CRF, SOURCE, TARGETS, Study

SYSTEMS = (CASCADE, CRF)
SHARES = (1.0, 0.3, 0.1, 0.03, 0.0)


@dataclass(frozen=True)
class Shift:
    """A system, trained on a source, for a target."""

    study: Study
    system: str
    source: str
    target: str

    def _path(self, name: str) -> str:
        return str(self.study.runner.work / f"{self.system}-{self.source}-{self.target}-{name}")

    def _scores(self, model: str) -> Result:
        parts = {
            "target": self.study.corpus(self.target, "dev"),
            "source": self.study.corpus(self.source, "dev"),
        }
        found = self.study.runner.run(
            "lib.adaptation:score_parts", {"model": model, "parts": parts}
        )
        return {part: found[part]["f1"] for part in parts}

    def row(self) -> Result:
        """F1 on the target and the source: of the target alone, by share, and of the chosen one."""
        study, run = self.study, self.study.runner.run
        source = study.train(self.system, self.source, "train")
        data = study.corpus(self.target, "0")
        by_share = {}
        for share in SHARES:
            output = self._path(f"{share:g}")
            run(
                "lib.adaptation:adapt_with_share",
                {"model": source, "data": data, "output": output, "share": share},
            )
            by_share[f"{share:g}"] = self._scores(output)
        chosen = run("lib.adaptation:choose_share", {"model": source, "data": data})
        alone = self._scores(study.train(self.system, self.target, "train"))
        found = {"system": self.system, "source": self.source, "target": self.target}
        print(*found.values(), f"{alone['target']:.2f}", chosen["share"], flush=True)
        print({share: scores["target"] for share, scores in by_share.items()}, flush=True)
        return {**found, "alone": alone, "shares": by_share, "chosen": chosen}


def jobs(
    study: Study, systems: Sequence[str], source: str, targets: Sequence[str]
) -> list[Callable[[], Result]]:
    return [
        partial(Shift(study, system, source, target).row)
        for system in systems
        for target in targets
        if target != source
    ]


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


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    study = Study(runner, arguments.data, "batch")
    study.prepare()
    planned = jobs(study, arguments.systems, arguments.source, arguments.targets)
    return {"rows": runner.run_in_parallel(planned, arguments.at_once)}


def main() -> None:
    parser = data_parser(__doc__, "old_share.json")
    parser.add_argument("--source", default=SOURCE)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    add_at_once(parser)
    run(parser, "domains", measure, make_report)


if __name__ == "__main__":
    main()
