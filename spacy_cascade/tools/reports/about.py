"""What every page says of itself: the pipeline, its path, the date and the versions."""

import platform
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from spacy.about import __version__ as spacy_version
from spacy.language import Language

from ..._version import __version__


@dataclass(frozen=True)
class About:
    """Where a page comes from.

    model, data: paths as they were given, "" without one. pipeline: name and version in the meta
    data. components: in order. versions: of the software. made: local time with its zone.
    """

    model: str
    data: str
    pipeline: str
    language: str
    components: tuple[str, ...]
    versions: str
    made: datetime


def about(nlp: Language, model: str | Path, data: str | Path = "") -> About:
    """Describe a page that is made now."""
    meta = nlp.meta
    versions = {
        "spacy_cascade": __version__,
        "spaCy": spacy_version,
        "Python": platform.python_version(),
    }
    return About(
        str(model),
        str(data),
        f"{meta['lang']}_{meta['name']} {meta['version']}",
        meta["lang"],
        tuple(nlp.pipe_names),
        ", ".join(f"{name} {version}" for name, version in versions.items()),
        datetime.now().astimezone(),
    )


def language_tag(language: str) -> str:
    """How HTML names a language of spaCy, whose pipelines of no language have the name `xx`."""
    return "und" if language == "xx" else language
