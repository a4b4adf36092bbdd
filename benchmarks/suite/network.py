"""What a network of words gains and costs, beside the features that `init` chooses.

python -m benchmarks.suite.network wikigold gum --data assets/suite
python -m benchmarks.suite.network anatem --data assets/suite --words mine.words --vectors mine

F1 on dev and on dev of other corpora, tokens and sentences given; processor seconds of training on
one thread, also those of the recipe `memb`; peak memory of training; bytes of the pipeline without
its vectors; and on dev the speed with the network over that without. With `--ner` also the speed on
raw text over that of spaCy's `ner` with the same vectors, after a few steps of training.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..lib.package import TOKENS_GIVEN, for_stages
from ..lib.processes import Result, TaskRunner
from ..reports.output import run
from .arguments import corpora_parser, for_each_corpus
from .corpora import CORPORA, SHIFTS, Prepared
from .shares import Share

NETWORK = for_stages("model.network", {"@misc": "spacy_cascade.WordWindow.v1"})
_STEPS_OF_NER = 200


def rows_of(runner: TaskRunner, arguments: argparse.Namespace, name: str) -> list[Result]:
    """A row for a corpus."""
    whole = Share.prepare(runner, arguments.data, name, 1.0)
    runner.compile_kernels(whole.config, whole.corpora["dev"])
    given: Result = {}
    if arguments.vectors:
        given["initialize.vectors"] = str(arguments.vectors.resolve())
    for path in arguments.words:
        given |= for_stages(f"model.templates.words.{path.stem}", str(path.resolve()))
    row: Result = {"corpus": name, **whole.sizes, "words": [path.stem for path in arguments.words]}
    row["vectors"] = arguments.vectors.stem if arguments.vectors else None
    models = []
    for its, settings in (("features", given), ("network", {**given, **NETWORK})):
        trained = whole.train(its, settings)
        models.append(trained.pop("model"))
        row[its] = {**trained, **_scored(whole, arguments.data, name, models[-1])}
    memb = {"recipe": "memb", "output": f"{whole.stem}-memb.cfg", "lang": CORPORA[name].lang}
    runner.run("lib.package:write_training_config", {**memb, **whole.corpora})
    row["memb"] = {"seconds": whole.train("memb", {}, f"{whole.stem}-memb.cfg")["seconds"]}
    task = {"one": models[0], "other": models[1], "corpus": whole.corpora["dev"]}
    row["speed"] = runner.run("lib.pace:compare", {**task, "rounds": arguments.rounds})
    if arguments.ner:
        row["raw_text"] = _against_ner(whole, name, models[1], given, arguments.rounds)
    print(row, flush=True)
    return [row]


def _scored(whole: Share, data: Path, name: str, model: str) -> Result:
    """F1 at home and away from home, and the size of the pipeline."""
    runner = whole.runner
    runner.run("lib.training:finish", {"model": model})
    targets = Prepared(runner, data).targets(name, SHIFTS)
    task = {"model": model, "reader": "spacy", "dev": whole.corpora["dev"], "targets": targets}
    scored = runner.run("suite.scoring:score_tokens", task)
    files = [f for f in Path(model).rglob("*") if f.is_file() and f.parent.name != "vocab"]
    return {
        "f1": scored["f1"],
        "away": {target: scores["f1"] for target, scores in scored["shifted"].items()},
        "bytes": sum(f.stat().st_size for f in files),
    }


def _against_ner(
    whole: Share, name: str, model: str, given: Mapping[str, Any], rounds: int
) -> Result:
    """How many times the speed of `ner` that of the model is on raw text."""
    runner, stem, lang = whole.runner, whole.stem, CORPORA[name].lang
    vectors = given.get("initialize.vectors")
    if vectors is None:
        vectors = f"{stem}-vectors"
        sources = list(whole.corpora.values())
        task = {"sources": sources, "output": vectors, "lang": lang}
        runner.run("peers.spacy_ner:write_vectors", task)
    config = {"output": f"{stem}-ner.cfg", **whole.corpora, "lang": lang, "vectors": vectors}
    how = {"optimize": "efficiency", "reader": TOKENS_GIVEN}
    runner.run("peers.spacy_ner:write_ner_config", {**config, **how})
    few = {"training.max_steps": _STEPS_OF_NER, "training.eval_frequency": _STEPS_OF_NER}
    ner = whole.train("ner", few, config["output"])["model"]
    task = {"one": ner, "other": model, "corpus": whole.corpora["dev"], "rounds": rounds}
    return runner.run("lib.pace:compare", {**task, "of_text": True})


def main() -> None:
    parser = corpora_parser(__doc__, "network.json")
    parser.add_argument("--words", type=Path, action="append", default=[], help="a further table")
    parser.add_argument("--vectors", type=Path, help="a pipeline with word vectors")
    parser.add_argument("--ner", action="store_true", help="also against spaCy's ner")
    parser.add_argument("--rounds", type=int, default=5, help="of speed")
    run(parser, "network", for_each_corpus(rows_of))


if __name__ == "__main__":
    main()
