"""Learning curves: F1 by the size of the training corpus."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from contenders import CONTENDERS, Contender, Ours, Setting
from measure import Result

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Parts of the corpus; all of it has been trained on already."""
CURVES = ("memb", "ocr", "ner")
FEW_SENTENCES = 2000
"""With fewer than so many sentences features in a single token are kept, as the README advises."""
NER_EVALUATIONS = 4
"""Times that spaCy's `ner` is scored on the way, which takes as long as its training."""
_MIN_COUNTS = {
    f"components.{name}.model.min_count": 1 for name in ("cascade_segmenter", "cascade_classifier")
}


def first_docs(train: str, output: str, share: float, seed: int) -> dict[str, int]:
    """Write a part of a corpus in an order by the seed, so that larger parts have smaller ones."""
    import spacy
    from spacy.tokens import DocBin

    from corpora import read_docs

    docs = read_docs(train, spacy.blank("en").vocab)
    random.Random(seed).shuffle(docs)
    part = docs[: max(1, round(share * len(docs)))]
    DocBin(docs=part, store_user_data=True).to_disk(output)
    return {
        "documents": len(part),
        "sentences": sum(1 for doc in part for t in doc if t.is_sent_start) or len(part),
        "tokens": sum(map(len, part)),
    }


@dataclass(frozen=True)
class Parts:
    """Parts of the corpus, by their share, and who is to be trained on each.

    jobs: trainings that have not been made. models: where they will be, by `NAME@SHARE`, and how
    they are read.
    """

    sizes: dict[float, Result]
    jobs: list[Callable[[], Result]]
    models: dict[str, list[str]]


def cut_parts(
    setting: Setting, shares: Sequence[float], names: Sequence[str], ner_seconds: float
) -> Parts:
    """Cut the training corpus; ner_seconds: what spaCy's `ner` gets for each part."""
    found = Parts({}, [], {})
    for share in shares:
        path = setting.models / f"part-{share:g}"
        arguments = {
            "train": f"{setting.train}.spacy",
            "output": f"{path}.spacy",
            "share": share,
            "seed": 0,
        }
        found.sizes[share] = setting.laboratory.run("first_docs", arguments)
        own = replace(
            setting, train=path, threads=1, ner_seconds=ner_seconds, ner_evaluations=NER_EVALUATIONS
        )
        is_small = found.sizes[share]["sentences"] < FEW_SENTENCES
        for name in names:
            contender = _contender(name, share, is_small)
            found.jobs.append(partial(contender.train, own, repeat=0))
            path_of_model = str(contender.model(setting.models))
            found.models[contender.name] = [path_of_model, contender.reader]
    return found


def _contender(name: str, share: float, is_small: bool) -> Contender:
    contender = replace(CONTENDERS[name], name=name_of(name, share))
    if isinstance(contender, Ours) and is_small:
        return replace(contender, overrides={**contender.overrides, **_MIN_COUNTS})
    return contender


def name_of(name: str, share: float) -> str:
    """Name of a model that was trained on a part of the corpus."""
    return f"{name}@{share:g}"


def curves(
    f1: Mapping[str, float], shares: Sequence[float], names: Sequence[str]
) -> dict[str, list[tuple[float, float]]]:
    """F1 by percent of the corpus. f1: by name of the model, of all parts and of the whole."""
    return {
        name: [
            *((100 * share, f1[name_of(name, share)]) for share in shares),
            *([(100.0, f1[name])] if name in f1 else []),
        ]
        for name in names
    }
