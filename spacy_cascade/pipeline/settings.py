"""Settings: arguments of a factory that can be changed later, as attributes of the component.

The class of a component says the name, type and default of each, once; the factory is made of it
(`pipeline.factories`), and spaCy checks a config against it. A component checks ranges as well,
whenever a setting is assigned, and keeps all settings in its `cfg`, which is saved with its
weights. The config of its pipeline follows.
"""

from collections.abc import Container, Mapping
from copy import deepcopy
from difflib import get_close_matches
from functools import cached_property
from inspect import get_annotations
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias
from weakref import ref

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from spacy.language import Language

from ..errors import ConfigError, ModelFileError
from ..inference.schemes import SCHEMES

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
"""A part of a whole, such as a probability."""
Positive: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_CFG = "cfg"
"""Name of the settings among what is saved of a component, as spaCy's own components call them."""
_TYPES_OF_TEXTS = ("list[str]", "tuple[str, ...]")
_SHOWN = 100
_STRICT = ConfigDict(strict=True)


_ALIASES = {"BIO": "IOB2", "BILUO": "BILOU", "IOBES": "BILOU", "BIOES": "BILOU"}


def _canonical(scheme: str) -> str:
    """The name that a scheme has here. Raises `ValueError` where there is no such scheme."""
    found = _ALIASES.get(scheme, scheme)
    if found not in SCHEMES:
        raise ValueError(f"one of {', '.join(SCHEMES)}")
    return found


SchemeName: TypeAlias = Annotated[str, AfterValidator(_canonical)]


class Setting:
    """An attribute of a component that is checked when it is set, and saved.

    name: of the argument of the factory, by default that of the attribute. kind: its type and
    range. is_fixed: whether it stays as it was made, since the weights would mean something else.
    """

    def __init__(self, default: object, name: str, is_fixed: bool) -> None:
        self.default, self.name, self.is_fixed = default, name, is_fixed

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.name = self.name or attribute
        self.kind = get_annotations(owner)[attribute]

    def __get__(self, component: Any, owner: type | None = None) -> Any:
        """The value. A table cannot be changed: that would neither be checked nor saved."""
        if component is None:
            return self
        value = component._settings[self.name]
        return MappingProxyType(value) if isinstance(value, dict) else value

    def __set__(self, component: Any, value: object) -> None:
        component.cfg = {self.name: value}

    @cached_property
    def _type(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.kind, config=_STRICT)

    def checked(self, value: object, component_name: str) -> Any:
        """The value, its numbers Python's own. Raises `ConfigError` for another type or range."""
        value = _plain(value)
        try:
            return self._type.validate_python(value)
        except ValidationError as error:
            wrong = error.errors()[0]
        # Where several types are allowed, pydantic names the one that it has tried, too.
        places = [key for key in wrong["loc"] if key not in _TYPES_OF_TEXTS]
        where = "".join(f"[{key!r}]"[:_SHOWN] for key in places)
        wanted = wrong["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        raise ConfigError(
            f"{self.name}{where} of '{component_name}' must be {wanted}, not "
            f"{repr(wrong['input'])[:_SHOWN]}.{_as_share(self.kind, wrong['input'])} Change it in "
            f"the [components.{component_name}] block, or where it is set."
        )


def setting(default: object, *, name: str = "", is_fixed: bool = False) -> Any:
    """A `Setting`, in the body of a class; the annotation says its type and range."""
    return Setting(default, name, is_fixed)


class Cfg:
    """All settings of a component by name, as spaCy's own tools read and set them; a copy."""

    def __get__(self, component: Any, owner: type | None = None) -> Any:
        return self if component is None else deepcopy(component._settings)

    def __set__(self, component: Any, values: Mapping[str, object]) -> None:
        """Change some. Raises `ConfigError`, and changes none, where one cannot be."""
        before, name = component._settings, component.name
        after = checked(component, {**before, **values})
        for key, each in settings_of(type(component)).items():
            if each.is_fixed and after[key] != before[key]:
                raise ConfigError(
                    f"{key} of '{name}' cannot be changed from {before[key]!r} to {after[key]!r} "
                    "any more: its weights would mean something else. Set it in the config, and "
                    "train again."
                )
        component._settings = after
        nlp: Any = pipeline_of(component)
        for place, pipe in [] if nlp is None else nlp.components:
            if pipe is component:
                changed = {key: value for key, value in after.items() if value != before[key]}
                nlp._pipe_configs[place].update(deepcopy(changed))


