"""The configs of CoNLL-2003 beside python-crfsuite: F1 on testa, and training time.

python -m benchmarks.experiments.conll2003 corpus/conll2003/train.spacy corpus/conll2003/testa.spacy
"""

from __future__ import annotations

import argparse

from ..lib.arguments import new_parser
from ..lib.machine import available_cores
from ..lib.processes import Result, TaskRunner
from ..lib.variants import config_path
from ..reports.output import run

BATCH = ("conll2003_crf_crf", "conll2003_icrf", "conll2003")
ONLINE = "conll2003_ocr"


def train_all(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """Each config with one thread and with all cores, and the peer."""
    train, dev = str(arguments.train), str(arguments.dev)
    configs = {name: str(config_path(f"{name}.cfg")) for name in (*BATCH, ONLINE)}

    def trained(name: str, train: str, threads: int) -> Result:
        task = {"config": configs[name], "train": train, "dev": dev, "threads": threads}
        task["model"] = str(runner.work / name)
        return runner.run("lib.training:train_as_configured", task, cores=threads)

    for name in configs:  # compile kernels
        trained(name, dev, 1)
    found: Result = {}
    for name in configs:
        counts = [1] if name == ONLINE else sorted({1, available_cores()})
        found[name] = {n: trained(name, train, n) for n in counts}
    peer = {"train": train, "dev": dev, "model": str(runner.work / "crfsuite.model")}
    peer["iterations"] = arguments.peer_iterations
    found["crfsuite"] = runner.run("peers.crfsuite_conll2003:train_crfsuite_conll2003", peer)
    return found


def summarize(found: Result) -> Result:
    """F1 of entities and chunks after the last update, and seconds, also relative to the peer."""
    peer = found["crfsuite"]
    rows: Result = {"crfsuite": {"ents_f": peer["f1"], "seconds": {"1": peer["seconds"]}}}
    for name, by_threads in found.items():
        if name == "crfsuite":
            continue
        scores = by_threads[1]["scores"]
        rows[name] = {
            "ents_f": 100 * scores["ents_f"],
            "chunks_f": 100 * scores["spans_chunks_f"],
            "seconds": {str(n): result["seconds"] for n, result in by_threads.items()},
            "of_peer": {
                str(n): result["seconds"] / peer["seconds"] for n, result in by_threads.items()
            },
        }
    return rows


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    found = train_all(runner, arguments)
    return {**summarize(found), "details": found}


def main() -> None:
    parser = new_parser(__doc__, "train", "dev", output="conll2003.json")
    parser.add_argument("--peer-iterations", type=int, default=200, help="of crfsuite")
    run(parser, "conll2003", measure)


if __name__ == "__main__":
    main()
