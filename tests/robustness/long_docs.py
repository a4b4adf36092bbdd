"""Annotate a long Doc, with and without sentences: `long_docs.py MODEL TEXT N_TOKENS`.

The Doc is made of copies of a text whose every twentieth word is a new one. Prints what each took.
"""

from __future__ import annotations

import gc
import json
import math
import resource
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

STATUS, PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
EVERY, LETTERS, LENGTH = 20, "qxzjkvw", 8
TIMES = 5


@dataclass(frozen=True)
class Annotated:
    """What a Doc took.

    seconds, reading: processor time of annotating it, and of reading confidences and two best
    segmentations, without that of the system: a virtual machine may take 10 microseconds to give a
    process a page of memory, and the tenth has its pages from the Doc before. memory: bytes at the
    peak, over the pipeline and the Doc.
    """

    seconds: float
    reading: float
    memory: int
    n_entities: int
    n_tags: int


def make(nlp: Language, text: list[str], n: int, has_sentences: bool) -> Doc:
    words = [text[i % len(text)] if i % EVERY else new_word(i) for i in range(n)]
    starts = [word == "." for word in [".", *words[:-1]]] if has_sentences else None
    return Doc(nlp.vocab, words=words, sent_starts=starts)


def new_word(i: int) -> str:
    """Words of one shape, with no prefix or suffix that was seen in training."""
    return "".join(LETTERS[i // len(LETTERS) ** k % len(LETTERS)] for k in range(LENGTH))


def memory(field: str) -> int:
    """Bytes that the process has now (`VmRSS`), or had at most (`VmHWM`)."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def processor_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def run(nlp: Language, doc: Doc) -> Annotated:
    """Annotate a Doc whose words the pipeline has not seen before."""
    for name in nlp.pipe_names:
        nlp.get_pipe(name).space.forget_lexemes(0)
    gc.collect()
    PEAK.write_text("5")
    before = memory("VmRSS")
    begin = processor_seconds()
    nlp(doc)
    annotated = processor_seconds()
    peak = memory("VmHWM") - before
    confidences = [entity._.confidence for entity in doc.ents]
    nlp.get_pipe("cascade_segmenter").nbest(doc, 2)
    read = processor_seconds()
    assert all(confidence is None or 0 < confidence <= 1 for confidence in confidences)
    n_tags = sum(bool(token.tag) for token in doc)
    return Annotated(annotated - begin, read - annotated, peak, len(doc.ents), n_tags)


def check_copies(doc: Doc, period: int) -> None:
    """Far from the ends all copies of the text are annotated alike."""
    copies = defaultdict(list)
    for entity in doc.ents:
        copy, offset = divmod(entity.start, period)
        copies[copy].append((offset, entity.end - entity.start, entity.label_))
    inner = [copies[copy] for copy in range(1, len(doc) // period - 1)]
    assert inner[0]
    assert all(copy == inner[0] for copy in inner)


def compare(nlp: Language, text: list[str], n: int, has_sentences: bool) -> list[Annotated]:
    """What a Doc of n tokens took, and one of a tenth, in turn; the shortest of as many times."""
    found: list[list[Annotated]] = [[], []]
    for _ in range(TIMES):
        for times, size in zip(found, (n, n // 10), strict=True):
            doc = make(nlp, text, size, has_sentences)
            before = [token.text for token in doc]
            times.append(run(nlp, doc))
            assert [token.text for token in doc] == before
            check_copies(doc, math.lcm(len(text), EVERY))
            del doc
    return [min(times, key=lambda annotated: annotated.seconds) for times in found]


def main(model: str, text: str, n: int) -> list[list[Annotated]]:
    nlp, words = spacy.load(model), text.split()
    run(nlp, make(nlp, words, 1000, True))  # whatever has to be compiled
    return [compare(nlp, words, n, has_sentences) for has_sentences in (True, False)]


if __name__ == "__main__":
    both = main(*sys.argv[1:3], int(sys.argv[3]))
    print(json.dumps([[asdict(annotated) for annotated in found] for found in both]))
