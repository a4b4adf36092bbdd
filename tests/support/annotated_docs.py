"""Random Docs on which other components have been."""

from __future__ import annotations

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from helpers import SENTENCES, Bounds, annotate

WORDS = [*" ".join(text for text, _ in SENTENCES).split(), "unseen", "x", "(", "\n"]
LABELS = ["DNA", "protein", "cell", "ENT", "MENTION", "foreign"]
"""The first three are those of `SENTENCES`."""
STATES = ["B", "I", "blocked", "missing", "outside"]
FOREIGN_KEYS = ["foreign", "cascade/1"]
"""The second has a name as a list of the N best has, and is none."""


def random_doc(vocab: Vocab, seed: int) -> Doc:
    """A Doc on which others have been: entities, blocked tokens, groups, tags, sentences."""
    generator = np.random.default_rng(seed)
    words, known = random_words(generator)
    n = len(words)
    starts = (generator.random(n) < 0.2).tolist() if generator.random() < 0.5 else None
    tags = generator.choice(["", "NN", "VB"], n).tolist() if generator.random() < 0.5 else None
    spaces = (generator.random(n) < 0.8).tolist()
    doc = Doc(vocab, words=words, spaces=spaces, sent_starts=starts, tags=tags)
    chances = generator.dirichlet([0.4, 0.4, 0.2, 0.7, 0.7])
    states = generator.choice(STATES, n, p=chances).tolist()
    labels = generator.choice(LABELS, n).tolist()
    for start, end, label in known:
        if generator.random() < 0.3:  # what the components are likely to find, too
            states[start:end] = ["B"] + ["I"] * (end - start - 1)
            states[end : end + 1] = ["outside"] * (end < n)
            labels[start] = label
    annotate(doc, states, labels)
    entities = [random_span(doc, e.start, e.end, e.label_, generator) for e in doc.ents]
    doc.set_ents(entities, default="unmodified")
    for key in FOREIGN_KEYS:
        if generator.random() < 0.7:
            doc.spans[key] = random_group(doc, key, generator)
    doc.user_data["note"] = {"of": "another"}
    return doc


def random_words(generator: np.random.Generator) -> tuple[list[str], list[Bounds]]:
    """Sentences with some other words, and where the entities of the sentences are."""
    words: list[str] = []
    known: list[Bounds] = []
    for i in generator.integers(0, len(SENTENCES), int(generator.integers(0, 4))):
        text, entities = SENTENCES[i]
        known += [(start + len(words), end + len(words), label) for start, end, label in entities]
        words += text.split()
    changed = generator.random(len(words)) < 0.1
    others = generator.choice(WORDS, len(words)).tolist()
    return [new if c else old for old, new, c in zip(words, others, changed, strict=True)], known


def random_group(doc: Doc, key: str, generator: np.random.Generator) -> SpanGroup:
    """Spans in any order, some of which overlap or are empty."""
    edges = generator.integers(0, len(doc) + 1, (int(generator.integers(0, 8)), 2))
    labels = generator.choice(LABELS, len(edges))
    spans = [
        random_span(doc, int(min(edge)), int(min(max(edge), min(edge) + 5)), str(label), generator)
        for edge, label in zip(edges, labels, strict=True)
    ]
    attributes = {"author": "another", "ranks": list(range(len(spans)))}
    if generator.random() < 0.5:
        attributes["scores"] = generator.random(len(spans))
    return SpanGroup(doc, name=key, spans=spans, attrs=attributes)


def random_span(doc: Doc, start: int, end: int, label: str, generator: np.random.Generator) -> Span:
    kb_id, span_id = generator.choice(["", "Q1", "Q22"], 2).tolist()
    return Span(doc, start, end, label, kb_id=kb_id, span_id=span_id)
