"""F1 with a term list that is made from the training corpus, with and without own entries left out.

python -m benchmarks.experiments.lexicon_leave_out corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

import argparse
from typing import Any

from ..lib.arguments import existing, new_parser
from ..lib.corpora import read_docs
from ..lib.package import for_stages
from ..lib.paths import CONFIGS
from ..lib.processes import TaskRunner
from ..reports.output import run


def write_entities(train: str, path: str) -> dict[str, int]:
    """Write all gold entities of a corpus as patterns, each once with each of its labels."""
    import srsly

    found = {
        (entity.label_, " ".join(token.lower_ for token in entity))
        for doc in read_docs(train)
        for entity in doc.ents
    }
    srsly.write_jsonl(path, [{"label": label, "pattern": term} for label, term in sorted(found)])
    return {"terms": len(found)}


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    """Best F1 of entities on dev over all updates, for each use of the list."""
    corpora = {"train": str(arguments.train), "dev": str(arguments.dev)}
    terms = str(runner.work / "entities.jsonl")
    listed = runner.run(
        "experiments.lexicon_leave_out:write_entities", {"train": corpora["train"], "path": terms}
    )
    term_list = {"@misc": "spacy_cascade.TermList.v1", "source": terms}
    ways = {
        "no list": {},
        "all seen": {"own": {**term_list, "leave_out": False}},
        "own left out": {"own": {**term_list, "leave_out": True}},
    }
    f1: dict[str, list[float]] = {}
    for name, lists in ways.items():
        task = {"config": str(arguments.config), **corpora, "model": str(runner.work / name)}
        task["overrides"] = for_stages("model.templates.lexicons", lists) if lists else {}
        found = runner.run("lib.training:train_as_configured", task)
        f1[name] = [f for *_, f in found["series"]]
    return {**listed, "f1": {name: max(series) for name, series in f1.items()}, "updates": f1}


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    parser.add_argument("--config", type=existing, default=str(CONFIGS / "memb.cfg"))
    run(parser, "leaving_out", measure)


if __name__ == "__main__":
    main()
