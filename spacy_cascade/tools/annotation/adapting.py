"""Adapting a trained pipeline to a few more Docs."""

from collections.abc import Iterable, Sequence

from spacy.language import Language
from spacy.training import Example

from ...errors import ConfigError, TrainingError
from ...pipeline.base import is_learner
from ...systems.tagging.component import CascadeTagger

UPDATES = 2
"""By then the training of a few sentences has settled."""


def adapt(nlp: Language, examples: Iterable[Example], updates: int = UPDATES) -> None:
    """Adapt the components of a loaded pipeline that are cascade components to new examples.

    Other components stay what they are. Those that the pipeline's training config has annotate do
    so here, too. Raises `ConfigError` for a pipeline without such components or for fewer than one
    update, `TrainingError` without examples, or without
    annotation to learn from.
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
    annotating = nlp.config["training"].get("annotating_components", [])
    for _ in range(updates):
        nlp.update(examples, exclude=others, annotates=annotating)


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
