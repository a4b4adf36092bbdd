"""The public surface as text: `python tests/support/public_api.py` writes it anew.

A change of that text is a change that users see: it goes into the CHANGELOG.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import TrainablePipe

import spacy_cascade

SNAPSHOT = Path(__file__).with_name("public_api.txt")
COMPONENTS = (
    spacy_cascade.CascadeSegmenter,
    spacy_cascade.CascadeClassifier,
    spacy_cascade.CascadeReranker,
    spacy_cascade.CascadeTagger,
    spacy_cascade.CascadeLinker,
    spacy_cascade.CascadeEnsemble,
)


def public_api() -> str:
    """Every public name with its signature, a line each."""
    return "\n".join([*_imported(), "", *_members(), "", *_registered()]) + "\n"


def _imported() -> Iterator[str]:
    for name in sorted(spacy_cascade.__all__):
        value = getattr(spacy_cascade, name)
        yield f"spacy_cascade.{name}{_signature(value) if callable(value) else ''}"


def _members() -> Iterator[str]:
    """What a component has beyond spaCy's own, without a leading underscore."""
    of_spacy = set(dir(TrainablePipe))
    for component in COMPONENTS:
        for name in sorted(set(dir(component)) - of_spacy):
            if not name.startswith("_"):
                member = inspect.getattr_static(component, name)
                shown = _signature(member) if callable(member) else ""
                yield f"{component.__name__}.{name}{shown}"


def _registered() -> Iterator[str]:
    groups: Any = entry_points()
    for group in sorted(name for name in groups.groups if name.startswith("spacy_")):
        for entry in sorted(groups.select(group=group), key=lambda e: e.name):
            if entry.value.startswith("spacy_cascade"):
                yield f"{group} {entry.name}{_parameters(group, entry)}"


def _parameters(group: str, entry: EntryPoint) -> str:
    loaded = entry.load()
    if group == "spacy_factories":
        defaults = Language.get_factory_meta(entry.name).default_config
        return f"({', '.join(defaults)})"
    return _signature(loaded) if callable(loaded) and group != "spacy_cli" else ""


def _signature(value: Any) -> str:
    """Names and defaults; annotations are left out, since they read differently by release.

    A default that is a function is its name.
    """
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ""
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return re.sub(r"<function (\w+) at \w+>", r"\1", str(inspect.Signature(plain)))


if __name__ == "__main__":
    SNAPSHOT.write_text(public_api(), encoding="utf8")
