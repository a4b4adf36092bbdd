"""Factories of components, whose arguments are what a class of components states: its settings."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from inspect import Parameter, Signature
from typing import Any, TypeVar

from spacy.language import Language
from thinc.api import Model

from ..checks import check_types
from ..errors import ConfigError
from ..features.units import Units
from ..losses.base import Loss
from ..losses.margin import Hinge
from ..penalties.base import Penalty
from ..trainers.base import Trainer
from ..types import Floats2d
from .sending import send_batches
from .settings import settings_of

Made = TypeVar("Made")

_BLOCKS: Mapping[str, Any] = {
    "model": Model[Units, Floats2d],
    "loss": Loss | Hinge,
    "penalty": Penalty | None,
    "trainer": Trainer,
    "scorer": Callable[..., dict[str, Any]] | None,
}
"""What the blocks of a component's section in a config make."""


def component_factory(
    name: str, kind: Callable[..., Made], blocks: Mapping[str, Any], **meta: Any
) -> Callable[..., Made]:
    """Register a factory with spaCy; its arguments are the blocks and settings of a class.

    From then on processes of a pipeline send batches (`pipeline.sending`).

    kind: called with `nlp`, `name`, the blocks and all `settings` by name. blocks: the default of
    each block of `_BLOCKS` that it has. meta: what `Language.factory` takes besides.
    """
    settings = settings_of(kind)
    types: dict[str, Any] = {"nlp": Language, "name": str}
    types |= {block: _BLOCKS[block] for block in blocks}
    types |= {key: setting.kind for key, setting in settings.items()}
    parameters = [
        Parameter(key, Parameter.POSITIONAL_OR_KEYWORD, annotation=each)
        for key, each in types.items()
    ]
    signature = Signature(parameters, return_annotation=kind)

    def make(*args: Any, **kwargs: Any) -> Made:
        given = signature.bind(*args, **kwargs).arguments
        check_types(given["name"], _BLOCKS, given)  # settings are checked where they are set
        if "model" in given and "space" not in given["model"].attrs:
            raise ConfigError(
                f"The model of '{given['name']}' is none of spacy_cascade. Change the "
                f"[components.{given['name']}.model] block."
            )
        values = {key: given.pop(key) for key in settings}
        return kind(settings=values, **given)

    # spaCy, thinc and pydantic read a function's arguments and their types from these.
    make.__signature__ = signature  # type: ignore[attr-defined]
    make.__annotations__ = {**types, "return": kind}
    make.__doc__ = f"The factory `{name}`; its arguments are described in docs/components.md."
    defaults = {key: deepcopy(setting.default) for key, setting in settings.items()}
    Language.factory(name, default_config={**blocks, **defaults}, func=make, **meta)
    send_batches()
    return make
