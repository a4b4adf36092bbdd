"""A term list from unlabelled text: phrases that a pipeline finds in many contexts.

As in bootstrapping of lexicons (Riloff and Jones 1999), what was found in many contexts is trusted;
here it must also be found nearly wherever it occurs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from ....errors import ConfigError, CorpusError
from ....processes import stream_through_processes
from .phrases import Batch, Key, Phrase, Sighting, count_occurrences, find_phrases, squeezed

Result = TypeVar("Result")
Batches = Callable[[str], Iterable[Batch]]
"""Gives all texts anew at each call, for the task that it is told."""


@dataclass(frozen=True)
class Thresholds:
    """What a phrase needs to be listed.

    confidence: of an entity, for it to count. contexts: different pairs of the word before and the
    word after. agreement: share of the phrase's occurrences that are found as an entity of the
    label, with any confidence.
    """

    confidence: float = 0.9
    contexts: int = 3
    agreement: float = 0.5


@dataclass(frozen=True)
class GrownTerm:
    """A line of the list.

    count: confident entities. documents, contexts: how many different ones they stand in.
    confidence: their mean. agreement: see `Thresholds`.
    """

    label: str
    pattern: str
    count: int
    documents: int
    contexts: int
    confidence: float
    agreement: float


@dataclass(frozen=True)
class GrownList:
    """terms: those in most contexts first. n_phrases: phrases with a label that were found."""

    terms: list[GrownTerm]
    n_phrases: int


def grow_list(
    model: str,
    batches: Batches,
    thresholds: Thresholds,
    *,
    labels: Collection[str] = (),
    known: Collection[str] = (),
    processes: int = 1,
) -> GrownList:
    """Annotate texts, and choose the phrases that reach the thresholds.

    model: folder of a pipeline. batches: called twice, for the occurrences of phrases are counted
    once it is known which ones matter. labels: of the entities that count, all where empty. known:
    phrases that are left out, `squeezed`. The result does not depend on the number of processes;
    memory grows with the phrases found, not with the text. Raises `ConfigError` where entities have
    no confidences, or none has one of the labels, and `CorpusError` where no phrase is left.
    """
    seen: dict[Key, Sighting] = {}
    tasks = ((model, batch, thresholds.confidence) for batch in batches("Annotating"))
    for found in _calls(find_phrases, tasks, processes):
        for key, sighting in found.items():
            seen.setdefault(key, Sighting()).add(sighting)
    _check_labels(labels, {label for _, label in seen})
    likely = {
        (phrase, label): sighting
        for (phrase, label), sighting in seen.items()
        if len(sighting.contexts) >= thresholds.contexts
        and (not labels or label in labels)
        and squeezed(sighting.pattern) not in known
    }
    occurrences = _count(model, batches, {phrase for phrase, _ in likely}, processes)
    terms = [_term(label, found, occurrences[phrase]) for (phrase, label), found in likely.items()]
    kept = [term for term in terms if term.agreement >= thresholds.agreement]
    if not kept:
        raise CorpusError(
            f"None of {len(seen):,} phrases found reaches the thresholds. Give more text, or lower "
            "the confidence, the contexts or the agreement that a phrase needs."
        )
    kept.sort(key=lambda term: (-term.contexts, -term.count, term.pattern, term.label))
    return GrownList(kept, len(seen))


def _check_labels(labels: Collection[str], found: Set[str]) -> None:
    for label in sorted(set(labels) - found):
        raise ConfigError(
            f"The pipeline found no entity with the label '{label}' in the texts. It found: "
            f"{', '.join(sorted(found)) or 'nothing'}."
        )


def _count(model: str, batches: Batches, phrases: Set[Phrase], processes: int) -> Counter[Phrase]:
    """Occurrences of the phrases in all texts."""
    total: Counter[Phrase] = Counter()
    if phrases:
        tasks = ((model, batch, phrases) for batch in batches("Counting"))
        for counts in _calls(count_occurrences, tasks, processes):
            total.update(counts)
    return total


def _term(label: str, found: Sighting, occurrences: int) -> GrownTerm:
    return GrownTerm(
        label,
        found.pattern,
        found.n_confident,
        found.n_documents,
        len(found.contexts),
        round(found.confidence / found.n_confident, 4),
        # A component may have merged tokens that the tokenizer splits.
        round(found.n_found / max(occurrences, found.n_found), 4),
    )


def _calls(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], processes: int
) -> Iterator[Result]:
    if processes == 1:
        return (function(*task) for task in tasks)
    return stream_through_processes(function, tasks, processes)
