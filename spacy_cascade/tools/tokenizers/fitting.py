"""Rules of a tokenizer that follow the tokens of a corpus (`rule_tokenizer`)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from spacy.language import Language

from .corpus_words import CorpusWords, Cuts, Edge, cuts_of, pieces_of
from .rule_tokenizer import TokenizerRules

_ADDRESS = re.compile(r"^(?:https?://|www\.)|^[\w.+-]+@[\w-]+\.\w")
_RARE = 2
"""A rule for a string, rather than a mark, must have been seen so often."""
_CARE = 2
"""A mark is split off unless it was kept more than so many times as often."""
_CARE_OF_ENTITIES = 4
"""As many tokens too many cost as much as an entity that no tokens begin or end with."""
_OTHER_APOSTROPHE = str.maketrans("'’", "’'")
_WORDS = 300
"""The most words with a rule of their own."""

Votes = Counter[tuple[str, bool]]
"""How often something was a token of its own, and how often it was not."""


@dataclass
class _Evidence:
    """Votes on marks, by the classes beside them: `xX`, say, for one after x and before X."""

    before: dict[str, Votes] = field(default_factory=dict)
    after: dict[str, Votes] = field(default_factory=dict)
    inside: dict[str, Votes] = field(default_factory=dict)
    addresses: Counter[bool] = field(default_factory=Counter)


def fit_rules(words: CorpusWords, nlp: Language, exceptions: bool = True) -> TokenizerRules:
    """Rules that split the words of a corpus as its tokens do, as far as they can.

    A mark is split off where it mostly is, by the class of the characters beside it. Words that
    the rules split otherwise than the corpus get rules of their own, the most frequent ones first.
    exceptions: whether those of the language hold.
    """
    runs = _runs(words)
    evidence = _gather(words)
    rules = TokenizerRules(
        keep_before=_kept_marks(evidence.before, at_start=True),
        keep_after=_kept_marks(evidence.after, at_start=False),
        split_inside=_marks_inside(evidence.inside),
        runs=runs,
        prefixes=_strings(words, at_end=False),
        suffixes=_strings(words, at_end=True),
        whole_addresses=evidence.addresses[False] >= evidence.addresses[True],
        exceptions=exceptions,
    )
    return replace(rules, words=_words(words, rules, nlp))


def _each(words: CorpusWords) -> Iterator[tuple[str, Cuts, int]]:
    for word, splits in words.splits.items():
        for cuts, n in splits.items():
            yield word, cuts, n


def is_mark(character: str) -> bool:
    """Whether a character is a mark (`MARK`); words have no white space."""
    return not character.isalnum()


def _class_of(character: str) -> str:
    if is_mark(character):
        return "p"
    if character.isdigit():
        return "d"
    return "X" if character.isupper() else "x"


def _class_before(word: str, i: int) -> str:
    """The class of the character before a place, with single capitals apart."""
    found = _class_of(word[i - 1])
    is_initial = found == "X" and (i == 1 or is_mark(word[i - 2]))
    return "I" if is_initial else found


def _runs(words: CorpusWords) -> list[str]:
    """Tokens of several marks that are mostly one token."""
    joined: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    for word, cuts, n in _each(words):
        for piece in pieces_of(word, cuts) if not word.isalnum() else ():
            if len(piece) > 1 and all(map(is_mark, piece)):
                joined[piece] += n
        texts[word] += n
    found = [run for run, n in joined.items() if n >= _RARE]
    seen = {
        run: sum(n * word.count(run) for word, n in texts.items() if run in word) for run in found
    }
    return sorted(run for run in found if 2 * joined[run] > seen[run])


def _gather(words: CorpusWords) -> _Evidence:
    evidence = _Evidence()
    edges = Counter(edge for entity in words.entities for edge in entity)
    for word, cuts, n in _each(words):
        if word.isalnum():
            continue
        if _ADDRESS.search(word):
            evidence.addresses[bool(cuts)] += n
            continue
        places = {0, *cuts, len(word)}
        in_run = _in_runs(word, cuts)
        letters = [i for i, character in enumerate(word) if not is_mark(character)]
        if not letters:
            continue
        first, last = letters[0], letters[-1]
        for i, character in enumerate(word):
            if not is_mark(character) or i in in_run:
                continue
            left = _class_before(word, i) if i else ""
            right = _class_of(word[i + 1]) if i + 1 < len(word) else ""
            begins, ends = (_CARE_OF_ENTITIES * edges[Edge(word, place)] for place in (i, i + 1))
            if i < first:
                votes, side = evidence.before.setdefault(character, Counter()), right
                is_split, n_edges = i + 1 in places, ends
            elif i > last:
                votes, side = evidence.after.setdefault(character, Counter()), left
                is_split, n_edges = i in places, begins
            else:
                votes, side = evidence.inside.setdefault(character, Counter()), left + right
                is_split, n_edges = i in places and i + 1 in places, begins + ends
            votes[side, is_split] += n
            if is_split:
                votes[side, True] += n_edges
    return evidence


def _in_runs(word: str, cuts: Cuts) -> set[int]:
    """Places of the marks of a word in tokens of several marks."""
    found: set[int] = set()
    start = 0
    for piece in pieces_of(word, cuts):
        if len(piece) > 1 and all(map(is_mark, piece)):
            found.update(range(start, start + len(piece)))
        start += len(piece)
    return found


def _is_split(votes: Votes, side: str) -> bool:
    """Whether a mark should be split off; a token too many costs less than an entity cut."""
    return votes[side, True] * _CARE > votes[side, False]


def _kept_marks(evidence: Mapping[str, Votes], *, at_start: bool) -> list[str]:
    """Marks that stay with a word at its start (or end), with the class on the side of the word."""
    rules = []
    for mark, votes in sorted(evidence.items()):
        sides = sorted({side for side, _ in votes})
        kept = [
            side for side in sides if votes[side, False] >= _RARE and not _is_split(votes, side)
        ]
        if len(kept) == len(sides):
            rules.append(mark)
        else:
            rules.extend(mark + side if at_start else side + mark for side in kept)
    return rules


def _marks_inside(evidence: Mapping[str, Votes]) -> list[str]:
    """Marks that are split off inside words, with the classes on both sides."""
    rules = []
    for mark, votes in sorted(_with_apostrophes(evidence).items()):
        sides = sorted({side for side, _ in votes})
        split = [side for side in sides if _is_split(votes, side)]
        if len(split) == len(sides):
            rules.append(mark)
        else:
            rules.extend(f"{side[0]}{mark}{side[1]}" for side in split)
    return rules


def _with_apostrophes(evidence: Mapping[str, Votes]) -> dict[str, Votes]:
    """Both kinds of apostrophe, one by the other if the corpus has only that."""
    found = dict(evidence)
    for mark, other in (("'", "’"), ("’", "'")):
        if mark not in found and other in found:
            found[mark] = found[other]
    return found


def _strings(words: CorpusWords, *, at_end: bool) -> list[str]:
    """Ends (or beginnings) with letters or digits, beside others, that are mostly tokens."""
    edges = Counter(edge for entity in words.entities for edge in entity)
    split: Counter[str] = Counter()
    worth: Counter[str] = Counter()
    for word, cuts, n in _each(words):
        pieces = _between_marks(pieces_of(word, cuts))
        if len(pieces) > 1:
            own, beside = (pieces[-1], pieces[-2][-1:]) if at_end else (pieces[0], pieces[1][:1])
            has_both = any(map(str.isalpha, own)) and any(map(is_mark, own))
            if has_both and not is_mark(beside):
                start = word.rindex(own) if at_end else word.index(own) + len(own)
                split[own.lower()] += n
                worth[own.lower()] += _CARE_OF_ENTITIES * edges[Edge(word, start)]
    candidates = {text for text, n in split.items() if n >= _RARE}
    lengths = {len(text) for text in candidates}
    seen: Counter[str] = Counter()
    for word, cuts, n in _each(words):
        text = "".join(_between_marks(pieces_of(word, cuts))).lower()
        for length in lengths:
            part = text[-length:] if at_end else text[:length]
            if length < len(text) and part in candidates:
                seen[part] += n
    found = {
        text
        for text in candidates
        if _CARE * (split[text] + worth[text]) > seen[text] - split[text]
    }
    return sorted(found | {text.translate(_OTHER_APOSTROPHE) for text in found})


def _between_marks(pieces: list[str]) -> list[str]:
    """The tokens without those of marks at both ends."""
    kept = [i for i, piece in enumerate(pieces) if any(map(str.isalnum, piece))]
    return pieces[kept[0] : kept[-1] + 1] if kept else []


def _words(words: CorpusWords, rules: TokenizerRules, nlp: Language) -> list[str]:
    """Rules for words that the tokenizer splits otherwise than the corpus mostly does."""
    found = cuts_of(rules.make(nlp), words.splits)
    concerned: dict[str, list[str]] = {}
    for word, splits in words.splits.items():
        cuts, n = splits.most_common(1)[0]
        if n > max(_RARE, _CARE * splits[found[word]]):
            concerned.setdefault(" ".join(_core(word, cuts)), []).append(word)
    changed = cuts_of(replace(rules, words=list(concerned)).make(nlp), chain(*concerned.values()))
    gains = {
        text: sum(
            words.splits[word][changed[word]] - words.splits[word][found[word]] for word in of_text
        )
        for text, of_text in concerned.items()
    }
    best = sorted(gains, key=gains.__getitem__, reverse=True)[:_WORDS]
    return sorted(text for text in best if gains[text] > _RARE)


def _core(word: str, cuts: Cuts) -> list[str]:
    """The tokens without brackets and quotes around them."""
    pieces = pieces_of(word, cuts)
    while len(pieces) > 1 and len(pieces[0]) == 1 and is_mark(pieces[0]):
        pieces = pieces[1:]
    while len(pieces) > 1 and len(pieces[-1]) == 1 and is_mark(pieces[-1]):
        pieces = pieces[:-1]
    return pieces
