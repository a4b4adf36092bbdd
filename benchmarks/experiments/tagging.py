"""Our tagger beside that of spaCy: accuracy of ours, and speed of both on Docs with words.

python -m benchmarks.experiments.tagging training/genia-pos/model-best corpus/genia-pos/dev.spacy
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ..lib.arguments import add_rounds, new_parser
from ..lib.machine import describe_run
from ..lib.package import read_examples
from ..lib.timing import Timings
from ..reports.output import print_results


def spacy_tagger(examples: list[Any], vocab_of: Language) -> Language:
    """spaCy's `tagger` as `add_pipe` makes it: `HashEmbedCNN.v2`, width 96, depth 4.

    It is not trained, because its speed does not depend on its weights.
    """
    nlp = spacy.blank("en", vocab=vocab_of.vocab)
    nlp.add_pipe("tagger")
    nlp.initialize(lambda: examples)
    return nlp


def compare(model: str, dev: str, rounds: int, passes: int) -> dict[str, Any]:
    """Accuracy, and tokens per second from Docs with words to `token.tag` with `nlp.pipe`.

    "first": the first pass of a pipeline that was just loaded. "warm": any later pass.
    """
    ours = spacy.load(model)
    examples = read_examples(dev, ours)
    peer = spacy_tagger(examples, ours)
    words = [[token.text for token in example.reference] for example in examples]

    def work(nlp: Language) -> Iterator[Doc]:
        return nlp.pipe([Doc(nlp.vocab, words=of_doc) for of_doc in words], batch_size=256)

    found = describe_run()
    accuracy = ours.evaluate(examples)["tag_acc"]
    for nlp in (ours, peer):  # load kernels, cache words
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
    parser = new_parser(__doc__, "model", "dev", work=False)
    add_rounds(parser, 5, 5)
    arguments = parser.parse_args()
    model, dev = str(arguments.model), str(arguments.dev)
    results = compare(model, dev, arguments.rounds, arguments.passes)
    print_results(results, arguments.output)


if __name__ == "__main__":
    main()
