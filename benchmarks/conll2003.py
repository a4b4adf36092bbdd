"""The configs of CoNLL-2003 beside python-crfsuite: F1 on testa, and training time.

python benchmarks/conll2003.py corpus/conll2003/train.spacy corpus/conll2003/testa.spacy
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from measure import HERE, Laboratory, Result, available_cores, circumstances

BATCH = ("conll2003_crf_crf", "conll2003_icrf", "conll2003_memb")
ONLINE = "conll2003_ocr"


def measure(laboratory: Laboratory, train: Path, dev: Path, peer_iterations: int) -> Result:
    """Seconds and scores of each config, with one thread and with all, and of the peer."""
    corpora = {"train": str(train), "dev": str(dev)}
    configs = {name: str(HERE.parent / "configs" / f"{name}.cfg") for name in (*BATCH, ONLINE)}
    for name in configs:  # kernels into the cache
        _train(laboratory, name, {"config": configs[name], "train": str(dev), "dev": str(dev)}, 1)
    found: Result = {}
    for name, config in configs.items():
        arguments = {"config": config, **corpora}
        counts = [1] if name == ONLINE else sorted({1, available_cores()})
        found[name] = {n: _train(laboratory, name, arguments, n) for n in counts}
    model = str(laboratory.work / "crfsuite.model")
    peer = {**corpora, "model": model, "iterations": peer_iterations}
    found["crfsuite"] = laboratory.run("train_crfsuite_conll2003", peer)
    return found


def _train(laboratory: Laboratory, name: str, arguments: Result, threads: int) -> Result:
    if name == ONLINE:
        model = str(laboratory.work / name)
        return laboratory.run("train_as_configured", {**arguments, "model": model})
    return laboratory.run("train_cascade", {**arguments, "threads": threads}, cores=threads)


def seconds(result: Result) -> float:
    """Of `initialize` and all updates."""
    if "update_seconds" in result:
        return float(result["initialize_seconds"] + sum(result["update_seconds"]))
    return float(result["seconds"])


def summarize(found: Result) -> Result:
    """F1 of entities and chunks after the last update, seconds, and their ratio to the peer's."""
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
    """Read the arguments, measure, write and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--peer-iterations", type=int, default=200)
    parser.add_argument("--output", type=Path, default=HERE / "results/conll2003.json")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="for kernels and models")
    arguments = parser.parse_args()
    results = circumstances()
    laboratory = Laboratory(arguments.work.resolve() / "conll2003")
    found = measure(
        laboratory, arguments.train.resolve(), arguments.dev.resolve(), arguments.peer_iterations
    )
    results |= {**summarize(found), "details": found}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    del results["details"]
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
