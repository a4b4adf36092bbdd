"""What tells the members of an ensemble apart: random subsets of feature classes and of Docs.

Each line of a template set is one class of features (`features.templates`). A named set leaves out
lines by their text (`without`), so a line goes together with those that contain it. Docs are drawn
without replacement: a Doc that stood twice in a corpus would see its own entities as those of
another one (`seen_inside`). Half of a corpus without replacement stands for a whole bootstrap
sample (Friedman and Hall 2007, On Bagging and Nonlinear Estimation, section 4.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Config

from ...errors import ConfigError

_ALWAYS = "bias"
_OURS, _WRITTEN_OUT = "spacy_cascade.", "spacy_cascade.Templates.v1"


@dataclass(frozen=True)
class Drawing:
    """How the members of an ensemble are drawn.

    features, data: shares of the classes of features and of the Docs that each member has, above 0
    and up to 1. seed: of all random numbers.
    """

    features: float = 1.0
    data: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("features", "data"):
            share = getattr(self, name)
            if not 0 < share <= 1:
                raise ConfigError(
                    f"A member takes a share of the {name} above 0 and up to 1, not {share:g}. "
                    f"Change --{name}."
                )

    def config(self, config: Config, number: int) -> Config:
        """The config of a member: a copy with some of the templates, and a seed of its own."""
        generator = np.random.default_rng([self.seed, number])
        changed = config.copy()
        if "seed" in changed.get("system", {}):
            changed["system"]["seed"] = self.seed + number
        filled = changed.interpolate()
        for name in filled["nlp"]["pipeline"] if self.features < 1 else ():
            model = filled["components"][name].get("model") or {}
            if "templates" in model:
                drawn = self._some_of(model["templates"], generator)
                changed["components"][name]["model"]["templates"] = drawn
        return changed

    def docs(self, docs: Sequence[Doc], number: int) -> list[Doc]:
        """The Docs of a member, in their order, with every label of the corpus."""
        generator = np.random.default_rng([self.seed, number, 1])
        n = max(1, round(self.data * len(docs)))
        order = generator.permutation(len(docs)).tolist()
        chosen, known = set(order[:n]), set[str]()
        for i in order:
            labels = {entity.label_ for entity in docs[i].ents}
            if i in chosen or not labels <= known:
                chosen.add(i)
                known |= labels
        return [doc for i, doc in enumerate(docs) if i in chosen]

    def _some_of(self, section: dict[str, Any], generator: np.random.Generator) -> dict[str, Any]:
        """A template set without some of its lines, and those that contain them."""
        name, without = section["@misc"], list(section.get("without", ()))
        if name == _WRITTEN_OUT:
            given = {"templates": list(section["templates"])}
        elif name.startswith(_OURS):
            own = registry.resolve({"set": {"@misc": name, "without": without}})["set"]
            given = {"without": list(own.templates), "extra": list(section.get("extra", ()))}
        else:
            raise ConfigError(
                f"No classes of features can be drawn from the template set {name}. Write its "
                f"templates out with {_WRITTEN_OUT}, or set --features 1."
            )
        lines = [line for part in given.values() for line in part if line != _ALWAYS]
        n_dropped = len(lines) - max(1, round(self.features * len(lines)))
        dropped = set[str]()
        for i in generator.permutation(len(lines)).tolist():
            inside = {line for line in lines if lines[i] in line} - dropped
            if len(dropped) + len(inside) <= n_dropped:
                dropped |= inside
        kept = {name: [t for t in part if t not in dropped] for name, part in given.items()}
        if "without" in kept:
            kept["without"] = [*without, *(t for t in given["without"] if t in dropped)]
        return {**section, **kept}
