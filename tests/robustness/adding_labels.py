"""Threads that annotate while another adds labels: what came of each Doc.

`python adding_labels.py PIPELINE ROUNDS`, run by `test_adding_labels.py`. PIPELINE: `chain`,
`pairs`, `semi_markov`, `nbest`, `likely`, `cascade` or `tagger`. Prints how many runs over all
texts were right, and how many were refused. Anything else fails.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import Any

from helpers import SMALL, TEXTS, add_classifier, add_segmenter, blank, make_examples
from spacy_cascade import TrainingError

NEW_LABELS = tuple(f"zz{i:02}" for i in range(12))
"""After all others in the alphabet, so that the order is that in which they are added."""
SEMI_MARKOV = {
    "model": {
        "@architectures": "spacy_cascade.SemiMarkov.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
        "min_count": 1,
        "segment_min_count": 1,
    }
}


def trained(pipeline: str) -> tuple[Any, Any]:
    """The pipeline, and the component that gets labels."""
    nlp = blank()
    if pipeline == "tagger":
        component = nlp.add_pipe("cascade_tagger", config={"model": SMALL["model"]})
    elif pipeline == "cascade":
        add_segmenter(nlp, n_best=3)
        component = add_classifier(nlp, reject=True)
    else:
        settings: dict[str, Any] = {
            "chain": {"model": {"min_count": 1, "label_pairs": False}},
            "pairs": {"model": {"min_count": 1, "label_pairs": True}},
            "semi_markov": SEMI_MARKOV,
            "nbest": {"n_best": 4},
            "likely": {"overlapping": True, "threshold": 0.05},
        }[pipeline]
        component = add_segmenter(nlp, typed=True, **settings)
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.text[-1]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp, component


def found_in(doc: Any) -> Any:
    """Spans, or tags where there are none."""
    if "cascade" in doc.spans:
        return tuple((s.start, s.end, s.label_) for s in doc.spans["cascade"])
    return tuple(token.tag_ for token in doc)


def right_answers(pipeline: str) -> list[set[Any]]:
    """For each text what one thread finds, after each label."""
    nlp, component = trained(pipeline)
    answers: list[set[Any]] = [{found_in(doc)} for doc in nlp.pipe(TEXTS)]
    for label in NEW_LABELS:
        component.add_label(label)
        for doc, of_text in zip(nlp.pipe(TEXTS), answers, strict=True):
            of_text.add(found_in(doc))
    return answers


def main(pipeline: str, rounds: int) -> None:
    answers = right_answers(pipeline)
    counts: Counter[str] = Counter()
    sys.setswitchinterval(1e-5)
    for _ in range(rounds):
        nlp, component = trained(pipeline)
        is_over = threading.Event()

        def annotate(nlp: Any = nlp, is_over: threading.Event = is_over) -> None:
            while not is_over.is_set():
                try:
                    found = [found_in(doc) for doc in nlp.pipe(TEXTS, batch_size=2)]
                except TrainingError:
                    counts["refused"] += 1
                except BaseException as error:
                    counts[f"{type(error).__name__}: {error}"] += 1
                else:
                    wrong = any(x not in of_text for x, of_text in zip(found, answers, strict=True))
                    counts["wrong" if wrong else "right"] += 1

        threads = [threading.Thread(target=annotate) for _ in range(4)]
        for thread in threads:
            thread.start()
        for label in NEW_LABELS:
            component.add_label(label)
        is_over.set()
        for thread in threads:
            thread.join()
        assert component.labels[-len(NEW_LABELS) :] == NEW_LABELS, component.labels
        last = [found_in(doc) for doc in nlp.pipe(TEXTS, batch_size=2)]
        is_right = all(x in of_text for x, of_text in zip(last, answers, strict=True))
        counts["right" if is_right else "wrong"] += 1
    print(dict(counts))
    assert counts.keys() <= {"right", "refused"}, counts


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
