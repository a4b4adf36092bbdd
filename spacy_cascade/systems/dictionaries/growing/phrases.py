"""Phrases of unlabelled texts: where a pipeline finds them, and how often they occur.

Texts come in batches. The functions for one batch can run in a process of their own.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from ....errors import ConfigError, CorpusError
from ....pipeline.spans.confidences import confidence_of

Phrase: TypeAlias = tuple[str, ...]
"""Tokens as written."""
Key: TypeAlias = tuple[Phrase, str]
"""A phrase with the label of an entity."""


class Words(NamedTuple):
    """A text whose tokens are known. spaces: None where they are unknown; starts: of sentences."""

    words: list[str]
    spaces: list[bool] | None
    starts: list[bool | None]


Batch: TypeAlias = Sequence[str | Words]


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

    def add(self, other: "Sighting") -> None:
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


def find_phrases(model: str, batch: Batch, confidence: float) -> dict[Key, Sighting]:
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


def count_occurrences(model: str, batch: Batch, phrases: Set[Phrase]) -> Counter[Phrase]:
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
                    if phrase in phrases:
                        counts[phrase] += 1
    return counts


def _doc(nlp: Language, text: str | Words) -> Doc:
    if isinstance(text, str) and len(text) > nlp.max_length:
        raise CorpusError(
            f"The text that begins {text[:50]!r} has {len(text):,} characters; the pipeline takes "
            f"{nlp.max_length:,}. Put its paragraphs on lines of their own."
        )
    if isinstance(text, str):
        return nlp.make_doc(text)
    starts: list[Any] = text.starts
    return Doc(nlp.vocab, text.words, text.spaces, sent_starts=starts)


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
