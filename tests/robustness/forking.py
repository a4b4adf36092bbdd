"""Processes forked off while other threads annotate: `python forking.py MODEL N`.

Prints the exit status of each, 0 where it found what it should.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Event, Thread

sys.path.append(str(Path(__file__).parents[1] / "support"))

import spacy
from new_words import texts_of_new_words

from helpers import annotation
from spacy_cascade.pipeline import base

base._MAXIMUM_LEXEMES = 1000  # the tables begin anew all the time
N_THREADS, NEW_WORDS = 8, 5


def main(model: str, n_processes: int) -> None:
    nlp = spacy.load(model)
    texts = list(texts_of_new_words(NEW_WORDS, seed=0, n=5))
    expected = [annotation(doc) for doc in nlp.pipe(texts)]
    stopped = Event()

    def annotate(seed: int) -> None:
        for text in texts_of_new_words(NEW_WORDS, seed):
            nlp(text)
            if stopped.is_set():
                return

    sys.setswitchinterval(1e-5)
    threads = [Thread(target=annotate, args=(1 + i,)) for i in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for _ in range(n_processes):
        process = os.fork()
        if process == 0:
            same = [annotation(doc) for doc in nlp.pipe(texts)] == expected
            os._exit(0 if same else 1)
        print(os.waitpid(process, 0)[1], flush=True)
    stopped.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
