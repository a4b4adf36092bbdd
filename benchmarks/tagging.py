"""The tagger beside spaCy's own: accuracy of ours, and the speed of both on ready Docs.

python benchmarks/tagging.py training/genia-pos/model-best corpus/genia-pos/dev.spacy
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from corpora import read_examples
from measure import circumstances, print_results
from speed import Timings


def spacy_tagger(examples: list[Any], vocab_of: Language) -> Language:
    """spaCy's `tagger` as `add_pipe` makes it: `HashEmbedCNN.v2`, width 96, depth 4.

    Not trained: its speed does not depend on what it has learnt.
    """
    nlp = spacy.blank("en", vocab=vocab_of.vocab)
    nlp.add_pipe("tagger")
    nlp.initialize(lambda: examples)
    return nlp


def compare(model: str, dev: str, rounds: int, passes: int) -> dict[str, Any]:
    """Accuracy, and tokens a second from Docs with words to `token.tag` with `nlp.pipe`.

    "first" is the first pass of a pipeline just loaded, "warm" any later one.
    """
    ours = spacy.load(model)
    examples = read_examples(dev, ours)
    peer = spacy_tagger(examples, ours)
    words = [[token.text for token in example.reference] for example in examples]

    def work(nlp: Language) -> Iterator[Doc]:
        return nlp.pipe([Doc(nlp.vocab, words=of_doc) for of_doc in words], batch_size=256)

    found = circumstances()
    accuracy = ours.evaluate(examples)["tag_acc"]
    for nlp in (ours, peer):  # kernels and words into memory
        list(work(nlp))
    timings = Timings()
    for _ in range(rounds):
        timings.add("first", lambda: work(spacy.load(model)))
        timings.add("warm", lambda: work(ours), passes)
        timings.add("warm_spacy", lambda: work(peer))
    rates = timings.rates(sum(map(len, words)))
    speed = rates["tokens_per_second"]
    return {
        **found,
        "tag_acc": accuracy,
        **rates,
        "times_as_fast": speed["warm"] / speed["warm_spacy"],
    }


def main() -> None:
    """Read the arguments, measure, print the results and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="pipeline with a trained cascade_tagger")
    parser.add_argument("dev", help=".spacy file with gold tags")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--passes", type=int, default=5, help="warm passes of ours in a round")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    results = compare(arguments.model, arguments.dev, arguments.rounds, arguments.passes)
    print_results(results, arguments.output)


if __name__ == "__main__":
    main()
