"""The rules of `spacy cascade init --train`: what is seen in a corpus, and what is chosen then.

This is the one place for them. Of the rules for a decision the first that holds counts. A decision
without a rule that holds is left as the recipe has it (`recipes.configs`). `p` is the profile of
the corpus (`recipes.profile.Profile`), in conditions and in reasons alike.
"""

from collections.abc import Callable
from typing import Any

from ...features.template_sets import (
    CLASSIFICATION_ABBREVIATIONS,
    SEGMENTATION_ABBREVIATIONS,
)
from ...types import Json
from .configs import NETWORK
from .deciding import Rule, Rules, Variant
from .profile import Profile

PLACES = {
    "tokenizer": "nlp.tokenizer",
    "min_count": "components.*.model.min_count",
    "sigma": "components.*.penalty.sigma",
    "kappa": "components.*.loss.kappa",
    "templates": "components.*.model.templates",
    "left out": "components.*.model.templates.without",
    "further templates": "components.*.model.templates.extra",
    "iterations": "components.*.trainer.iterations",
    "max_steps": "training.max_steps",
    "patience": "training.patience",
    "decoding": "training.before_to_disk.decoding",
}
"""The settings of decisions; `*` stands for each component that has them.

A rule chooses one value for all components, or a table such as
`{"cascade_segmenter": 0.27, "cascade_classifier": 0.63}`.
"""

MANY_WORDS = 300_000
FEW_DOCUMENTS = 20
MANY_INSIDE = 0.02
"""Share of spans inside another one."""
MANY_EXPLAINED = 2.0
"""Explained abbreviations of 1,000 words. Abstracts of biomedicine have four to seven, and gain;
news, web and contracts have less than one, and lose away from home."""
USUAL_WORDS = 200_000
LONG = 1.5
"""Documents of fewer sentences on average are sentences."""

_SIGMAS = {"cascade_segmenter": 0.2667, "cascade_classifier": 0.6325}
"""Found by search on a corpus of 445,000 words."""
_SEGMENTER, _CLASSIFIER = _SIGMAS
_LEVELS = "cascade_levels"


def widened(profile: Profile) -> dict[str, Json]:
    """Sigmas for a smaller corpus: they grow with the eighth root of what it lacks in words.

    The best width hardly depends on the size of a corpus, so this is a small correction.
    benchmarks/results/init.md has the measurements.
    """
    factor = max(1.0, USUAL_WORDS / max(1, profile.words)) ** (1 / 8)
    known = {**_SIGMAS, _LEVELS: _SIGMAS[_SEGMENTER]} if is_nested(profile) else _SIGMAS
    return {name: float(f"{factor * sigma:.4g}") for name, sigma in known.items()}


def is_nested(profile: Profile) -> bool:
    """Whether a flat model would lose many spans."""
    return profile.share_inside > MANY_INSIDE


RULES = [
    # The language: by its script or stop words.
    Rule("lang", choose=lambda p: p.language.code, because="{p.language.reason}"),
    # The model.
    Rule("model", choose="memb", because="the most accurate one on most corpora"),
    # Spans inside others.
    Rule(
        "nested",
        where=is_nested,
        choose=lambda p: p.nested and p.nested.key,
        because="{p.share_inside:.1%} of the spans in doc.spans['{value}'] are inside another one; "
        "the segmenter finds the innermost ones, and cascade_levels those around them",
        models=("memb",),
    ),
    # The tokenizer: by measurement. Where the spacing of a corpus is unknown, training takes the
    # words as they are there, and the tokenizer matters in use alone.
    Rule(
        "tokenizer",
        where=lambda p: len(p.tokenizers) > 0,
        choose=lambda p: p.tokenizers[0].tokenizer,
        because="the best of those measured: {p.tokenizers[0].misaligned:,} of "
        "{p.tokenizers[0].entities:,} entities do not begin and end where its tokens do, and its "
        "boundaries inside words agree with those of the corpus ({p.tokenizers[0].f:.1%})",
    ),
    Rule(
        "tokenizer",
        where=lambda p: p.hyphens_split is None,
        choose={"@tokenizers": "spacy.Tokenizer.v1"},
        because="the standard one, for the corpus has no hyphens between letters or digits",
    ),
    Rule(
        "tokenizer",
        where=lambda p: p.hyphens_split is not None and p.hyphens_split >= 0.5,
        choose={"@tokenizers": "spacy.Tokenizer.v1"},
        because="{p.hyphens_split:.0%} of the hyphens between letters or digits are tokens, and "
        "the standard one splits there, too",
    ),
    Rule(
        "tokenizer",
        choose={"@tokenizers": "spacy_cascade.WholeNamesTokenizer.v1"},
        because="only {p.hyphens_split:.0%} of the hyphens between letters or digits are tokens, "
        "and this one does not split there, either",
    ),
    # What components see as one sequence.
    Rule(
        "sentences",
        where=lambda p: p.sentences is None,
        choose=False,
        because="the corpus marks none, so a document is one sequence, in training and in use",
    ),
    Rule(
        "sentences",
        where=lambda p: (p.sentences_per_document or LONG) < LONG,
        choose=True,
        because="the documents have {p.sentences_per_document:.1f} sentences each, and longer text "
        "of two such corpora was annotated better, by 0.9 F1, where a sentencizer cut it",
    ),
    Rule(
        "sentences",
        choose=False,
        because="with a document as one sequence raw text of five corpora was annotated better, by "
        "0.3 to 1.4 F1, than with the sentences that a sentencizer finds in it",
    ),
    # Features that are rare.
    Rule(
        "min_count",
        where=lambda p: p.words < MANY_WORDS,
        choose=1,
        because="features that occur once gain on corpora below 300,000 words, and this one has "
        "{p.words:,}",
        models=("memb", "semi", "memm", "ocr"),
    ),
    # What recurs.
    Rule(
        "left out",
        where=lambda p: p.documents - p.empty < FEW_DOCUMENTS,
        choose={_SEGMENTER: ["recurrence", "seen_"], _CLASSIFIER: ["recurrence"]},
        because="{p.documents} documents are too few to learn from what recurs inside a document, "
        "or elsewhere in training",
        models=("memb", "semi", "memm", "ocr"),
    ),
    # Abbreviations.
    Rule(
        "further templates",
        where=lambda p: p.explained >= MANY_EXPLAINED,
        choose={
            _SEGMENTER: SEGMENTATION_ABBREVIATIONS,
            _CLASSIFIER: CLASSIFICATION_ABBREVIATIONS,
        },
        because="of 1,000 words, {p.explained:.1f} are abbreviations beside their long forms, "
        "which tell what they stand for",
        models=("memb", "semi", "memm", "ocr"),
    ),
    # The prior.
    Rule(
        "sigma",
        where=lambda p: p.words < USUAL_WORDS,
        choose=widened,
        because="the prior is a little wider for {p.words:,} words than for many",
        models=("memb", "semi", "memm"),
    ),
    # The end of training.
    Rule(
        "max_steps",
        choose=11,
        because="the score on dev ends the training (patience), which needs more updates on some "
        "corpora than on others",
        models=("memb", "semi", "memm"),
    ),
    # Which entities are written.
    Rule(
        "decoding",
        where=lambda p: p.dev is not None and not is_nested(p),
        choose="expected_f1",
        because="the spans of the greatest expected F1 are about as good or better on all corpora "
        "measured than the most probable segmentation (best)",
    ),
]


