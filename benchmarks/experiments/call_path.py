"""Which modules and functions one annotation and one update pass.

python -m benchmarks.experiments.call_path

The segmenter of `configs/memb.cfg` predicts one Doc with new words, and does its first update on
some Docs of the sample corpus. A function counts if it belongs to a module or a class of the
package: local functions, lambdas, comprehensions and compiled kernels do not. A module counts even
if only its kernels are called. Both are printed in the order in which they are first passed.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import threading
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config

import spacy_cascade
from spacy_cascade.tools.formats.columns import read_columns
from spacy_cascade.tools.formats.docs import to_docs

from ..lib.paths import CONFIGS, PROJECT

PACKAGE = Path(spacy_cascade.__file__).parent
SEGMENTER = "cascade_segmenter"
NEW_WORDS = "Xenqualin-7 blocks the vornase site of BRELT2 in Quorvat cells ."
N_DOCS = 6

Passed = dict[str, list[str]]
"""The functions of each module, both in order."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--counts", action="store_true", help="print no names")
    arguments = parser.parse_args()
    for what, passed in measure().items():
        n_functions = sum(map(len, passed.values()))
        print(f"{what}: {len(passed)} modules, {n_functions} functions")
        for module, functions in () if arguments.counts else passed.items():
            print(f"  {module}: {', '.join(functions) or 'kernels'}")


def measure() -> dict[str, Passed]:
    """What `predict` and the first `update` pass, once all kernels are compiled."""
    _of_new_segmenter()
    return _of_new_segmenter()


def _of_new_segmenter() -> dict[str, Passed]:
    config = load_config(CONFIGS / "memb.cfg", {"paths.train": "-", "paths.dev": "-"})
    nlp = load_model_from_config(config.interpolate(), auto_fill=True)
    segmenter: Any = nlp.get_pipe(SEGMENTER)
    docs = to_docs(read_columns(PROJECT / "assets" / "sample" / "train.iob2"), nlp.vocab)
    examples = [
        Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc)
        for doc in islice(docs, N_DOCS)
    ]
    nlp.initialize(lambda: examples)
    update = passed_by(partial(segmenter.update, examples))
    segmenter.predict([examples[0].predicted])  # takes over the weights
    new_doc = Doc(nlp.vocab, words=NEW_WORDS.split())
    return {"predict": passed_by(partial(segmenter.predict, [new_doc])), "update": update}


def passed_by(call: Callable[[], object]) -> Passed:
    """What a call passes, in all its threads."""
    seen: dict[tuple[str, CodeType], bool] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            seen.setdefault((module, frame.f_code), "__name__" not in frame.f_globals)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    passed: Passed = {}
    for (module, code), is_kernel in seen.items():
        functions = passed.setdefault(module, [])
        is_local = code.co_flags & inspect.CO_NESTED or code.co_name.startswith("<")
        if not is_kernel and not is_local:
            functions.append(code.co_name)
    return passed


if __name__ == "__main__":
    main()
