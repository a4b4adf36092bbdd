"""F1 with a term list that is made from the training corpus, with and without own entries left out.

python -m benchmarks.experiments.lexicon_leave_out corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..lib.arguments import existing, new_parser
from ..lib.corpora import read_docs
from ..lib.package import with_term_list
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


def write_config(config: Path, terms: Path | None, leave_out: bool, path: Path) -> str:
    """Write a config with the list in both stages. terms: None for no list."""
    from spacy.util import load_config

    settings = load_config(config)
    if terms is not None:
        with_term_list(settings, terms, leave_out)
    settings.to_disk(path)
    return str(path)


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    """Best F1 of entities on dev over all updates, for each use of the list."""
    train, dev = str(arguments.train), str(arguments.dev)
    terms = runner.work / "entities.jsonl"
    listed = runner.run(
        "experiments.lexicon_leave_out:write_entities", {"train": train, "path": str(terms)}
    )
    ways = {"no list": (None, False), "all seen": (terms, False), "own left out": (terms, True)}
    f1: dict[str, list[float]] = {}
    for number, (name, (path, leave_out)) in enumerate(ways.items()):
        config = write_config(arguments.config, path, leave_out, runner.work / f"{number}.cfg")
        found = runner.run(
            "lib.training:train_cascade", {"config": config, "train": train, "dev": dev}
        )
        f1[name] = [f for *_, f in found["series"]]
    return {**listed, "f1": {name: max(series) for name, series in f1.items()}, "updates": f1}


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    parser.add_argument("--config", type=existing, default=str(CONFIGS / "memb.cfg"))
    run(parser, "leaving_out", measure)


if __name__ == "__main__":
    main()
