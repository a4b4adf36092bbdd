"""Rules that are fitted to words, each of them by hand-worked words that need it."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import Any

import pytest

from helpers import blank
from spacy_cascade.tools.tokenizers.corpus_words import CorpusWords, Edge
from spacy_cascade.tools.tokenizers.fitting import fit_rules

NLP = blank()
NOT = {"suffixes": ["n't", "n’t"]}


def corpus(words: dict[str, int], *entities: tuple[Edge, Edge]) -> CorpusWords:
    """Words with `|` between their tokens, and how often they occur."""
    splits: dict[str, Counter[tuple[int, ...]]] = {}
    for word, n in words.items():
        pieces = word.split("|")
        cuts = tuple(accumulate(map(len, pieces)))[:-1]
        splits.setdefault("".join(pieces), Counter())[cuts] += n
    return CorpusWords(splits, list(entities))


def fitted(words: CorpusWords) -> dict[str, Any]:
    """The rules other than the defaults."""
    found = fit_rules(words, NLP).section()
    assert found.pop("@tokenizers") == "spacy_cascade.RuleTokenizer.v1"
    return found


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ({"(|ab|)|,": 3, "a-b": 3, "ab": 9}, {}),
        # A class beside a mark is told where others beside it have another rule.
        ({"-5": 3, "-|a": 3}, {"keep_before": ["-d"]}),
        ({"#5": 3, "#a": 3, "#": 3}, {"keep_before": ["#"]}),
        ({"J.": 3, "JJ|.": 3, "a|.": 3}, {"keep_after": ["I."]}),
        ({"A-B.": 2, "AB|.": 2}, {"keep_after": ["I."]}),
        ({"5+": 3, "a+": 3}, {"keep_after": ["+"]}),
        ({"a|.": 3, "b+.": 3}, {"keep_after": ["+", "p."]}),
        ({"IL|-|12": 3, "a-b": 3}, {"split_inside": ["X-d"]}),
        ({"J|.|Lee": 3, "JK.Lee": 3}, {"split_inside": ["I.X"]}),
        ({"ab|/|cd": 3, "1|/|2": 3}, {"split_inside": ["/"]}),
        # A mark is kept where it is seen twice, and is split at most half as often.
        ({"a+": 1}, {}),
        ({"a+": 2}, {"keep_after": ["+"]}),
        ({"a+": 4, "b|+": 2}, {"keep_after": ["+"]}),
        ({"a+": 5, "b|+": 3}, {"words": ["a+"]}),
        ({"a|/|b": 2, "c/d": 4}, {}),
        ({"a|/|b": 2, "c/d": 3}, {"split_inside": ["/"], "words": ["c/d"]}),
        # An apostrophe of the one kind stands for the other.
        ({"a|'|b": 3}, {"split_inside": ["'", "’"]}),
        ({"a|’|b": 3}, {"split_inside": ["'", "’"]}),
        ({"a|'|b": 3, "a’b": 3}, {"split_inside": ["'"]}),
        # Several marks are one token more often than not; they say nothing of each of them.
        ({"a|...": 1, "...|a": 1}, {"runs": ["..."]}),
        ({"...|a": 1}, {}),
        ({"a|...": 3, "b...c...": 2}, {"keep_after": ["."], "words": ["a ..."]}),
        ({"a|...": 3, "b|.|.|.": 2}, {"runs": ["..."]}),
        ({"a|...": 2, "b|.|.|.": 2}, {}),
        # Addresses are whole unless most are not.
        ({"http://a.b": 1, "www|.|c|.|d": 1}, {}),
        ({"http://a.b": 1, "www|.|c|.|d": 2}, {"whole_addresses": False}),
    ],
)
def test_marks(words: dict[str, int], rules: dict[str, Any]) -> None:
    assert fitted(corpus(words)) == rules


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ({"is|n't": 1, "IS|N'T": 1}, NOT),
        ({"is|n't": 1}, {}),
        ({"b-a|'s": 2}, {"suffixes": ["'s", "’s"]}),
        ({"l'|eau": 1, "L'|a-b": 1}, {"prefixes": ["l'", "l’"]}),
        ({"(|do|es|n't|)|.": 2}, NOT),
        ({"d'|l'|eau": 2, "l'|eau": 2}, {"prefixes": ["d'", "d’", "l'", "l’"]}),
        # Words that end so, and are not split, speak against it; the string alone does not.
        ({"is|n't": 2, "wasn't": 3}, {**NOT, "words": ["wasn't"]}),
        ({"is|n't": 2, "wasn't": 4}, {}),
        ({"is|n't": 2, "n't": 9}, NOT),
        ({"l'|eau": 2, "l'air": 4}, {}),
        # Neither letters alone, nor marks with digits, nor what another mark stands before.
        ({"ab|cd": 2, "a|-5": 2}, {}),
        ({"is|-|n't": 2}, {"split_inside": ["-"]}),
    ],
)
def test_strings(words: dict[str, int], rules: dict[str, Any]) -> None:
    assert fitted(corpus(words)) == rules


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ({"ab|cd": 2}, {}),
        ({"ab|cd": 3}, {"words": ["ab cd"]}),
        ({"ab|cd": 3, "abcd": 1}, {}),
        ({"ab|cd": 6, "abcd": 3}, {}),
        ({"ab|cd": 7, "abcd": 3}, {"words": ["ab cd"]}),
        ({"(|ab|cd|)": 3, "w|xy|z": 3}, {"words": ["ab cd", "w xy z"]}),
        ({"(|ab|cd": 3, "ab|cd|)": 3, "ab|-5": 3}, {"words": ["ab -5", "ab cd"]}),
        ({"is|n't": 4, "ain't|)": 3, "(|ain't": 3}, {**NOT, "words": ["ain't"]}),
        ({"a|..": 10, ".|.": 3}, {"runs": [".."]}),
    ],
)
def test_words_with_rules_of_their_own(words: dict[str, int], rules: dict[str, Any]) -> None:
    """They have no brackets around them, and more than two of the words get their tokens so."""
    assert fitted(corpus(words)) == rules


@pytest.mark.parametrize(
    ("word", "place", "others", "rules", "rules_of_more"),
    [
        ("a|-|z", 1, "{}-z", {"split_inside": ["-"]}, {}),
        ("a|-|z", 2, "{}-z", {"split_inside": ["-"]}, {}),
        ("#|z", 1, "#{}", {}, {"keep_before": ["#"]}),
        ("z|+", 1, "{}+", {}, {"keep_after": ["+"]}),
        ("z|n't", 1, "{}n't", NOT, {}),
        ("l'|z", 2, "l'{}", {"prefixes": ["l'", "l’"]}, {}),
    ],
)
def test_an_entity_outweighs_four_tokens_too_many(
    word: str, place: int, others: str, rules: dict[str, Any], rules_of_more: dict[str, Any]
) -> None:
    """Two words split and the end of an entity there: twice six votes, against the others."""
    entity = Edge(word.replace("|", ""), place), Edge("q", 1)
    for n, expected in ((11, rules), (12, rules_of_more)):
        words = {others.format(letter): 1 for letter in "bcdefghijklm"[:n]}
        assert fitted(corpus({word: 2, **words}, entity)) == expected


def test_an_entity_that_a_mark_stays_with_does_not_split_it_off() -> None:
    assert fitted(corpus({"a|-5": 2}, (Edge("a-5", 0), Edge("a-5", 1)))) == {}


def test_the_most_frequent_words_have_rules_of_their_own() -> None:
    """No more than 300 of them."""
    found = fitted(corpus({**{f"a{i}b|c": 3 for i in range(305)}, "Ay|x": 4}))["words"]
    assert (len(found), found[0]) == (300, "Ay x")
    assert found == sorted(found)


def test_no_words_need_no_rules() -> None:
    assert fitted(corpus({})) == {}
    assert not fit_rules(corpus({}), NLP, exceptions=False).exceptions
