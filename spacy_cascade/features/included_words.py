"""What the package knows of words, by language; the tables themselves are in `systems.words`."""

from collections.abc import Mapping
from typing import Any

INCLUDED_WORDS: Mapping[str, Mapping[str, Any]] = {
    "en": {"english": {"@misc": "spacy_cascade.English.v1"}},
}
"""For the option `words` of template sets in a config."""
