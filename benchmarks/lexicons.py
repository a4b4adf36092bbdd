"""What a large term list costs: building, saving, loading, and annotating with it.

python benchmarks/lexicons.py corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy --terms 1000000
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from measure import HERE, Laboratory, Stopwatch, circumstances, print_results

_MOST_TOKENS = 5
_KEPT = 0.5
_COMPONENTS = ("cascade_segmenter", "cascade_classifier")


def make_terms(words: list[str], entities: Iterable[str], n_terms: int) -> Iterator[str]:
    """Distinct terms: the entities, then made-up ones that overlap with the text as words do.

    These are two to five tokens in a row of the corpus, half of them replaced by any others, so
    that many begin with the same words and text often begins as a term does.
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
    """A term list for the vocabulary of a corpus."""
    import spacy

    from corpora import read_docs

    docs = read_docs(train, spacy.blank("en").vocab)
    words = [token.text for doc in docs for token in doc]
    entities = [" ".join(t.text for t in entity) for doc in docs for entity in doc.ents]
    text = "\n".join(make_terms(words, entities, n_terms))
    Path(path).write_text(text, encoding="utf8")
    return {"terms": n_terms, "megabytes": Path(path).stat().st_size / 1e6}


def train_with_terms(
    config: str, train: str, terms: str | None, updates: int, model: str
) -> dict[str, Any]:
    """Train a cascade with a term list in both stages, or without one, and save it.

    Few updates are enough: speed does not depend on what the weights are. `build_seconds` is
    reading and building the list of one stage, which `initialize` does for each.
    """
    from corpora import read_examples
    from training import build, initialize, update

    names = {
        f"components.{name}.model.templates.lexicons": {"terms": terms} for name in _COMPONENTS
    }
    nlp, _ = build(config, threads=1, overrides=names if terms else None)
    examples = read_examples(train, nlp)
    watch, build_watch, save_watch = Stopwatch(), Stopwatch(), Stopwatch()
    initialize(nlp, examples, watch)
    if terms:
        space = nlp.get_pipe(_COMPONENTS[0]).space
        with build_watch:
            space.read_lexicons(lambda text: [token.text for token in nlp.tokenizer(text)])
    result = {
        "initialize_seconds": watch.passed,
        "build_seconds": build_watch.passed,
        "build_computed_seconds": build_watch.computed,
    }
    for _ in range(updates):
        update(nlp, examples, watch)
    with save_watch:
        nlp.to_disk(model)
    size = sum(file.stat().st_size for file in Path(model).rglob("*") if file.is_file())
    return {**result, "save_seconds": save_watch.passed, "disk_megabytes": size / 1e6}


def decode_both(without: str, listed: str, dev: str, rounds: int, passes: int) -> dict[str, Any]:
    """Tokens a second from Docs with words to `doc.ents`, pipelines in turn.

    "first" is the first pass of a pipeline just loaded, which knows no word yet.
    """
    import spacy

    from corpora import read_docs, without_entities
    from speed import Timings

    paths = {"without": without, "with": listed}
    pipelines = {name: spacy.load(path) for name, path in paths.items()}
    docs = read_docs(dev, spacy.blank("en").vocab)
    timings = Timings()
    for nlp in pipelines.values():  # kernels into memory, words into the tables
        list(nlp.pipe(without_entities(docs, nlp.vocab)))

    def work(nlp: Any) -> Any:
        return nlp.pipe(without_entities(docs, nlp.vocab))

    for _ in range(rounds):
        for name, nlp in pipelines.items():
            timings.add(f"warm_{name}", lambda nlp=nlp: work(nlp), passes)
        for name, path in paths.items():
            timings.add(f"first_{name}", lambda path=path: work(spacy.load(path)))
    return timings.rates(sum(map(len, docs)))


def slowdowns(rates: dict[str, Any], which: str = "seconds") -> dict[str, float]:
    """Time with the list over that without, median over rounds."""
    seconds = rates[which]
    return {
        name: median(
            a / b for a, b in zip(seconds[f"{name}_with"], seconds[f"{name}_without"], strict=True)
        )
        for name in ("warm", "first")
    }


def measure(laboratory: Laboratory, arguments: argparse.Namespace) -> dict[str, Any]:
    """All figures, each of a process of its own."""
    train, dev = str(arguments.train.resolve()), str(arguments.dev.resolve())
    work = laboratory.work
    listed = str(work / "terms.txt")
    found: dict[str, Any] = {}
    found["terms"] = laboratory.run(
        "write_terms", {"train": train, "n_terms": arguments.terms, "path": listed}
    )
    models = {"without": str(work / "without"), "with": str(work / "with")}
    for name, model in models.items():
        settings = {"config": str(arguments.config), "train": train, "model": model}
        settings |= {"terms": listed if name == "with" else None, "updates": arguments.updates}
        found[f"training_{name}"] = laboratory.run("train_with_terms", settings)
        loads = [
            laboratory.run("load_and_decode", {"model": model}, repeat=i)
            for i in range(arguments.loads + 1)
        ]
        found[f"loading_{name}"] = loads[1:]  # the first one compiles
    decoding = laboratory.run(
        "decode_both",
        {
            "without": models["without"],
            "listed": models["with"],
            "dev": dev,
            "rounds": arguments.rounds,
            "passes": arguments.passes,
        },
    )
    found["decoding"] = decoding
    return {
        "slowdown": slowdowns(decoding),
        "slowdown_by_processor_time": slowdowns(decoding, "computed_seconds"),
        "tokens_per_second": decoding["tokens_per_second"],
        "load_seconds": {
            name: median(load["load_seconds"] for load in found[f"loading_{name}"])
            for name in models
        },
        "peak_memory_megabytes": {
            name: median(load["peak_memory_megabytes"] for load in found[f"loading_{name}"])
            for name in models
        },
        "details": found,
    }


def main() -> None:
    """Read the arguments, measure, print the results and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--terms", type=int, default=1_000_000)
    parser.add_argument("--config", type=Path, default=HERE.parent / "configs" / "memb.cfg")
    parser.add_argument("--updates", type=int, default=2)
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--passes", type=int, default=5, help="warm passes in a round")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="for kernels and models")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    results = circumstances()
    laboratory = Laboratory(arguments.work.resolve() / "lexicons")
    print_results(results | measure(laboratory, arguments), arguments.output)


if __name__ == "__main__":
    main()
