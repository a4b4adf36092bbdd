"""How much the old corpus should count: a model of one domain adapted to another, by its share.

python -m benchmarks.suite.old_share --data assets/suite --source conll2003

The systems, corpora and labels are those of `suite.domains`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..lib.arguments import add_at_once, existing, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.processes import Result
from ..reports.old_share_report import make_report
from ..reports.output import write_table
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


def main() -> None:
    parser = new_parser(__doc__, output="old_share.json")
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    parser.add_argument("--source", default=SOURCE)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=TARGETS)
    add_at_once(parser)
    arguments = parser.parse_args()
    results: dict[str, Any] = describe_run()
    study = Study(runner_for(arguments, "domains"), arguments.data, "batch")
    study.prepare()
    planned = jobs(study, arguments.systems, arguments.source, arguments.targets)
    results["rows"] = study.runner.run_in_parallel(planned, arguments.at_once)
    write_table(results, arguments.output, make_report(results))


if __name__ == "__main__":
    main()
