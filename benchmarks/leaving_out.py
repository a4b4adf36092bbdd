"""A term list made from the training corpus: F1 with its own entries left out in training, or not.

python benchmarks/leaving_out.py corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from measure import HERE, Laboratory, circumstances, print_results

_COMPONENTS = ("cascade_segmenter", "cascade_classifier")


def write_entities(train: str, path: str) -> dict[str, int]:
    """All gold entities of a corpus, each once with each of its labels, as patterns."""
    import spacy
    import srsly

    from corpora import read_docs

    docs = read_docs(train, spacy.blank("en").vocab)
    found = {
        (entity.label_, " ".join(token.lower_ for token in entity))
        for doc in docs
        for entity in doc.ents
    }
    srsly.write_jsonl(path, [{"label": label, "pattern": term} for label, term in sorted(found)])
    return {"terms": len(found)}


def write_config(config: Path, terms: Path | None, leave_out: bool, path: Path) -> str:
    """The config with the list in both stages."""
    from spacy.util import load_config

    settings = load_config(config)
    if terms is not None:
        listed = {
            "@misc": "spacy_cascade.TermList.v1",
            "source": str(terms),
            "leave_out": leave_out,
        }
        for name in _COMPONENTS:
            settings["components"][name]["model"]["templates"]["lexicons"] = {"own": listed}
    settings.to_disk(path)
    return str(path)


def measure(laboratory: Laboratory, arguments: argparse.Namespace) -> dict[str, Any]:
    """Best F1 of entities on dev over all updates, by how the list is used."""
    train, dev = str(arguments.train.resolve()), str(arguments.dev.resolve())
    terms = laboratory.work / "entities.jsonl"
    listed = laboratory.run("write_entities", {"train": train, "path": str(terms)})
    ways = {"no list": (None, False), "all seen": (terms, False), "own left out": (terms, True)}
    f1: dict[str, list[float]] = {}
    for number, (name, (path, leave_out)) in enumerate(ways.items()):
        config = write_config(arguments.config, path, leave_out, laboratory.work / f"{number}.cfg")
        found = laboratory.run("train_cascade", {"config": config, "train": train, "dev": dev})
        f1[name] = [f for *_, f in found["series"]]
    return {**listed, "f1": {name: max(series) for name, series in f1.items()}, "updates": f1}


def main() -> None:
    """Read the arguments, measure, print the results and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--config", type=Path, default=HERE.parent / "configs" / "memb.cfg")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="for kernels and configs")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    results = circumstances()
    laboratory = Laboratory(arguments.work.resolve() / "leaving_out")
    print_results(results | measure(laboratory, arguments), arguments.output)


if __name__ == "__main__":
    main()
