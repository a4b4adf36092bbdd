"""Commands that are imported when they are called, or listed by `--help`.

spaCy imports the commands of all packages before it reads its command line. To import the modules
of ours takes as long as all of spaCy, also for a user who calls `spacy info`.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

import typer
from typer.core import TyperGroup

from .options import OVERRIDES


class Place(NamedTuple):
    """Where the function of a command is, and what Typer is to know besides."""

    module: str
    function: str
    settings: Mapping[str, Any]


def command(place: str, **settings: Any) -> Place:
    """place: module and function, as in `package.module:function`."""
    module, _, function = place.partition(":")
    return Place(module, function, settings)


def command_with_overrides(place: str) -> Place:
    return command(place, context_settings=OVERRIDES)


class Commands(Mapping[str, Any]):
    """Commands as Typer makes them, by their names."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module, function, settings = self._places[name]
            found = getattr(import_module(module), function)
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(name, no_args_is_help=True, **settings)(found)
            self._made[name] = typer.main.get_command(app)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def group_of(places: Mapping[str, Place]) -> type[TyperGroup]:
    """A group with these commands, for `typer.Typer(cls=…)`."""

    class Group(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = cast(Any, Commands(places))

    return Group
