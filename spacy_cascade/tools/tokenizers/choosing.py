"""Which tokenizer fits a corpus: measured on its tokens and on the entities that it can express."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import registry

from ...pipeline.scripts import CHARACTERS, WITHOUT_SPACES
from .corpus_words import CorpusWords, cuts_of, read_words
from .fitting import fit_rules

Section = dict[str, Any]

CANDIDATES: tuple[Section, ...] = (
    {"@tokenizers": "spacy.Tokenizer.v1"},
    {"@tokenizers": "spacy_cascade.WholeNamesTokenizer.v1"},
    {"@tokenizers": "spacy_cascade.PunctuationTokenizer.v1"},
    {"@tokenizers": "spacy_cascade.SpaceTokenizer.v1"},
    {"@tokenizers": CHARACTERS},
)
"""Those without options; that of the language, and rules that are fitted to the corpus, too."""
_WORDS_LOOKED_AT = 50_000
_WORTH_OF_TOKENS = 0.05
"""What agreement with all tokens of the corpus is worth, in entities that can be found."""


@dataclass(frozen=True)
class TokenizerMeasure:
    """How a tokenizer agrees with a corpus.

    tokenizer: its section of the config, `[nlp.tokenizer]`. entities: number of entities looked
    at. misaligned: those that do not begin and end where tokens do, and so can be neither learnt
    nor found. precision, recall: of the token boundaries inside words, against those of the corpus'
    tokens. seconds: that it took.
    """

    tokenizer: Section
    entities: int
    misaligned: int
    precision: float
    recall: float
    seconds: float

    @property
    def name(self) -> str:
        """The registered name."""
        return str(self.tokenizer["@tokenizers"])

    @property
    def aligned(self) -> float:
        """The share of the entities that can be learnt and found, from 0 to 1."""
        return 1 - self.misaligned / self.entities if self.entities else 1.0

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def score(self) -> float:
        """What tokenizers are ranked by: the share of the entities, and a little of f."""
        return self.aligned + _WORTH_OF_TOKENS * self.f


def best_tokenizer(
    docs: Sequence[Doc], lang: str, *, limit: int = _WORDS_LOOKED_AT
) -> list[TokenizerMeasure]:
    """Measure the candidates on gold Docs, the best one first.

    docs: with entities; those whose spaces are unknown are left out. lang: spaCy's code. limit:
    about how many tokens are looked at, in Docs from all over the corpus. The rules of
    `RuleTokenizer` are fitted to every other Doc and measured on the rest; those returned
    are fitted to all. Nothing is returned where no Doc has known spaces.
    """
    chosen = _spread(docs, limit)
    if not chosen:
        return []
    nlp = spacy.blank(lang)
    halves = read_words(chosen[::2]), read_words(chosen[1::2])
    words = halves[0] + halves[1]
    own = dict(nlp.config["nlp"]["tokenizer"])
    known = candidates(words.splits)
    sections = known if own in known else [own, *known]
    measures = [measure(section, words, nlp) for section in sections]
    measures.extend(
        _measure_fitted(*halves, words, nlp, exceptions) for exceptions in (True, False)
    )
    return sorted(measures, key=lambda found: -found.score)


def candidates(texts: Iterable[str]) -> list[Section]:
    """Those that may split texts in different ways."""
    has_scripts = any(map(WITHOUT_SPACES.search, texts))
    return [one for one in CANDIDATES if has_scripts or one["@tokenizers"] != CHARACTERS]


def measure(section: Section, words: CorpusWords, nlp: Language) -> TokenizerMeasure:
    """Measure one tokenizer, given by its section of the config, on words of a corpus."""
    tokenizer = make_tokenizer(section, nlp)
    start = time.perf_counter()
    found = {word: set(cuts) for word, cuts in cuts_of(tokenizer, words.splits).items()}
    seconds = time.perf_counter() - start
    both = of_corpus = of_tokenizer = 0
    for word, splits in words.splits.items():
        for cuts, n in splits.items():
            both += n * len(found[word].intersection(cuts))
            of_corpus += n * len(cuts)
            of_tokenizer += n * len(found[word])
    misaligned = sum(
        not (edge.place in found[edge.word] or edge.place in (0, len(edge.word)))
        or not (last.place in found[last.word] or last.place in (0, len(last.word)))
        for edge, last in words.entities
    )
    precision = both / of_tokenizer if of_tokenizer else 1.0
    recall = both / of_corpus if of_corpus else 1.0
    return TokenizerMeasure(section, len(words.entities), misaligned, precision, recall, seconds)


def make_tokenizer(section: Mapping[str, Any], nlp: Language) -> Tokenizer:
    """The tokenizer of a section of a config."""
    return registry.resolve({"tokenizer": dict(section)})["tokenizer"](nlp)


def measure_tokenizer(
    section: Section, docs: Sequence[Doc], nlp: Language, *, limit: int = _WORDS_LOOKED_AT
) -> TokenizerMeasure:
    """Measure one tokenizer on Docs of which some have known spaces, as `best_tokenizer` does."""
    return measure(section, read_words(_spread(docs, limit)), nlp)


def _spread(docs: Sequence[Doc], limit: int) -> Sequence[Doc]:
    """Docs with known spaces and about so many tokens, from all over the corpus."""
    docs = [doc for doc in docs if not doc.has_unknown_spaces and len(doc)]
    total = sum(map(len, docs))
    step = max(1, total // max(1, limit))
    return docs[::step]


def _measure_fitted(
    half: CorpusWords, rest: CorpusWords, words: CorpusWords, nlp: Language, exceptions: bool
) -> TokenizerMeasure:
    """Rules that are fitted to all words, with the measure of those that are fitted to half."""
    trial = fit_rules(half, nlp, exceptions).section()
    found = measure(trial, rest if rest.splits else half, nlp)
    final = fit_rules(words, nlp, exceptions).section()
    # Counted on all entities, so that the numbers of candidates can be compared.
    n = len(words.entities)
    misaligned = round((1 - found.aligned) * n)
    return replace(found, tokenizer=final, entities=n, misaligned=misaligned)
