"""Who annotates the unlabelled Docs: the student itself, two views, or three committee members."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config

from ...errors import ConfigError, TrainingError
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.segmenter import CascadeSegmenter
from ...workflows.reconfigure import to_be_loaded
from .opinions import Opinion, agreed, averaged, opinions_of
from .product import become_product
from .pseudo_labels import Confidence, pseudo_label
from .teacher_views import with_views
from .views import View

Train = Callable[[Config, Sequence[Doc]], Language]
"""Trains the pipeline of a config on Docs."""
_COMMITTEE = 3


class Method(str, Enum):
    """How the teachers learn."""

    cotrain = "cotrain"
    self = "self"
    tri = "tri"


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
class Committee(Teachers):
    """Members that learn from each other.

    configs, labelled: of each member, its settings and labelled Docs. Each round, every member
    learns from its labelled Docs and from what all others were sure of in the last round. What the
    next student learns is the mean of what the members and the last student think.
    """

    train: Train
    configs: Sequence[Config]
    labelled: Sequence[Sequence[Doc]]
    sure: Confidence
    taught: list[list[Doc]] = field(default_factory=list)

    def opinions(self, student: Language, docs: Sequence[Doc]) -> list[Opinion]:
        taught = self.taught or [[] for _ in self.configs]
        members = [
            self.train(config, [*own, *further])
            for config, own, further in zip(self.configs, self.labelled, taught, strict=True)
        ]
        found = [opinions_of(member, docs) for member in members]
        self.taught = [
            [each.doc for each in pseudo_label(docs, agreed(found[:i] + found[i + 1 :]), self.sure)]
            for i in range(len(members))
        ]
        return averaged([*self.jointly(members, found, docs), opinions_of(student, docs)])

    def jointly(
        self, members: Sequence[Language], found: Sequence[list[Opinion]], docs: Sequence[Doc]
    ) -> Sequence[list[Opinion]]:
        """What the members think, each or all as one; found: what each of them thinks."""
        return found


@dataclass
class Views(Committee):
    """Co-training: what both views think is the product of their probabilities.

    The student sees more than both views do, words with their neighbours, so it has a say as well.

    product: the config of the product. finish: does to a pipeline what is done to one before it
    is saved.
    """

    product: Config = field(default_factory=Config)
    finish: Callable[[Language], Language] = lambda nlp: nlp

    def jointly(
        self, members: Sequence[Language], found: Sequence[list[Opinion]], docs: Sequence[Doc]
    ) -> Sequence[list[Opinion]]:
        self.alternative = self.finish(multiply(self.product, members))
        return [opinions_of(self.alternative, docs)]


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
    have to be multiplied, `TrainingError` where there are too few Docs for a committee.
    """
    if method is Method.self:
        return Student()
    if method is Method.tri:
        return Committee(train, [config] * _COMMITTEE, _without_each_third(labelled), sure)
    if config["training"].get("frozen_components"):
        raise ConfigError(
            "Co-training makes the pipeline anew for each view, and cannot freeze components: "
            f"{config['training']['frozen_components']}. Leave out frozen_components, or choose "
            "--method self."
        )
    views = [with_views(config, [view]) for view in View]
    return Views(
        train, views, [labelled] * len(views), sure, [], with_views(config, list(View)), finish
    )


def _without_each_third(docs: Sequence[Doc]) -> list[list[Doc]]:
    if len(docs) < _COMMITTEE:
        raise TrainingError(
            f"Tri-training leaves out a third of the labelled Docs for each member, and there are "
            f"only {len(docs)}. Cut them into more Docs, or choose --method self."
        )
    return [[doc for i, doc in enumerate(docs) if i % _COMMITTEE != k] for k in range(_COMMITTEE)]
