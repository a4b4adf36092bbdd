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
MANY_WORDS = 400_000

RULES = [
    # The language: by stop words.
    Rule(
        "lang",
        where=lambda p: p.language.is_sure,
        choose=lambda p: p.language.code,
        because="the text has the stop words of this language",
    ),
    Rule("lang", choose="en", because="assumed, for the words do not tell; --lang names another"),
    # The model.
    Rule("model", choose="memb", because="the most accurate one on most corpora"),
    # The tokenizer, which matters in use; where the spacing of a corpus is unknown, training
    # takes the words as they are there.
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
        choose=False,
        because="a document is one sequence in training, as in use, where raw text has no marks",
    ),
    # Features that are rare.
    Rule(
        "min_count",
        where=lambda p: p.words < FEW_WORDS,
        choose=1,
        because="{p.words:,} words are few, so features count that occur once",
        models=("memb", "ocr"),
    ),
    # Which entities are written.
    Rule(
        "decoding",
        where=lambda p: p.dev is not None and p.words < MANY_WORDS,
        choose="expected_f1",
        because="the spans of the greatest expected F1 are 0.3 to 1.3 F1 better on most corpora "
        "than the most probable segmentation (best)",
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
        where=lambda p: p.words >= FEW_WORDS,
        change={"min_count": 1},
        because="rare words can tell the types apart",
    ),
    Variant(
        "no same-document features",
        change={"templates": without("recurrence")},
        because="they mislead where little recurs, or documents are long",
    ),
    Variant(
        "a wider prior",
        change={"sigma": scaled(2.0)},
        because="rare features get more weight",
    ),
    Variant(
        "half the margin",
        change={"kappa": scaled(0.5)},
        because="wrong labels cost less in training",
    ),
    Variant(
        "a narrower prior",
        change={"sigma": scaled(0.5)},
        because="rare features get less weight",
    ),
    Variant(
        "twice the margin",
        change={"kappa": scaled(2.0)},
        because="wrong labels cost more in training",
    ),
    Variant(
        "features that occur five times",
        where=lambda p: p.words < FEW_WORDS,
        change={"min_count": 5},
        because="fewer features fit the training corpus less closely",
    ),
]
"""What `--auto` tries after the choice of the rules, the most promising first."""

BY_CORPUS = Rules(RULES, PLACES, VARIANTS)