def settings_of(kind: Any) -> dict[str, Setting]:
    """The settings of a class of components, by the names of the arguments.

    One that a class has as another attribute is a setting of its bases only.
    """
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        found.update(vars(each))
    return {each.name: each for each in found.values() if isinstance(each, Setting)}


def checked(component: Any, values: Mapping[str, object]) -> dict[str, Any]:
    """Values of all settings. Raises `ConfigError` where the component cannot have them."""
    known, name = settings_of(type(component)), component.name
    for key in values.keys() - known.keys():
        near = get_close_matches(str(key), known, n=1, cutoff=0.7)
        advice = f"Did you mean '{near[0]}'?" if near else f"It has {', '.join(known)}."
        raise ConfigError(f"'{name}' has no option {repr(key)[:_SHOWN]}. {advice}")
    found = {key: each.checked(values[key], name) for key, each in known.items()}
    component.check_settings(found)
    return found


def configure(component: Any, nlp: Language, values: Mapping[str, object]) -> None:
    """Give a new component the values of all its settings. Raises `ConfigError`."""
    component._pipeline = PipelineReference(nlp)
    component._config_counts = _is_being_loaded(nlp, component.name)
    component._settings = checked(component, values)


def pipeline_of(component: Any) -> Language | None:
    """The pipeline that it was made for, None after it was pickled or copied by itself."""
    reference: PipelineReference | None = component._pipeline
    return None if reference is None else reference()


# Saving


def to_save(component: Any, exclude: Container[str]) -> dict[str, Any]:
    """What the file of a component says of its settings; exclude: as spaCy's `to_bytes`."""
    return {} if _CFG in exclude else component.cfg


def check_saved(component: Any, saved: object) -> None:
    """Raise `ModelFileError` for settings of a file that the component cannot have."""
    name, own = component.name, component._settings
    if not isinstance(saved, dict) or not all(isinstance(key, str) for key in saved):
        raise ModelFileError(f"The file of '{name}' has no table of settings.")
    for key, each in settings_of(type(component)).items():
        if each.is_fixed and saved.get(key, own[key]) != own[key]:
            raise ModelFileError(
                f"The saved model was trained with another '{key}' than the configuration states "
                f"({repr(saved[key])[:_SHOWN]} instead of {own[key]!r}). Load it with its own "
                "config.cfg."
            )
    try:
        checked(component, {**own, **saved})
    except ConfigError as error:
        raise ModelFileError(f"The saved settings are not valid. {error}") from None


def take_saved(component: Any, saved: Mapping[str, Any], exclude: Container[str]) -> None:
    """Have the settings of a file, which `check_saved` has passed.

    Not those that are excluded, nor where the config counts (`_is_being_loaded`).
    """
    config_counts, component._config_counts = component._config_counts, False
    if not config_counts and _CFG not in exclude:
        component.cfg = saved


def _plain(value: object) -> object:
    """A copy with Python's own numbers, tables and lists."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _as_share(kind: object, value: Any) -> str:
    """What to write for a percentage in place of a share."""
    is_percentage = kind == Share and isinstance(value, int | float) and 1 < value <= 100
    return f" For {value:g} percent write {value / 100:g}." if is_percentage else ""


def _is_being_loaded(nlp: Language, name: str) -> bool:
    """Whether a component is made for a pipeline that is loaded as a whole, as by `spacy.load`.

    It is made with the settings of that pipeline's config, which follows every assignment and may
    have been edited, or overridden while loading. So these count more than those in the file of
    the component, the first time that one is read. A pipeline that is loaded has its meta data
    before it has its components, and its config after them; one to which components are added by
    hand has no such meta data.
    """
    return name in nlp._meta.get("components", ()) and name not in nlp._config.get("components", ())


class PipelineReference(ref[Language]):
    """The pipeline that a component stands in; it is not kept alive, copied or pickled.

    A copy of the whole pipeline refers to the copy.
    """

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def __deepcopy__(self, memo: dict[int, Any]) -> "PipelineReference | None":
        copied = memo.get(id(self()))
        return None if copied is None else PipelineReference(copied)
