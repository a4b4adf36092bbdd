"""The child process: `python tasks.py TASK CORES CORE`, arguments as JSON on standard input.

Its result is the last line of standard output, again JSON, with its peak memory.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

# Looked up only when asked for, so that a peer's process does not hold our packages.
TASKS = {
    "prepare": "corpora",
    "train_crfsuite": "peer_crfsuite",
    "train_crfsuite_conll2003": "peer_conll2003",
    "train_spacy_ner": "peer_spacy_ner",
    "train_spacy_ner_for": "peer_spacy_ner",
    "resume_spacy_ner_for": "peer_spacy_ner",
    "split_corpus": "adapting",
    "adapt_cascade": "adapting",
    "score_parts": "adapting",
    "assess": "assessing",
    "calibration": "assessing",
    "label_cost": "label_cost",
    "sweep_thresholds": "dial_tasks",
    "train_and_score": "dial_tasks",
    "first_docs": "learning",
    "train_cascade": "training",
    "train_as_configured": "training",
    "compare_threads": "training",
    "decode_docs": "speed",
    "decode_raw_text": "speed",
    "oracle": "reranking",
    "rerank": "reranking",
    "predict_nbest": "nbest_speed",
    "decode_reranked": "nbest_speed",
    "load_and_decode": "loading",
    "compile_training": "loading",
    "compile_decoding": "loading",
    "annotate_texts": "bulk",
    "grow": "bulk",
    "write_terms": "lexicons",
    "train_with_terms": "lexicons",
    "decode_both": "lexicons",
    "write_entities": "leaving_out",
}


def stay_on(cores: int, first: int) -> None:
    """Keep this process on so many cores, counted down from a first one, where that can be had."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0), reverse=True)
        os.sched_setaffinity(0, (allowed[first:] + allowed[:first])[:cores])


def peak_memory_megabytes() -> float | None:
    """The most memory that this process ever held, or None where the system cannot say."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def main(name: str, cores: int, first: int) -> None:
    """Run one task."""
    stay_on(cores, first)
    arguments: dict[str, Any] = json.load(sys.stdin)
    task = getattr(importlib.import_module(TASKS[name]), name)
    result = task(**arguments)
    print()
    print(json.dumps({**result, "peak_memory_megabytes": peak_memory_megabytes()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
