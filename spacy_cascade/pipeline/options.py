"""Options of components, each declared once: type, default, check, and what it does.

Factories take their defaults and signatures from a declaration, components their checks and error
messages, and docs/components.md its tables (`python scripts/document_options.py`).
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from numbers import Integral, Real
from types import MappingProxyType, NoneType, UnionType
from typing import Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints
from weakref import WeakMethod

import numpy as np

from ..errors import ConfigError

Check = Callable[[Any], bool]
OnChange = Callable[["Options", Mapping[str, Any]], None]
Factory = TypeVar("Factory", bound=Callable[..., Any])
_SHOWN = 200
_TEXT, _CHECK, _FIXED = "text", "check", "is_fixed"
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_NUMBERS: dict[type, type] = {int: Integral, float: Real}


@dataclass(frozen=True)
class Rule:
    """What a value has to be; text: completes "must be …". aliases: other names of texts."""

    is_met: Check
    text: str
    aliases: Mapping[str, str] = field(default_factory=dict)


def option(default: Any, text: str, rule: Rule | None = None, *, is_fixed: bool = False) -> Any:
    """A field of a declaration.

    text: what it does, for docs. is_fixed: whether it cannot be changed once the component is
    made, since its weights would mean something else.
    """
    metadata = {_TEXT: text, _CHECK: rule, _FIXED: is_fixed}
    if isinstance(default, dict):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def between(low: float, high: float) -> Rule:
    """A number in a closed range."""
    return Rule(lambda value: low <= value <= high, f"from {low:g} to {high:g}")


def above(low: float) -> Rule:
    """A finite number above a bound."""
    return Rule(lambda value: low < value < float("inf"), f"a finite number above {low:g}")


def at_least(low: float) -> Rule:
    """A finite number of at least a bound."""
    return Rule(lambda value: low <= value < float("inf"), f"a finite number of {low:g} or more")


def one_of(values: Iterable[str], **aliases: str) -> Rule:
    """One of a few texts; aliases: other names of them."""
    known = list(values)
    return Rule(lambda value: value in known, f"one of {', '.join(known)}", aliases)


def values_of(rule: Rule) -> Rule:
    """A table whose values all meet a rule."""
    return Rule(
        lambda table: all(map(rule.is_met, table.values())), f"a table of values {rule.text}"
    )


def as_kind(value: Any, kind: Any) -> Any:
    """A value of a declared type, its numbers Python's own. Raises `TypeError` for another type.

    A whole number may stand for any; nothing else is converted. A table becomes one that cannot
    be changed, since a change inside it would not be checked.
    """
    parts = [part for part in get_args(kind) if part is not NoneType]
    origin = get_origin(kind)
    if origin is UnionType:
        return None if value is None else as_kind(value, *parts)
    if origin is dict and isinstance(value, Mapping):
        table = {as_kind(key, parts[0]): as_kind(v, parts[1]) for key, v in value.items()}
        return MappingProxyType(table)
    if origin is list and isinstance(value, list | tuple):
        return [as_kind(v, *parts) for v in value]
    is_bool = isinstance(value, bool | np.bool_)
    if kind in (int, float) and not is_bool and isinstance(value, _NUMBERS[kind]):
        return kind(value)
    if (kind is bool and is_bool) or (kind is str and isinstance(value, str)):
        return kind(value)
    raise TypeError


def _plain(value: Any) -> Any:
    """A copy of a value, in which tables can be changed."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def kind_text(kind: Any) -> str:
    """What a value of a declared type is."""
    parts = get_args(kind)
    origin = get_origin(kind)
    if origin is UnionType:
        return f"{kind_text(parts[0])}, or null"
    if origin is list:
        return f"a list, each of it {kind_text(*parts)}"
    if origin is dict:
        return f"a table, each value {kind_text(parts[1])}"
    return _KINDS[kind]


