"""What a network of words gains and costs, beside the features that `init` chooses.

python -m benchmarks.suite.network wikigold gum --data assets/suite
python -m benchmarks.suite.network anatem --data assets/suite --words mine.words

F1 on dev and on dev of other corpora, tokens and sentences given; processor seconds of training on
one thread; bytes of the pipeline; and on dev the speed with the network over that without.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..lib.package import for_stages
from ..lib.processes import Result, TaskRunner
from ..reports.output import run
from .arguments import corpora_parser, for_each_corpus
from .corpora import SHIFTS, Prepared
from .shares import Share

NETWORK = for_stages("model.network", {"@misc": "spacy_cascade.WordWindow.v1"})


def rows_of(runner: TaskRunner, arguments: argparse.Namespace, name: str) -> list[Result]:
    """A row for a corpus."""
    whole = Share.prepare(runner, arguments.data, name, 1.0)
    runner.compile_kernels(whole.config, whole.corpora["dev"])
    shared: Result = {}
    for path in arguments.words:
        shared |= for_stages(f"model.templates.words.{path.stem}", str(path.resolve()))
    row: Result = {"corpus": name, **whole.sizes, "words": [path.stem for path in arguments.words]}
    models, dev = [], whole.corpora["dev"]
    for its, settings in (("features", shared), ("network", {**shared, **NETWORK})):
        trained = whole.train(its, settings)
        model = trained["model"]
        runner.run("lib.training:finish", {"model": model})
        targets = Prepared(runner, arguments.data).targets(name, SHIFTS)
        task = {"model": model, "reader": "spacy", "dev": dev, "targets": targets}
        scored = runner.run("suite.scoring:score_tokens", task)
        row[its] = {
            "f1": scored["f1"],
            "away": {target: scores["f1"] for target, scores in scored["shifted"].items()},
            "updates": trained["updates"],
            "seconds": trained["seconds"],
            "bytes": sum(f.stat().st_size for f in Path(model).rglob("*") if f.is_file()),
        }
        models.append(model)
    task = {"one": models[0], "other": models[1], "corpus": dev, "rounds": arguments.rounds}
    row["speed"] = runner.run("lib.pace:compare", task)
    print(row, flush=True)
    return [row]


def main() -> None:
    parser = corpora_parser(__doc__, "network.json")
    parser.add_argument("--words", type=Path, action="append", default=[], help="a further table")
    parser.add_argument("--rounds", type=int, default=5, help="of speed")
    run(parser, "network", for_each_corpus(rows_of))


if __name__ == "__main__":
    main()
