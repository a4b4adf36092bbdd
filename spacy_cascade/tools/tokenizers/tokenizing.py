"""Texts to tokens, in time that grows with the length of a text and not with its square."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spacy.attrs import NORM
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

LONGEST_RUN = 2000
"""Characters without a blank that spaCy's tokenizer gets at once."""
MOST_SIGNS = 100
"""Characters in such a run that are neither letters nor digits."""
_SIGN = re.compile(r"[\W_]")
_FULL = re.compile(rf"(?:[^\W_]*[\W_]){{{MOST_SIGNS}}}|(?s:.*)[\W_]|(?s:.+)")
"""What is cut off a run that is too long: up to the last sign that fits, or else all that fits."""


def tokenize(nlp: Language, text: str) -> Doc:
    """A Doc with the tokens of a text, of any length.

    spaCy's tokenizer takes signs off the ends of a run without blanks one by one, and looks at the
    whole run each time: 8,000 brackets take seconds. So it gets a run of more than 2,000
    characters, or of more than 100 signs (neither letters nor digits), in parts; a part ends with a
    sign if it has one. All other texts have the tokens that `nlp.make_doc` gives, and all texts
    have if the tokenizer is of another class, as for Chinese and Japanese. `nlp.max_length` is not
    checked.
    """
    make, runs = nlp.tokenizer, text.split()
    may_be_long = isinstance(make, Tokenizer) and max(map(len, runs), default=0) > MOST_SIGNS
    if not (may_be_long and any(map(_is_long, runs))):
        return make(text)
    parts = [make(part) for part in _parts(text)]
    # The rest is empty. spaCy's types have no `exclude`.
    rest = ["spans", "tensor", "user_data"]
    return Doc.from_docs(parts, False, [NORM], exclude=rest)  # type: ignore[call-arg]


def _is_long(run: str) -> bool:
    return len(run) > MOST_SIGNS and (
        len(run) > LONGEST_RUN or sum(1 for _ in _SIGN.finditer(run)) > MOST_SIGNS
    )


def _parts(text: str) -> Iterator[str]:
    """The text, cut inside of long runs."""
    begin = 0
    for run in re.finditer(r"\S+", text):
        position, end = run.span()
        while _is_long(text[position : min(end, position + LONGEST_RUN + 1)]):
            match = _FULL.match(text, position, min(end, position + LONGEST_RUN))
            assert match is not None, "a run is not empty"
            position = match.end()
            yield text[begin:position]
            begin = position
    if begin < len(text):
        yield text[begin:]
