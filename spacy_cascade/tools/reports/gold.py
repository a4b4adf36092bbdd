"""Whether a corpus has the gold annotation that a pipeline is scored on."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from spacy.language import Language
from spacy.training import Example

from ...cli.output import counted, print_warning
from ...errors import CorpusError
from ...pipeline.spans.gold import place_of

_TAGS = "token.tag"
_ENTITIES = place_of(None)


def check_gold(nlp: Language, examples: Sequence[Example], data: Path) -> None:
    """Raise `CorpusError` for a corpus without any gold annotation that the components look at.

    A warning names the spans that one of several components lacks: its scores are then zeros.
    """
    wanted, found = _places(nlp), _annotated(examples)
    missing = sorted(wanted - found.keys())
    if not missing:
        return
    if found.keys().isdisjoint(wanted):
        listed = ", ".join(f"{n:,} in {place}" for place, n in found.most_common())
        raise CorpusError(
            f"{counted(len(examples), 'Doc')} of {data}, but no gold annotation to score on: the "
            f"components look at {', '.join(missing)}. "
            + (f"There are {listed}. " if found else "")
            + "Annotate the Docs, or give others."
        )
    for place in missing:
        if place != _TAGS:
            print_warning(f"{data} has no gold spans in {place}: what is scored on them is 0.")


def _places(nlp: Language) -> set[str]:
    """Where the gold annotation of the components is."""
    places = set()
    for name, pipe in nlp.pipeline:
        assigned = nlp.get_pipe_meta(name).assigns
        if hasattr(pipe, "gold_key"):
            places.add(place_of(pipe.gold_key))
        else:
            places |= {_ENTITIES, _TAGS} & set(assigned)
    return places


def _annotated(examples: Sequence[Example]) -> Counter[str]:
    """How many gold spans and tags there are, by the place where they are."""
    found: Counter[str] = Counter()
    for doc in (example.reference for example in examples):
        found[_ENTITIES] += len(doc.ents)
        found[_TAGS] += sum(1 for token in doc if token.tag)
        found.update({place_of(key): len(group) for key, group in doc.spans.items()})
    return +found
