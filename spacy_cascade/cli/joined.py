"""Commands that join by entry points, and are imported when they are called.

spaCy imports the commands of all packages before it reads its command line. To import the modules
of ours takes as long as all of spaCy, also for a user who calls `spacy info`. So a list of commands
imports none of them: it reads the docstrings in their files.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from inspect import cleandoc, signature
from typing import Any, cast

import typer
from typer.core import TyperGroup

from .options import OVERRIDES

GROUP = "spacy_cascade_commands"
"""Entry points, one for each command: `NAME = "module:function"`, or `GROUP.NAME` in a group."""


class Commands(Mapping[str, Any]):
    """The commands whose entry points begin with a prefix, as Typer makes them, by their names.

    What stands before a dot is the name of a group of commands, which is one of them.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self._made: dict[str, Any] = {}

    @cached_property
    def points(self) -> dict[str, EntryPoint | None]:
        """Entry points by the names of their commands, None for a group, in alphabetical order."""
        points: dict[str, EntryPoint | None] = {}
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
            if point.name.startswith(self.prefix):
                name, dot, _ = point.name.removeprefix(self.prefix).partition(".")
                points[name] = None if dot else point
        return points

    def summary(self, name: str) -> str:
        """What a list of commands says of one of them."""
        point = self.points[name]
        return docstring(point) if point else ", ".join(Commands(f"{self.prefix}{name}."))

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            point = self.points[name]
            self._made[name] = _command(name, point) if point else self._group(name)
        return self._made[name]

    def _group(self, name: str) -> Any:
        return CommandGroup(
            f"{self.prefix}{name}.",
            name=name,
            help=f"Commands: {self.summary(name)}.",
            no_args_is_help=True,
            rich_markup_mode=None,
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)


class CommandGroup(TyperGroup):
    """The commands whose entry points begin with a prefix."""

    def __init__(self, prefix: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast(Any, Commands(prefix))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with the first sentence about it."""
        commands = cast(Commands, self.commands)
        rows = [(name, commands.summary(name).partition(". ")[0].rstrip(".")) for name in commands]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def docstring(point: EntryPoint) -> str:
    """The first paragraph of the docstring of a function, in one line.

    It is read from the file of the module, and nothing is imported, unless there is no file.
    """
    source = _source_of(point.module)
    if source is None:
        text = point.load().__doc__ or ""
    else:
        functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
        found = next((node for node in functions if node.name == point.attr), None)
        text = (found and ast.get_docstring(found)) or ""
    return " ".join(cleandoc(text).partition("\n\n")[0].split())


def _source_of(module: str) -> str | None:
    """The text of a module; the packages that it is in are not imported."""
    package, *inner = module.split(".")
    spec = find_spec(package)
    for name in inner:
        package = f"{package}.{name}"
        places = spec.submodule_search_locations if spec else None
        spec = PathFinder.find_spec(package, places) if places is not None else None
    get_source: Any = getattr(spec.loader if spec else None, "get_source", None)
    return get_source(module) if get_source else None


def _command(name: str, point: EntryPoint) -> Any:
    """A function as a command; one with a `context` may be followed by settings of a config."""
    function = point.load()
    settings = OVERRIDES if "context" in signature(function).parameters else None
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, no_args_is_help=True, context_settings=settings)(function)
    return typer.main.get_command(app)