def scaled(factor: float) -> Callable[[Any], Json]:
    """The present number times a factor."""
    return lambda number: float(f"{factor * number:.4g}")


def with_more(word: str) -> Callable[[Any], Json]:
    """The present list with a further word."""
    return lambda words: words if word in (words or []) else [*(words or []), word]


def without(word: str) -> Callable[[Any], Json]:
    """The present template set without the templates that have a word."""

    def change(section: Any) -> Json:
        is_named = section.get("@misc") != "spacy_cascade.Templates.v1"
        return (
            {**section, "without": with_more(word)(section.get("without"))} if is_named else section
        )

    return change


def without_words(section: Any) -> Json:
    """The present template set without tables of words."""
    return {**section, "words": {}} if section.get("words") else section


def without_classifier(names: Any) -> Json:
    """The present pipeline without its second phase."""
    return [name for name in names if name != _CLASSIFIER]


def _one_phase(section: Any) -> Json:
    """The segmenter of a cascade as a recogniser of its own."""
    return {
        **section, "typed": True, "set_ents": True, "scheme": "IOB2",
        "penalty": {**section["penalty"], "sigma": 0.5},
    }  # fmt: skip


VARIANTS = [
    Variant(
        "a network of words",
        change={f"components.{name}.model.network": {"@misc": NETWORK} for name in _SIGMAS},
        because="words that the corpus lacks are known by what is like them",
        models=("memb", "crf"),
    ),
    Variant(
        "spans and types in one phase",
        where=lambda p: p.words < 60_000 and p.types <= 5 and not is_nested(p),
        change={"nlp.pipeline": without_classifier, f"components.{_SEGMENTER}": _one_phase},
        because="a chain decides on both at once, where few entities teach a classifier",
        models=("memb", "semi", "memm"),
    ),
    Variant(
        "the sentence's words as features of types",
        change={f"components.{_CLASSIFIER}.model.templates.extra": with_more("lower@sentence")},
        because="what a text is about can tell the types apart",
        models=("memb", "semi", "memm", "ocr"),
    ),
    Variant(
        "no tables of words",
        where=lambda p: len(p.covered) > 0,
        change={"templates": without_words},
        because="what others' texts say of words can mislead where theirs are different",
    ),
    Variant(
        "a wider prior",
        change={"sigma": scaled(1.6)},
        because="rare features get more weight",
    ),
    Variant(
        "no same-document features",
        where=lambda p: p.documents >= FEW_DOCUMENTS,
        change={"templates": without("recurrence")},
        because="they mislead where little recurs, or documents are long",
    ),
    Variant(
        "half the margin",
        change={"kappa": scaled(0.5)},
        because="wrong labels cost less in training",
    ),
    Variant(
        "features that occur once",
        where=lambda p: p.words >= MANY_WORDS,
        change={"min_count": 1},
        because="rare words can tell the types apart",
    ),
    Variant(
        "features that occur twice",
        where=lambda p: p.words < MANY_WORDS,
        change={"min_count": 2},
        because="fewer features fit the training corpus less closely",
    ),
    Variant(
        "a narrower prior",
        change={"sigma": scaled(0.6)},
        because="rare features get less weight",
    ),
    Variant(
        "twice the margin",
        change={"kappa": scaled(2.0)},
        because="wrong labels cost more in training",
    ),
]
"""What `--auto` tries after the choice of the rules, the most promising first."""

BY_CORPUS = Rules(RULES, PLACES, VARIANTS)
