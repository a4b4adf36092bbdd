"""Adapting a trained pipeline to a few more Docs, and how much its old corpus counts then.

With the share 1 the old corpus counts as much as if it were present, with 0 not at all; the power
prior of Ibrahim and Chen (docs/method.md, section 4.3).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from spacy.language import Language
from spacy.training import Example

from ...errors import ConfigError, TrainingError
from ...pipeline.base import CascadePipe, is_learner
from ...scorers import linear
from ...systems.tagging.component import CascadeTagger
from ...workflows.reconfigure import reconfigured
from ...workflows.updating import update, upstream

UPDATES = 2
"""By then the training of a few sentences has settled."""


def adapt(nlp: Language, examples: Iterable[Example], updates: int = UPDATES) -> None:
    """Adapt the components of a loaded pipeline that are cascade components to new examples.

    Other components, and the `tok2vec` of these, stay what they are. Those that the training config
    of the pipeline has annotate do so here, too. Raises `ConfigError` for a pipeline without such
    components or for fewer than one update, `TrainingError` without examples, or without annotation
    to learn from.
    """
    if updates < 1:
        raise ConfigError(f"Adapting takes 1 update or more, not {updates}.")
    examples = list(examples)
    if not examples:
        raise TrainingError("There are no Docs to adapt to. Check the path of the corpus.")
    others = [name for name, pipe in nlp.pipeline if not is_learner(pipe)]
    if len(others) == len(nlp.pipeline):
        raise ConfigError(
            f"The pipeline has no component that can be adapted, only {others}. Give one with a "
            "cascade_segmenter, cascade_classifier or cascade_tagger."
        )
    _check_annotation(nlp, examples)
    configured = nlp.config["training"].get("annotating_components", [])
    heard = [name for names in upstream(nlp) for name in names]
    annotating = [name for name in others if name in configured or name in heard]
    for _ in range(updates):
        update(nlp, examples, others, annotating, keeps_encoders=True)


def _check_annotation(nlp: Language, examples: Sequence[Example]) -> None:
    """Raise `TrainingError` where no example has what one of the components learns from."""
    wanted = {
        "token.tag" if isinstance(pipe, CascadeTagger) else pipe.gold_key
        for _, pipe in nlp.pipeline
        if is_learner(pipe)
    }
    for example in examples:
        doc = example.reference
        found: set[str | None] = set(doc.spans)
        found |= {"token.tag"} if doc.has_annotation("TAG") else set()
        found |= {None} if doc.has_annotation("ENT_IOB") else set()
        if found & wanted:
            return
    places = sorted("doc.ents" if place is None else place for place in wanted)
    raise TrainingError(
        f"None of the {len(examples)} Docs has annotation to learn from: the components look at "
        f"{', '.join(places)}. Annotate the Docs first."
    )


SHARES = (1.0, 0.3, 0.1, 0.03, 0.0)
"""What `choose_share` tries; of equally good ones the first."""
FOLDS = 3


@dataclass(frozen=True)
class Tried:
    """A share, and F1 of entities of new documents that were kept back."""

    share: float
    f1: float


def set_share(nlp: Language, share: float) -> None:
    """Let the old corpus of a loaded pipeline count less from now on.

    The weights of its components shrink as if they had been trained on less. Raises `ConfigError`
    for a share out of range, and for components that are trained online or know no curvature.
    """
    if not (math.isfinite(share) and 0.0 <= share <= 1.0):
        raise ConfigError(f"The old share is a number from 0 to 1, not {share}.")
    if share == 1.0:
        return
    for name, pipe in nlp.pipeline:
        if is_learner(pipe):
            _set_share_of(name, pipe, share)


def choose_share(
    nlp: Language, examples: Sequence[Example], updates: int = UPDATES
) -> tuple[float, list[Tried]]:
    """The share with which new documents that are kept back are annotated best, and all tried.

    By cross-validation: each third of the documents is annotated by the pipeline as adapted to the
    others. Raises `ConfigError` for fewer documents than folds, and as `set_share`.
    """
    if len(examples) < FOLDS:
        raise ConfigError(
            f"Choosing the old share takes {FOLDS} new Docs or more, not {len(examples)}. Cut them "
            "into more Docs, or give a number."
        )
    set_share(reconfigured(nlp, nlp.config), min(SHARES))  # Refuse early what cannot have one.
    order = list(examples)
    Random(0).shuffle(order)
    tried = [Tried(share, _held_back_f1(nlp, order, share, updates)) for share in SHARES]
    return max(tried, key=lambda found: found.f1).share, tried


def _held_back_f1(nlp: Language, examples: Sequence[Example], share: float, updates: int) -> float:
    """Mean F1 of the folds."""
    total = 0.0
    for fold in range(FOLDS):
        adapted = reconfigured(nlp, nlp.config)
        set_share(adapted, share)
        adapt(adapted, [e for i, e in enumerate(examples) if i % FOLDS != fold], updates)
        held_back = [Example(e.predicted.copy(), e.reference) for e in examples[fold::FOLDS]]
        total += adapted.evaluate(held_back)["ents_f"] or 0.0
    return total / FOLDS


def _set_share_of(name: str, pipe: CascadePipe, share: float) -> None:
    known = linear.get_hessian_diagonal(pipe.model)
    if pipe.penalty is None or known is None:
        raise ConfigError(
            f"'{name}' cannot tell what the old corpus has added to its weights: it was trained "
            "online, or saved without the curvature of its loss. Adapt it with an old share of 1."
        )
    weights = pipe.penalty.with_share(share, pipe.weights, known, pipe.structure)
    linear.set_weights(pipe.model, *weights)
    linear.keep_hessian_diagonal(pipe.model, share * known)
    pipe.reset_fit()
