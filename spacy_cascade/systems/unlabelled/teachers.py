"""Who annotates the unlabelled Docs: the student itself, or two views."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config

from ...errors import ConfigError
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.segmenter import CascadeSegmenter
from ...workflows.reconfigure import to_be_loaded
from .opinions import Opinion, averaged, opinions_of
from .product import become_product
from .pseudo_labels import Confidence, pseudo_label
from .views import View

_REGISTERED = "spacy_cascade.View.v1"
_CLASSIFIER = "cascade_classifier"
_SEGMENTS = "segments"
_SECTIONS = ("templates", _SEGMENTS)
"""Of a model: what it looks at in tokens or spans, and in segments where it scores such."""

Train = Callable[[Config, Sequence[Doc]], Language]
"""Trains the pipeline of a config on Docs."""


class Method(str, Enum):
    """How the teachers learn."""

    cotrain = "cotrain"
    self = "self"


class Teachers(ABC):
    """Pipelines that say what they think of unlabelled Docs.

    alternative: another pipeline that the last round gave, besides the student.
    """

    alternative: Language | None = None

    @abstractmethod
    def opinions(self, student: Language, docs: Sequence[Doc]) -> list[Opinion]:
        """What they think in the next round; student: of the last round."""


class Student(Teachers):
    """Self-training: the student of the last round is the teacher of the next one."""

    def opinions(self, student: Language, docs: Sequence[Doc]) -> list[Opinion]:
        return opinions_of(student, docs)


@dataclass
class Views(Teachers):
    """Co-training: two views teach each other, and the student.

    Each round, each view learns from the labelled Docs and from what the other one was sure of in
    the last round. What both think is the product of their probabilities. The student sees more
    than both do, words with their neighbours, so it has a say as well: what the next student learns
    is the mean of what the product and the last student think.

    configs: of each view. labelled: Docs. product: the config of the product. finish: does to a
    pipeline what is done to one before it is saved.
    """

    train: Train
    configs: Sequence[Config]
    labelled: Sequence[Doc]
    sure: Confidence
    product: Config
    finish: Callable[[Language], Language]
    _taught: Sequence[Sequence[Doc]] = ((), ())

    def opinions(self, student: Language, docs: Sequence[Doc]) -> list[Opinion]:
        views = [
            self.train(config, [*self.labelled, *further])
            for config, further in zip(self.configs, self._taught, strict=True)
        ]
        first, second = (opinions_of(view, docs) for view in views)
        self._taught = [
            [each.doc for each in pseudo_label(docs, of_other, self.sure)]
            for of_other in (second, first)
        ]
        self.alternative = self.finish(multiply(self.product, views))
        return averaged([opinions_of(self.alternative, docs), opinions_of(student, docs)])


def multiply(config: Config, members: Sequence[Language]) -> Language:
    """The pipeline of a config whose components are the products of those of trained pipelines.

    Other components are those of the first pipeline.
    """
    nlp = to_be_loaded(config, members[0].vocab)
    for name, pipe in nlp.pipeline:
        factors: list[Any] = [member.get_pipe(name) for member in members]
        if isinstance(pipe, CascadeSegmenter | CascadeClassifier):
            become_product(pipe, factors)
        elif hasattr(pipe, "from_bytes"):
            pipe.from_bytes(factors[0].to_bytes())
    return nlp


def teachers_for(
    method: Method,
    config: Config,
    labelled: Sequence[Doc],
    train: Train,
    sure: Confidence,
    finish: Callable[[Language], Language],
) -> Teachers:
    """The teachers of a method. config: complete and without variables.

    Raises `ConfigError` where the templates give no two views, or what is not of a cascade would
    have to be multiplied.
    """
    if method is Method.self:
        return Student()
    if config["training"].get("frozen_components"):
        raise ConfigError(
            "Co-training makes the pipeline anew for each view, and cannot freeze components: "
            f"{config['training']['frozen_components']}. Leave out frozen_components, or choose "
            "--method self."
        )
    views = [with_views(config, [view]) for view in View]
    return Views(train, views, labelled, sure, with_views(config, list(View)), finish)


def with_views(config: Config, views: Collection[View]) -> Config:
    """A copy of a training config whose components look at these views only.

    config: complete and without variables.
    """
    changed = config.copy()
    for name in changed["nlp"]["pipeline"]:
        component = changed["components"][name]
        model = component.get("model") or {}
        for section in set(_SECTIONS).intersection(model):
            model[section] = {
                "@misc": _REGISTERED,
                "of": model[section],
                "views": [view.value for view in views],
                "of_spans": section == _SEGMENTS or component["factory"] == _CLASSIFIER,
            }
    return changed
