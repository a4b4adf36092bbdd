"""What is seen in a corpus, in sentences for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..tokenizers.languages import how_to_install
from ..tokenizers.lost_spans import CUTS
from .profile import Held, Profile

_MOST_TYPES = 12
"""Types that are listed."""
_FEW = 0.7
"""Of clusters from text of the same language, about nine tenths of the words are in one."""


def describe(profile: Profile) -> list[str]:
    """Paragraphs: size, entities, tokens, clusters, the corpus to score on."""
    found = [_size(profile), _entities(profile), _tokens(profile)]
    if profile.language.to_install:
        found.append(how_to_install(profile.language.to_install))
    if profile.lost:
        found.append(lost_text(profile.lost))
    found += profile.contradictions
    found += [
        f"{share:.0%} of the words are in the clusters '{name}'."
        + (" They seem to be of another language or kind of token." if share < _FEW else "")
        for name, share in profile.clusters.items()
    ]
    return found if profile.dev is None else [*found, _dev(profile, profile.dev)]


def _size(p: Profile) -> str:
    if p.sentences is None:
        sentences = "no marked sentences"
    else:
        sentences = f"{_n(p.sentences, 'sentence')} ({p.sentences_per_document:.1f} in each)"
    text = f"{_n(p.documents, 'document')}, {sentences}, {_n(p.words, 'word')}."
    if p.pieces:
        text += f" Nearly all documents have {p.pieces} sentences: they are pieces of a text."
    if p.empty:
        text += f" {_n(p.empty, 'document')} without words: nothing is learnt from them."
    if p.unannotated:
        text += f" {_n(p.unannotated, 'word')} without entity annotation."
    return text


def _entities(p: Profile) -> str:
    listed = ", ".join(f"{label} {n / p.entities:.0%}" for label, n in _most(p.labels))
    rest = p.types - _MOST_TYPES
    listed += f" and {_n(rest, 'other')}" if rest > 0 else ""
    return (
        f"{_n(p.entities, 'entity', 'entities')} of {_n(p.types, 'type')}: {listed}. They have "
        f"{p.mean_length:.1f} words on average, 95 % have {p.length_95} at most, the longest has "
        f"{p.longest}. {p.recurring:.0%} recur in the same document, {p.recurring_elsewhere:.0%} "
        "in the next one."
    )


def _tokens(p: Profile) -> str:
    return " ".join(_token_sentences(p))


def _token_sentences(p: Profile) -> Iterator[str]:
    if p.spacing_known == 0:
        yield "The spaces between words are unknown."
    elif p.spacing_known == 1:
        yield "The spaces between words are known."
    else:
        yield f"The spaces between words are known in {p.spacing_known:.0%} of the documents."
    for sign, share in (("hyphens", p.hyphens_split), ("slashes", p.slashes_split)):
        if share is not None:
            yield f"{share:.0%} of the {sign} between letters or digits are tokens."
    for case, share in (("lower", p.lower), ("upper", p.upper)):
        if share > 0.99:
            yield f"The text is in {case} case."


def lost_text(lost: Counter[str]) -> str:
    """What `convert` could not make entities of; the spans by the reason."""
    kinds = ", ".join(f"{n:,} {reason}" for reason, n in lost.most_common())
    text = f"{_n(lost.total(), 'span')} of the annotation became no entity in `convert`: {kinds}."
    if lost[CUTS]:
        text += (
            " The measures of tokenizers count those that cut a token. To train on those that a "
            "better tokenizer can express, convert the corpus again with --tokenizer CONFIG."
        )
    return text


def _dev(p: Profile, dev: Held) -> str:
    text = (
        f"To score on: {_n(dev.documents, 'document')}, {_n(dev.words, 'word')}, "
        f"{_n(dev.entities, 'entity', 'entities')}. {dev.unseen_words:.1%} of the words and "
        f"{dev.unseen_entities:.0%} of the entities do not occur in the training corpus."
    )
    unknown = sorted(dev.labels.keys() - p.labels.keys())
    return text + (f" Types that cannot be learnt: {', '.join(unknown)}." if unknown else "")


def _most(labels: Counter[str]) -> list[tuple[str, int]]:
    return labels.most_common(_MOST_TYPES)


def _n(n: int, noun: str, nouns: str = "") -> str:
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"
