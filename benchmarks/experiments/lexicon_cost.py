"""The cost of a large term list: building, saving, loading, and annotation.

python -m benchmarks.experiments.lexicon_cost TRAIN.spacy DEV.spacy --terms 1000000
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from ..lib.arguments import add_rounds, existing, new_parser
from ..lib.corpora import read_docs
from ..lib.machine import folder_megabytes
from ..lib.package import SEGMENTER, component, for_stages, read_examples
from ..lib.paths import CONFIGS
from ..lib.processes import TaskRunner
from ..lib.timing import Stopwatch
from ..reports.output import run
from .speed import compare, times_as_long

_MOST_TOKENS = 5
_KEPT = 0.5


def make_terms(words: list[str], entities: Iterable[str], n_terms: int) -> Iterator[str]:
    """Distinct terms: the entities, then made-up terms that overlap with the text.

    A made-up term has two to five consecutive tokens of the corpus, half of them replaced by random
    ones. So many terms begin with the same words, and the text often contains beginnings of terms.
    """
    chance = random.Random(0)
    seen: set[str] = set()
    wanted = iter(entities)
    while len(seen) < n_terms:
        term = next(wanted, None)
        if term is None:
            begin = chance.randrange(len(words) - _MOST_TOKENS)
            found = words[begin : begin + chance.randint(2, _MOST_TOKENS)]
            term = " ".join(w if chance.random() < _KEPT else chance.choice(words) for w in found)
        if term.lower() not in seen:
            seen.add(term.lower())
            yield term


def write_terms(train: str, n_terms: int, path: str) -> dict[str, Any]:
    """Write a term list with the vocabulary of a corpus."""
    docs = read_docs(train)
    words = [token.text for doc in docs for token in doc]
    entities = [" ".join(t.text for t in entity) for doc in docs for entity in doc.ents]
    text = "\n".join(make_terms(words, entities, n_terms))
    Path(path).write_text(text, encoding="utf8")
    return {"terms": n_terms, "megabytes": Path(path).stat().st_size / 1e6}


def train_with_terms(
    config: str, train: str, terms: str | None, updates: int, model: str
) -> dict[str, Any]:
    """Train a cascade with a term list in both stages, or without one, and save it.

    A few updates are enough, because speed does not depend on the weights. `build_seconds`:
    reading and building the list of one stage, which is a part of `initialize`.
    """
    from ..lib.training import build, initialize, update

    listed = for_stages("model.templates.lexicons", {"terms": terms}) if terms else None
    nlp, _ = build(config, threads=1, overrides=listed)
    examples = read_examples(train, nlp)
    watch, build_watch, save_watch = Stopwatch(), Stopwatch(), Stopwatch()
    initialize(nlp, examples, watch)
    if terms:
        with build_watch:
            space = component(nlp, SEGMENTER).space
            space.read_resources(lambda text: [token.text for token in nlp.tokenizer(text)])
    result = {
        "initialize_seconds": watch.passed,
        "build_seconds": build_watch.passed,
        "build_computed_seconds": build_watch.computed,
    }
    for _ in range(updates):
        update(nlp, examples, watch)
    with save_watch:
        nlp.to_disk(model)
    return {**result, "save_seconds": save_watch.passed, "disk_megabytes": folder_megabytes(model)}


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure everything, each task in a process of its own."""
    train = str(arguments.train)
    work = runner.work
    listed = str(work / "terms.txt")
    found: dict[str, Any] = {}
    found["terms"] = runner.run(
        "experiments.lexicon_cost:write_terms",
        {"train": train, "n_terms": arguments.terms, "path": listed},
    )
    models = {"without": str(work / "without"), "with": str(work / "with")}
    for name, model in models.items():
        settings: dict[str, Any] = {"config": str(arguments.config), "train": train, "model": model}
        settings |= {"terms": listed if name == "with" else None, "updates": arguments.updates}
        found[f"training_{name}"] = runner.run(
            "experiments.lexicon_cost:train_with_terms", settings
        )
        loads = [
            runner.run("lib.loading:load_and_decode", {"model": model}, repeat=i)
            for i in range(arguments.loads + 1)
        ]
        found[f"loading_{name}"] = loads[1:]  # the first one may have to compile
    found["decoding"] = decoding = compare(runner, models, arguments)

    def loaded(key: str) -> dict[str, float]:
        return {n: median(load[key] for load in found[f"loading_{n}"]) for n in models}

    return {
        "slowdown": decoding["times_as_long"]["with"],
        "slowdown_by_processor_time": times_as_long(
            decoding, "with", "without", "computed_seconds"
        ),
        "tokens_per_second": decoding["tokens_per_second"],
        "load_seconds": loaded("load_seconds"),
        "peak_memory_megabytes": loaded("peak_memory_megabytes"),
        "details": found,
    }


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    add = parser.add_argument
    add("--terms", type=int, default=1_000_000, help="number of terms")
    add("--config", type=existing, default=str(CONFIGS / "memb.cfg"))
    add("--updates", type=int, default=2)
    add("--loads", type=int, default=3, help="timed loads of each pipeline")
    add_rounds(parser, 5, 5)
    run(parser, "lexicons", measure)


if __name__ == "__main__":
    main()
