"""A tokenizer whose rules stand in the config, so that they can follow the tokens of a corpus."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from spacy.attrs import ORTH
from spacy.lang.char_classes import ALPHA_LOWER, ALPHA_UPPER
from spacy.language import Language
from spacy.tokenizer import Tokenizer

from ...checks import configured
from ...errors import ConfigError
from ...pipeline.tokenizers import MARK
from ...types import Texts

NAME = "spacy_cascade.RuleTokenizer.v1"
_DOLLAR = "U+0024"
_NONE: list[str] = []
"""A list and no tuple, so that a config with this default is the same after it was saved."""
CLASSES: Mapping[str, str] = {
    "x": f"[{ALPHA_LOWER}]",
    "X": f"[{ALPHA_UPPER}]",
    "d": "[0-9]",
    "I": rf"(?<![^\W_])[{ALPHA_UPPER}]",
    "p": f"(?:{MARK})",
}
"""What stands in rules for the character beside a mark: a letter of lower case, a capital, a
digit, a capital that no letter or digit stands before, another mark."""


@dataclass(frozen=True)
class TokenizerRules:
    """Where a word, which is what stands between spaces, is split.

    At its beginning and end each mark is a token, but for those of keep_before and keep_after.
    Inside it only those of split_inside are. A rule is a mark, also with the class of the character
    beside it: `.` or `X.` in keep_after, `-d` in keep_before, `x-x` in split_inside (`CLASSES`).

    runs: tokens of several marks. prefixes, suffixes: other beginnings and ends that are tokens,
    such as `n't`, in lower case. words: how whole words are split, the tokens separated by spaces;
    a word without spaces stays whole. whole_addresses: whether web addresses are one token.
    exceptions: whether the exceptions of the language hold, such as its abbreviations.
    """

    keep_before: Sequence[str] = ()
    keep_after: Sequence[str] = ()
    split_inside: Sequence[str] = ()
    runs: Sequence[str] = ()
    prefixes: Sequence[str] = ()
    suffixes: Sequence[str] = ()
    words: Sequence[str] = ()
    whole_addresses: bool = True
    exceptions: bool = True

    def section(self) -> dict[str, Any]:
        """The section `[nlp.tokenizer]` of a config; options at their defaults are left out."""
        found: dict[str, Any] = {"@tokenizers": NAME}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool):
                found.update({} if value else {field.name: value})
            elif value:
                found[field.name] = [text.replace("$", _DOLLAR) for text in value]
        return found

    def make(self, nlp: Language) -> Tokenizer:
        """The tokenizer, for a pipeline. Raises `ConfigError` for a rule that is none."""
        before, after, inside = self._patterns()
        rules = dict(nlp.Defaults.tokenizer_exceptions) if self.exceptions else {}
        for pieces in map(str.split, self.words):
            rules["".join(pieces)] = [{ORTH: piece} for piece in pieces]
        return Tokenizer(
            nlp.vocab,
            rules=rules,
            prefix_search=before.search,
            suffix_search=after.search,
            infix_finditer=inside.finditer,
            url_match=nlp.Defaults.url_match if self.whole_addresses else None,
        )

    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
        runs = [re.escape(run) for run in sorted(self.runs, key=len, reverse=True)]
        kept = _alternatives(_rule(rule, "keep_before", before=False) for rule in self.keep_before)
        texts = [*_texts(self.prefixes, r"(?=\w)"), rf"(?!{kept})(?:{MARK})"]
        before = re.compile("^(?:" + "|".join([*runs, *texts]) + ")")
        kept = _alternatives(_rule(rule, "keep_after", after=False) for rule in self.keep_after)
        texts = [rf"(?<=\w){text}" for text in _texts(self.suffixes, "")]
        after = re.compile("(?:" + "|".join([*runs, *texts, rf"(?!{kept})(?:{MARK})"]) + ")$")
        inside = [_rule(rule, "split_inside") for rule in self.split_inside]
        runs_inside = [rf"(?<=\w){run}(?=\w)" for run in runs]
        return before, after, re.compile(_alternatives([*runs_inside, *inside]))


def _alternatives(patterns: Iterable[str]) -> str:
    """A pattern for any of these; for none, one that nothing matches."""
    return "(?:" + ("|".join(patterns) or r"(?!)") + ")"


def _texts(texts: Iterable[str], around: str) -> list[str]:
    longest_first = sorted(texts, key=len, reverse=True)
    return [f"(?i:{re.escape(text)}){around}" for text in longest_first]


def _rule(rule: str, where: str, *, before: bool = True, after: bool = True) -> str:
    """The pattern of a mark and the classes beside it, which it looks at without taking them."""
    left, right = "", ""
    mark = rule
    if before and len(mark) > 1 and mark[0] in CLASSES:
        left, mark = f"(?<={CLASSES[mark[0]]})", mark[1:]
    if after and len(mark) > 1 and mark[-1] in CLASSES:
        right, mark = f"(?={CLASSES[mark[-1]]})", mark[:-1]
    if not re.fullmatch(MARK, mark):
        raise ConfigError(
            f"'{rule}' under {where} in [nlp.tokenizer] is no rule. Write a mark, such as - or /, "
            f"also with one of the classes {', '.join(CLASSES)} beside it, such as x-x."
        )
    return f"{left}{re.escape(mark)}{right}"


@configured
def make_rule_tokenizer(
    keep_before: Texts = _NONE,
    keep_after: Texts = _NONE,
    split_inside: Texts = _NONE,
    runs: Texts = _NONE,
    prefixes: Texts = _NONE,
    suffixes: Texts = _NONE,
    words: Texts = _NONE,
    whole_addresses: bool = True,
    exceptions: bool = True,
) -> Callable[[Language], Tokenizer]:
    """Registered as `spacy_cascade.RuleTokenizer.v1`; the options are those of `TokenizerRules`.

    `U+0024` in a string stands for the dollar sign, which has another meaning in configs.
    """
    return TokenizerRules(
        keep_before=_decoded(keep_before),
        keep_after=_decoded(keep_after),
        split_inside=_decoded(split_inside),
        runs=_decoded(runs),
        prefixes=_decoded(prefixes),
        suffixes=_decoded(suffixes),
        words=_decoded(words),
        whole_addresses=whole_addresses,
        exceptions=exceptions,
    ).make


def _decoded(texts: Sequence[str]) -> list[str]:
    return [text.replace(_DOLLAR, "$") for text in texts]
