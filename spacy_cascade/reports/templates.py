"""The Jinja templates of pages."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(name: str) -> Template:
    """A template of this folder; what it fills in is escaped."""
    environment = Environment(
        loader=PackageLoader("spacy_cascade", "reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
