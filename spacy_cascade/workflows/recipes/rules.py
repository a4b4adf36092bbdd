"""The rules of `spacy cascade init --train`: what is seen in a corpus, and what is chosen then.

This is the one place for them. Of the rules for a decision the first that holds counts. A decision
without a rule that holds is left as the recipe has it (`recipes.configs`). `p` is the profile of
the corpus (`recipes.profile.Profile`), in conditions and in reasons alike.
"""

from collections.abc import Callable
from typing import Any

from ...types import Json
from .deciding import Rule, Rules, Variant

PLACES = {
    "tokenizer": "nlp.tokenizer",
    "min_count": "components.*.model.min_count",
    "sigma": "components.*.penalty.sigma",
    "kappa": "components.*.loss.kappa",
    "templates": "components.*.model.templates",
    "iterations": "components.*.trainer.iterations",
    "max_steps": "training.max_steps",
    "patience": "training.patience",
    "decoding": "training.before_to_disk.decoding",
}
"""The settings of decisions; `*` stands for each component that has them.

A rule chooses one value for all components, or a table such as
`{"cascade_segmenter": 0.27, "cascade_classifier": 0.63}`.
"""

FEW_WORDS = 120_000

RULES = [
    # The language: by stop words.
    Rule(
        "lang",
        lambda p: p.language.code,
        "the text has its stop words",
        lambda p: p.language.is_sure,
    ),
    Rule("lang", "en", "assumed, because the words do not tell; --lang names another"),
    # The model.
    Rule("model", "memb", "the most accurate on most corpora"),
    # The tokenizer of texts in use; where the spacing is unknown, training takes the words as
    # the corpus has them.
    Rule(
        "tokenizer",
        {"@tokenizers": "spacy.Tokenizer.v1"},
        "the corpus has no hyphens inside of words to go by",
        lambda p: p.hyphens_split is None,
    ),
    Rule(
        "tokenizer",
        {"@tokenizers": "spacy.Tokenizer.v1"},
        "{p.hyphens_split:.0%} of the hyphens between letters or digits are tokens of their own",
        lambda p: p.hyphens_split is not None and p.hyphens_split >= 0.5,
    ),
    Rule(
        "tokenizer",
        {"@tokenizers": "spacy_cascade.WholeNamesTokenizer.v1"},
        "only {p.hyphens_split:.0%} of the hyphens between letters or digits are tokens of their "
        "own",
    ),
    # What components see as one sequence.
    Rule(
        "sentences",
        False,
        "components see whole documents, in training and in use; the corpus marks no sentences",
        lambda p: p.sentences is None,
    ),
    Rule(
        "sentences",
        False,
        "components see whole documents, in training and in use, because raw text has no sentence "
        "starts",
    ),
    # Features that are rare.
    Rule(
        "min_count",
        1,
        "{p.words:,} words are few, so features count that occur once",
        lambda p: p.words < FEW_WORDS,
        models=("memb", "ocr"),
    ),
]


def scaled(factor: float) -> Callable[[Any], Json]:
    """The present number times a factor."""
    return lambda number: float(f"{factor * number:.4g}")


def without(word: str) -> Callable[[Any], Json]:
    """The present template set without the templates that have a word."""

    def change(section: Any) -> Json:
        is_named = section.get("@misc") != "spacy_cascade.Templates.v1"
        return {**section, "without": [*section.get("without", ()), word]} if is_named else section

    return change


VARIANTS = [
    Variant(
        "features that occur once",
        {"min_count": 1},
        "they help where types are hard to tell apart",
        lambda p: p.words >= FEW_WORDS,
    ),
    Variant(
        "no same-document features",
        {"templates": without("recurrence")},
        "they mislead where documents are long or repeat little",
    ),
    Variant("a wider prior", {"sigma": scaled(2.0)}, "more weight for rare features"),
    Variant("half the margin", {"kappa": scaled(0.5)}, "less cost for wrong labels"),
    Variant("a narrower prior", {"sigma": scaled(0.5)}, "less weight for rare features"),
    Variant("twice the margin", {"kappa": scaled(2.0)}, "more cost for wrong labels"),
    Variant(
        "features that occur five times",
        {"min_count": 5},
        "fewer features overfit less",
        lambda p: p.words < FEW_WORDS,
    ),
]
"""What `--auto` tries after the choice of the rules, the most promising first."""

BY_CORPUS = Rules(RULES, PLACES, VARIANTS)
