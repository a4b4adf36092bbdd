"""What the package knows of words, by language; the tables themselves are in `systems.words`."""

from typing import Any

from spacy.util import registry

_NAMES = {"en": ("english", "spacy_cascade.English.v1")}
"""By language what the tables are called, and their registered name."""


def included_words(lang: str | None) -> dict[str, Any]:
    """The tables of a language, for the option `words` of template sets in a config.

    Empty where the package has no table of the language, or is without its rooms.
    """
    name, registered = _NAMES.get(lang or "", ("", ""))
    return {name: {"@misc": registered}} if name and registry.has("misc", registered) else {}
