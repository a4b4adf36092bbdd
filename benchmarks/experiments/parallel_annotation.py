"""Raw text to entities by threads and by processes, and the time of a long Doc.

python -m benchmarks.experiments.parallel_annotation MODEL DEV.spacy

The texts were seen before. One thread takes turns with two threads of the same process, each of
which has half of the texts, and `nlp.pipe(texts)` with `nlp.pipe(texts, n_process=2)`. A Doc of a
million tokens, the texts again and again, takes turns with one of a hundred thousand.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ..lib.arguments import add_rounds, existing, new_parser
from ..lib.corpora import read_docs
from ..lib.machine import available_cores, describe_run, load_average
from ..lib.timing import Timings, median_ratio
from ..reports.output import print_results

SHORT, LONG = 100_000, 1_000_000
REPEATS = 20
"""How often the texts are annotated in one measurement of processes, which take long to start."""


def _n_entities(nlp: Language, texts: Sequence[str]) -> int:
    return sum(len(doc.ents) for doc in nlp.pipe(texts))


def by_threads(
    nlp: Language, parts: Sequence[Sequence[str]], pool: ThreadPoolExecutor
) -> Iterator[int]:
    """Entities of each part; all are annotated at the same time, from the first `next` on."""
    yield from pool.map(lambda part: _n_entities(nlp, part), parts)


def long_doc(nlp: Language, docs: Sequence[Doc], n_tokens: int) -> Doc:
    """Sentences of the Docs again and again, in one Doc."""
    tokens = islice(cycle(token for doc in docs for token in doc), n_tokens)
    words, starts = zip(*((token.text, token.is_sent_start) for token in tokens), strict=True)
    return Doc(nlp.vocab, words=words, sent_starts=starts)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    nlp = spacy.load(arguments.model)
    nlp.max_length = 100 * LONG
    docs = read_docs(str(arguments.dev))
    texts = [doc.text for doc in docs]
    n_tokens = sum(len(doc) for doc in nlp.pipe(texts))
    timings, many = Timings(), texts * REPEATS
    halves = [texts[::2], texts[1::2]]
    with ThreadPoolExecutor(2) as pool:
        list(by_threads(nlp, halves, pool))
        for _ in range(arguments.rounds):
            for name, parts in (("one thread", [texts]), ("two threads", halves)):
                timings.add(
                    name, lambda parts=parts: by_threads(nlp, parts, pool), arguments.passes
                )
    for _ in range(arguments.rounds):
        timings.add("one process", lambda: nlp.pipe(many))
        timings.add("two processes", lambda: nlp.pipe(many, n_process=2))
        for name, n in (("short Doc", SHORT), ("long Doc", LONG)):
            timings.add(name, lambda n=n: map(nlp, [long_doc(nlp, docs, n)]))
    seconds = timings.seconds
    return {
        "tokens": n_tokens,
        "texts_in_processes": len(many),
        "seconds": seconds,
        "two_threads_over_one": median_ratio(seconds, "one thread", "two threads"),
        "two_processes_over_one": median_ratio(seconds, "one process", "two processes"),
        "long_doc_over_short": median_ratio(seconds, "long Doc", "short Doc"),
    }


def main() -> None:
    parser = new_parser(__doc__, work=False)
    parser.add_argument("model", type=existing, help="folder of a pipeline")
    parser.add_argument("dev", type=existing, help="corpus, .spacy")
    add_rounds(parser, 5, 3)
    arguments = parser.parse_args()
    if available_cores() < 2:
        parser.error("this process may use one core only")
    load = load_average()
    results = {**measure(arguments), "load_average_before": load, **describe_run()}
    print_results(results, arguments.output)


if __name__ == "__main__":
    main()
