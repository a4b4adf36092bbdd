"""Copies of training Docs as people type them in haste: in lower case, or without accents."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unicodedata import normalize
from zlib import crc32

from spacy.attrs import ENT_IOB, ENT_TYPE, SENT_START, TAG
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..checks import configured
from ..errors import ConfigError

NAME = "spacy_cascade.plain_copies.v1"
_MARKS = re.compile("[\u0300-\u036f]")
"""Accents of letters; the marks of other scripts, as in Japanese, make other words."""
_KEPT = [TAG, SENT_START, ENT_IOB, ENT_TYPE]


@dataclass(frozen=True)
class PlainCopies:
    """An augmenter (see `make_plain_copies`)."""

    lower: float
    unaccented: float
    seed: int

    def __post_init__(self) -> None:
        for name in ("lower", "unaccented"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(
                    f"{NAME} has {name} = {getattr(self, name):g}. It is a share of the Docs, "
                    "from 0 to 1. Change it under [corpora.train.augmenter]."
                )

    def __call__(self, nlp: Language, example: Example) -> Iterator[Example]:
        """The example, and the copies that are drawn for it; none that would be the same."""
        yield example
        text = example.reference.text
        for change, share in ((str.lower, self.lower), (without_accents, self.unaccented)):
            # Drawn by the text, so that each pass over a corpus has the same copies.
            drawn = crc32(f"{self.seed} {change.__name__} {text}".encode()) / 2**32
            if drawn < share and change(text) != text:
                yield Example(_copy(example.predicted, change), _copy(example.reference, change))


@configured
def make_plain_copies(
    lower: float = 0.2, unaccented: float = 0.2, seed: int = 0
) -> Callable[[Language, Example], Iterator[Example]]:
    """Registered as `spacy_cascade.plain_copies.v1`: copies of Docs in plain spelling are added.

    lower: share of the Docs that get a copy in lower case. unaccented: of those with accents, share
    that get a copy without them. seed: of which these are. Copies have the annotation of their
    Docs. Raises `ConfigError` for what is no share.
    """
    return PlainCopies(lower, unaccented, seed)


def without_accents(text: str) -> str:
    """The text without the marks that can be taken off its letters."""
    return normalize("NFC", _MARKS.sub("", normalize("NFD", text))) or text


def _copy(doc: Doc, change: Callable[[str], str]) -> Doc:
    """A Doc of changed words, with tags, sentences, entities and span groups."""
    copy = Doc(
        doc.vocab,
        words=[change(token.text) for token in doc],
        spaces=None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc],
    )
    copy.from_array(_KEPT, doc.to_array(_KEPT))  # type: ignore[arg-type]
    for key, group in doc.spans.items():
        copy.spans[key] = [
            Span(copy, s.start, s.end, s.label, kb_id=s.kb_id, span_id=s.id) for s in group
        ]
    return copy
