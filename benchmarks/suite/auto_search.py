"""What `init --auto` gains over the choice of the rules, on text that it did not choose by.

python -m benchmarks.suite.auto_search wikigold gum --data assets/suite

The search sees every second document of dev. Both pipelines, the first one and the one that is
kept at the end, are then scored on raw text of the other documents.
"""

from __future__ import annotations

from pathlib import Path

from ..lib.arguments import existing, new_parser, runner_for
from ..lib.corpora import RAW_SUFFIX
from ..lib.machine import describe_run
from ..lib.processes import Result, TaskRunner
from ..reports.output import print_results, write_json
from .corpora import CORPORA, Prepared

TRAININGS = 5


def measure(runner: TaskRunner, data: Path, name: str, trainings: int) -> Result:
    """F1 of the rules' choice and of the search's, on both halves of dev; what was kept."""
    prepared = Prepared(runner, data)
    prepared.sizes(name)
    folder = prepared.folder(name)
    halves = {half: str(folder / f"dev-{half}.spacy") for half in ("chosen_by", "kept_out")}
    dev = str(folder / f"dev{RAW_SUFFIX}")
    runner.run("lib.corpora:every_second_doc", {"source": dev, "targets": list(halves.values())})
    search = {
        "train": str(folder / f"train{RAW_SUFFIX}"),
        "dev": halves["chosen_by"],
        "lang": CORPORA[name].lang,
        "folder": str(folder / "auto"),
    }
    row: Result = {"corpus": name}
    for key, budget in (("rules", 1), ("auto", trainings)):
        found = runner.run("lib.auto_search:search", {**search, "trainings": budget})
        scores = {
            half: runner.run(
                "suite.scoring:score_raw", {"model": found["model"], "dev": path}, repeat=key
            )
            for half, path in halves.items()
        }
        row[key] = {half: found_scores["f1"] for half, found_scores in scores.items()}
        row |= {"trainings": found["trainings"], "kept": found["kept"]}
    return row


def main() -> None:
    parser = new_parser(__doc__, output="auto_search.json")
    parser.add_argument("corpora", nargs="*", choices=sorted(CORPORA), default=list(CORPORA))
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    parser.add_argument("--trainings", type=int, default=TRAININGS)
    arguments = parser.parse_args()
    results = describe_run()
    runner = runner_for(arguments, "auto_search")
    found = []
    for name in arguments.corpora:
        found.append(measure(runner, arguments.data, name, arguments.trainings))
        write_json({**results, "rows": found}, arguments.output)
    print_results({"rows": found}, None)


if __name__ == "__main__":
    main()