class Options:
    """Base of declarations, which are dataclasses; every change is checked.

    component: name of the component, for messages.
    """

    component: ClassVar[str] = "component"
    _kinds: ClassVar[dict[str, Any]]
    _is_made = False
    _listener: Callable[[], OnChange | None] | None = None

    def __init_subclass__(cls) -> None:
        cls._kinds = get_type_hints(cls)  # once, for it takes longer than all checks

    def __post_init__(self) -> None:
        for name in self.names():
            super().__setattr__(name, self._checked(name, getattr(self, name)))
        self.check_together()
        self._is_made = True

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_") or not self._is_made:
            super().__setattr__(name, value)
        else:
            self.change({name: value})

    def change(self, values: Mapping[str, Any]) -> None:
        """Change several at once. Raises `ConfigError`, and changes none, where one cannot be."""
        for name in self.fixed() & values.keys():
            if values[name] != (before := getattr(self, name)):
                raise ConfigError(
                    f"{name} of '{self.title}' cannot be changed from {before!r} to "
                    f"{values[name]!r} any more: its weights would mean something else. Set it in "
                    "the config, and train again."
                )
        made, before = self.with_values(values), self.as_dict()
        new = {name: value for name, value in made.as_dict().items() if value != before[name]}
        tell = None if self._listener is None else self._listener()
        if tell is not None:
            tell(made, new)
        for name in new:
            super().__setattr__(name, getattr(made, name))

    def with_values(self: "Declared", values: Mapping[str, Any]) -> "Declared":
        """These options with other values. Raises `ConfigError`."""
        return self.made_for(self.title, {**self.as_dict(), **values})

    def tell(self, listener: OnChange) -> None:
        """Call a method before each change with all options as they will be, and the new values.

        It may refuse them by an error. Its object is not kept alive.
        """
        self._listener = WeakMethod(listener)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, **self.as_dict(), "_listener": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def title(self) -> str:
        """Name of the component that has them."""
        return getattr(self, "_title", self.component)

    @classmethod
    def made_for(cls: type["Declared"], title: str, settings: Mapping[str, Any]) -> "Declared":
        """The options of one component; title: its name. Raises `ConfigError`."""
        made = cls.__new__(cls)
        made._title = title
        unknown = settings.keys() - set(cls.names())
        for name in sorted(unknown):
            made._declared(name)
        made.__init__(**settings)  # type: ignore[misc]
        return made

    @classmethod
    def names(cls) -> list[str]:
        """Names of all options, in order."""
        return [declared.name for declared in fields(cls)]  # type: ignore[arg-type]

    @classmethod
    def fixed(cls) -> set[str]:
        """Names of those that cannot be changed once the component is made."""
        return {declared.name for declared in fields(cls) if declared.metadata[_FIXED]}  # type: ignore[arg-type]

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Defaults by name."""
        return {declared.name: _default(declared) for declared in fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def texts(cls) -> dict[str, str]:
        """What each option does, by name."""
        return {declared.name: declared.metadata[_TEXT] for declared in fields(cls)}  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, Any]:
        """All values by name; a copy."""
        return {name: _plain(getattr(self, name)) for name in self.names()}

    def check_together(self) -> None:
        """Raise `ConfigError` for values that do not go with each other."""

    def _declared(self, name: str) -> "Field[Any]":
        for declared in fields(self):  # type: ignore[arg-type]
            if declared.name == name:
                return declared
        near = nearest(name, self.names())
        advice = f"Did you mean '{near}'?" if near else f"It has {', '.join(self.names())}."
        raise ConfigError(f"'{self.title}' has no option {name!r:.{_SHOWN}}. {advice}")

    def _checked(self, name: str, value: Any) -> Any:
        """The value as it is declared. Raises `ConfigError`."""
        rule: Rule | None = self._declared(name).metadata[_CHECK]
        kind = self._kinds[name]
        wanted = None
        try:
            converted = as_kind(value, kind)
        except (TypeError, OverflowError):
            wanted = kind_text(kind)
        else:
            if rule is not None and isinstance(converted, str):
                converted = rule.aliases.get(converted, converted)
            if rule is not None and not rule.is_met(converted):
                wanted = rule.text
        if wanted is not None:
            shown = f"{value!r}"[:_SHOWN]
            raise ConfigError(
                f"{name} of '{self.title}' must be {wanted}, not {shown}.{_share(wanted, value)} "
                f"Change it in the [components.{self.title}] block, or where it is set."
            )
        return converted


Declared = TypeVar("Declared", bound=Options)


def _share(wanted: str, value: Any) -> str:
    """What to write for a percentage in place of a share."""
    is_share = wanted == between(0, 1).text
    is_percentage = is_share and isinstance(value, int | float) and 1 < value <= 100
    return f" For {value:g} percent write {value / 100:g}." if is_percentage else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one is most like; None where it is like none."""
    found = get_close_matches(name, list(known), n=1, cutoff=0.7)
    return found[0] if found else None


def takes(options: type[Options]) -> Callable[[Factory], Factory]:
    """Let a factory with `**settings` have the signature that spaCy checks a config against."""

    def decorate(factory: Factory) -> Factory:
        signature = inspect.signature(factory)
        kept = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                declared.name, inspect.Parameter.KEYWORD_ONLY, default=_default(declared),
                annotation=options._kinds[declared.name],
            )
            for declared in fields(options)  # type: ignore[arg-type]
        ]  # fmt: skip
        parameters = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY) if p.default is not p.empty else p
            for p in kept
        ]
        parameters.sort(key=lambda p: p.kind)
        factory.__signature__ = signature.replace(parameters=[*parameters, *added])  # type: ignore[attr-defined]
        return factory

    return decorate


def _default(declared: "Field[Any]") -> Any:
    if declared.default is not MISSING:
        return declared.default
    assert declared.default_factory is not MISSING
    return declared.default_factory()
