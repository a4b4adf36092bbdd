"""The network as a config has it."""

from __future__ import annotations

from dataclasses import dataclass

from ...checks import configured
from ...errors import ConfigError
from ...features.space import FeatureSpace
from ...features.templates import Templates
from .scorer import WindowScorer
from .settings import FEATURES, Settings


@configured
@dataclass(frozen=True)
class WordWindow(Settings):
    """A network over the words around a unit; registered as `spacy_cascade.WordWindow.v1`.

    It is trained by itself when training begins, and its scores are added to those of the features.

    features: attributes of a word that it looks at, beside the clusters that templates look at;
    None for the word, with affixes and shapes. width: numbers that stand for a word. hidden: of the
    layer above. window: words on each side. vectors: whether it looks at the vectors of the
    pipeline; those of tables of words are always there. share: what its scores are multiplied with.
    epochs: passes over the corpus; over one of more than 100,000 words, or 16,000 spans, two thirds
    of them. seed: of its first weights, and of what is left out in training.

    Raises `ConfigError` for a setting out of range, and features that are none of a word alone.
    """

    def scorer(self, templates: Templates, are_spans: bool) -> WindowScorer:
        """The network of a model with these templates; it has the tables that they look at."""
        texts = " ".join(templates.templates)
        seen = (n for n in templates.words if _is_seen(n, texts))
        own = FEATURES if self.features is None else self.features
        every = (*own, *(f"cluster({name})" for name in seen))
        if every and not any("@" in each for each in own):
            space = FeatureSpace(Templates(every, {}, {}, {}, templates.words))
            if not space.plan.unit_templates:
                return WindowScorer(self, space, are_spans)
        raise ConfigError(
            "features of WordWindow must be attributes of a word alone, such as "
            f"{', '.join(FEATURES)}; they are {', '.join(own) or 'none'}. Change them in "
            "[model.network]."
        )


def _is_seen(table: str, templates: str) -> bool:
    return any(f"cluster({name}" in templates for name in (f"{table})", f"{table},", "*"))
