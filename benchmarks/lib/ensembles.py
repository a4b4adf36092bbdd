"""Tasks that train members of ensembles, and score ensembles of some of them.

Scores are numbers of right, found and gold entities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .package import TOKENS_GIVEN
from .paths import CONFIGS

Result = dict[str, Any]
_OVERRIDES = {
    f"corpora.{part}.{name}": value
    for part in ("train", "dev")
    for name, value in TOKENS_GIVEN.items()
}


def train_member(
    config: str, train: str, dev: str, folder: str, number: int, features: float, data: float
) -> Result:
    """Train the member of that number. features, data: shares that it has of both."""
    from spacy_cascade.systems.ensembles.drawing import Drawing
    from spacy_cascade.systems.ensembles.workflow import EnsembleTask, train_member
    from spacy_cascade.workflows.jackknife import read_config

    Path(folder).mkdir(parents=True, exist_ok=True)
    settings = read_config(CONFIGS / config, _OVERRIDES)
    drawing = Drawing(features, data)
    task = EnsembleTask((settings,), Path(train), Path(dev), number + 1, drawing)
    trained = train_member(task, number, Path(folder), 1)
    return {"name": trained.name, "f1": trained.f1}


def score_ensembles(
    folder: str,
    dev: str,
    targets: Mapping[str, Mapping[str, Any]],
    sizes: Sequence[int],
    penalties: Sequence[float],
) -> Result:
    """Counts of each corpus by the number of members and the penalty, and of each member alone.

    dev: at home, whose name is the empty text. targets: for each other corpus its `data`, and what
    each of its labels counts as. A member alone annotates as it was trained.
    """
    import spacy

    from spacy_cascade.systems.ensembles.members import read_members
    from spacy_cascade.systems.ensembles.mixture import decide, mean_posteriors

    from .package import read_examples

    found: Result = {}
    names = sorted(path.name for path in Path(folder).iterdir())
    alone = [spacy.load(Path(folder) / name) for name in names]
    members = read_members(Path(folder), alone[0].vocab)
    for name, target in {"": {"data": dev, "labels": None}, **targets}.items():
        examples = read_examples(target["data"], alone[0])
        labels, gold = target["labels"], set[tuple[int, int, str]]()
        offsets = [0]
        for example in examples:
            gold.update((e.start + offsets[-1], e.end + offsets[-1], e.label_)
                        for e in example.reference.ents)  # fmt: skip
            offsets.append(offsets[-1] + len(example.predicted))
        docs = [example.predicted for example in examples]
        listed = [member.posteriors(docs) for member in members]
        by_size: Result = {}
        for size in sizes:
            mean = mean_posteriors(listed[:size])
            by_size[str(size)] = {}
            for penalty in penalties:
                decision = decide(mean, penalty)
                spans = zip(
                    mean.start[decision.chosen].tolist(), mean.end[decision.chosen].tolist(),
                    (members[0].labels[i] for i in decision.label[decision.chosen].tolist()),
                    strict=True,
                )  # fmt: skip
                by_size[str(size)][f"{penalty:g}"] = _counts(set(spans), gold, labels)
        singles = []
        for nlp in alone:
            annotated = nlp.pipe([doc.copy() for doc in docs])
            own = {
                (e.start + offset, e.end + offset, e.label_)
                for offset, doc in zip(offsets, annotated, strict=False)
                for e in doc.ents
            }
            singles.append(_counts(own, gold, labels))
        found[name] = {"ensembles": by_size, "members": singles}
    return found


def _counts(
    found: set[tuple[int, int, str]],
    gold: set[tuple[int, int, str]],
    labels: Mapping[str, str] | None,
) -> list[int]:
    """Right, found and gold entities; labels: what each counts as, others do not count."""
    if labels is not None:
        found, gold = (
            {(start, end, labels[label]) for start, end, label in spans if label in labels}
            for spans in (found, gold)
        )
    return [len(found & gold), len(found), len(gold)]
