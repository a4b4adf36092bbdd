"""A term list from unlabelled text: phrases that a pipeline finds in many contexts.

As in bootstrapping of lexicons (Riloff and Jones 1999), what was found in many contexts is trusted;
here it must also be found nearly wherever it occurs. Texts come in batches, each of which may go to
a process of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from ....errors import ConfigError, CorpusError
from ....pipeline.spans.confidences import confidence_of
from ....processes import stream_through_processes

Phrase: TypeAlias = tuple[str, ...]
"""Tokens as written."""
Key: TypeAlias = tuple[Phrase, str]
"""A phrase with the label of an entity."""
Batch: TypeAlias = Sequence[str | bytes]
"""Texts, or Docs with words and sentences as `Doc.to_bytes` gives them."""
Batches: TypeAlias = Callable[[str], Iterable[Batch]]
"""Gives all texts anew at each call, for the task that it is told."""
Result = TypeVar("Result")


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
    for found in _calls(_find_phrases, tasks, processes):
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
        for counts in _calls(_count_occurrences, tasks, processes):
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


# What processes do with a batch


@dataclass(slots=True)
class Sighting:
    """Where entities of a phrase and label were found.

    pattern: the phrase as text, where it was found first. n_found: entities. n_confident,
    n_documents, confidence, contexts: of those with enough confidence: how many there are, the
    texts that they are in, the sum of their confidences, and codes of the words around.
    """

    pattern: str = ""
    n_found: int = 0
    n_confident: int = 0
    n_documents: int = 0
    confidence: float = 0.0
    contexts: set[int] = field(default_factory=set)

    def add(self, other: Sighting) -> None:
        """Add what was found in other texts, which come later."""
        self.pattern = self.pattern or other.pattern
        self.n_found += other.n_found
        self.n_confident += other.n_confident
        self.n_documents += other.n_documents
        self.confidence += other.confidence
        self.contexts |= other.contexts


def squeezed(phrase: str) -> str:
    """What known phrases are compared by: in lower case, without spaces."""
    return "".join(phrase.split()).lower()


def _find_phrases(model: str, batch: Batch, confidence: float) -> dict[Key, Sighting]:
    """The entities of a pipeline in a batch of texts, by phrase and label.

    confidence: the least that counts. Raises `ConfigError` where entities have none.
    """
    found: dict[Key, Sighting] = {}
    with _loaded(model) as nlp:
        for doc in nlp.pipe([_doc(nlp, text) for text in batch]):
            new = [
                key for entity in doc.ents if (key := _sight(found, entity, confidence)) is not None
            ]
            for key in set(new):
                found[key].n_documents += 1
    return found


def _sight(found: dict[Key, Sighting], entity: Span, least: float) -> Key | None:
    """Note an entity; its key where it is confident enough."""
    doc, confidence = entity.doc, confidence_of(entity)
    if confidence is None:
        raise ConfigError(
            f"The entity '{entity.text}' has no confidence, so the list cannot grow. Set "
            "confidence = true in the components, and let a cascade component write doc.ents."
        )
    phrase = tuple(token.text for token in entity)
    sighting = found.setdefault((phrase, entity.label_), Sighting(" ".join(entity.text.split())))
    sighting.n_found += 1
    if confidence < least:
        return None
    before = doc[entity.start - 1].lower if entity.start else 0
    after = doc[entity.end].lower if entity.end < len(doc) else 0
    sighting.n_confident += 1
    sighting.confidence += confidence
    sighting.contexts.add(hash((before, after)))
    return phrase, entity.label_


def _count_occurrences(model: str, batch: Batch, phrases: Set[Phrase]) -> Counter[Phrase]:
    """How often phrases occur in a batch of texts; those inside of others count, too."""
    lengths: dict[str, set[int]] = {}
    for phrase in phrases:
        lengths.setdefault(phrase[0], set()).add(len(phrase))
    counts: Counter[Phrase] = Counter()
    with _loaded(model) as nlp:
        for text in batch:
            words = [token.text for token in _doc(nlp, text)]
            for i, word in enumerate(words):
                for length in lengths.get(word, ()):
                    phrase = tuple(words[i : i + length])
                    # At the end of a text it may be another one, which is counted by itself.
                    if len(phrase) == length and phrase in phrases:
                        counts[phrase] += 1
    return counts


def _doc(nlp: Language, text: str | bytes) -> Doc:
    if isinstance(text, bytes):
        return Doc(nlp.vocab).from_bytes(text)
    if len(text) > nlp.max_length:
        raise CorpusError(
            f"The text that begins {text[:50]!r} has {len(text):,} characters; the pipeline takes "
            f"{nlp.max_length:,}. Put its paragraphs on lines of their own."
        )
    return nlp.make_doc(text)


@contextmanager
def _loaded(model: str) -> Iterator[Language]:
    """The pipeline, which forgets the words of a batch at the end."""
    nlp = _load(model)
    with nlp.memory_zone():
        yield nlp


@lru_cache(maxsize=1)
def _load(model: str) -> Language:
    """Once for each process."""
    return spacy.load(model)
