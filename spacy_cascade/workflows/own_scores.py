"""The scores in the meta data of a pipeline that finds something else than when it was scored."""

from collections.abc import Sequence

from spacy.language import Language
from spacy.training import Example


def take_own_scores(nlp: Language, examples: Sequence[Example]) -> None:
    """Have the pipeline's own scores in its meta data, in place of those that are there.

    examples: to score on; without any, the meta data lose their scores. Only scores that are there
    already are replaced. Others, such as losses of training, stay.
    """
    before = nlp.meta.get("performance")
    if not before:
        return
    if not examples:
        nlp.meta["performance"] = {}
        return
    scores = nlp.evaluate(examples)
    known = {name: scores[name] for name in before if name in scores}
    # What cannot be scored is 0, as in spaCy's own training.
    own = {name: 0.0 if value is None else value for name, value in known.items()}
    nlp.meta["performance"] = {**before, **own}
