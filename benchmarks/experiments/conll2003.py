"""The configs of CoNLL-2003 beside python-crfsuite: F1 on testa, and training time.

python -m benchmarks.experiments.conll2003 corpus/conll2003/train.spacy corpus/conll2003/testa.spacy
"""

from __future__ import annotations

from pathlib import Path

from ..lib.arguments import new_parser, runner_for
from ..lib.machine import available_cores, describe_run
from ..lib.processes import Result, TaskRunner
from ..lib.variants import config_path
from ..reports.output import print_results, write_json

BATCH = ("conll2003_crf_crf", "conll2003_icrf", "conll2003")
ONLINE = "conll2003_ocr"


def measure(runner: TaskRunner, train: Path, dev: Path, peer_iterations: int) -> Result:
    """Seconds and scores of each config, with one thread and with all cores, and of the peer."""
    corpora = {"train": str(train), "dev": str(dev)}
    configs = {name: str(config_path(f"{name}.cfg")) for name in (*BATCH, ONLINE)}
    for name in configs:  # compile kernels
        _train(runner, name, {"config": configs[name], "train": str(dev), "dev": str(dev)}, 1)
    found: Result = {}
    for name, config in configs.items():
        arguments = {"config": config, **corpora}
        counts = [1] if name == ONLINE else sorted({1, available_cores()})
        found[name] = {n: _train(runner, name, arguments, n) for n in counts}
    model = str(runner.work / "crfsuite.model")
    peer = {**corpora, "model": model, "iterations": peer_iterations}
    found["crfsuite"] = runner.run("peers.crfsuite_conll2003:train_crfsuite_conll2003", peer)
    return found


def _train(runner: TaskRunner, name: str, arguments: Result, threads: int) -> Result:
    if name == ONLINE:
        model = str(runner.work / name)
        return runner.run("lib.training:train_as_configured", {**arguments, "model": model})
    arguments = {**arguments, "threads": threads}
    return runner.run("lib.training:train_cascade", arguments, cores=threads)


def seconds(result: Result) -> float:
    """Seconds of `initialize` and all updates."""
    if "update_seconds" in result:
        return float(result["initialize_seconds"] + sum(result["update_seconds"]))
    return float(result["seconds"])


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
            "seconds": {str(n): seconds(result) for n, result in by_threads.items()},
            "of_peer": {str(n): seconds(r) / peer["seconds"] for n, r in by_threads.items()},
        }
    return rows


def main() -> None:
    parser = new_parser(__doc__, "train", "dev", output="conll2003.json")
    parser.add_argument("--peer-iterations", type=int, default=200, help="of crfsuite")
    arguments = parser.parse_args()
    results = describe_run()
    runner = runner_for(arguments, "conll2003")
    found = measure(runner, arguments.train, arguments.dev, arguments.peer_iterations)
    summary = summarize(found)
    write_json({**results, **summary, "details": found}, arguments.output)
    print_results({**results, **summary}, None)


if __name__ == "__main__":
    main()
