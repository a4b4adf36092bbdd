"""What a training config is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class Recipe(str, Enum):
    """How the entities are found and typed."""

    memb = "memb"
    semi = "semi"
    memm = "memm"
    ocr = "ocr"
    crf = "crf"


class Domain(str, Enum):
    """Kind of text, which says how it is cut into tokens."""

    biomedical = "biomedical"
    general = "general"


@dataclass(frozen=True)
class Choices:
    """The choices behind a training config; the defaults are those for an unknown corpus.

    lang: spaCy's code of the language. domain: which tokenizer. tags: whether parts of speech are
    looked at. sentences: whether components see the sentence starts of the corpus. small: whether
    the corpus has a few hundred sentences. labels: the types; those of the corpus where there are
    none. train, dev: corpora. clusters: files of word clusters by name.
    vectors: a pipeline, or another folder or package, whose word vectors are looked at.
    """

    lang: str = "en"
    recipe: Recipe = Recipe.memb
    domain: Domain = Domain.biomedical
    tags: bool = False
    sentences: bool = False
    small: bool = False
    labels: tuple[str, ...] = ()
    train: Path | None = None
    dev: Path | None = None
    clusters: Mapping[str, str] = field(default_factory=dict)
    vectors: str | None = None
