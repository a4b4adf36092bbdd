"""Settings of components: as JSON for `nlp.add_pipe`, and as the text of a config.

Besides our own errors those of spaCy's configs are an answer: `ConfigValidationError`,
`RegistryError`, errors that spaCy numbers, as for a component that it does not know, and whatever
it raises before the package is asked.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from tests.fuzzing.limits import Hang
from tests.fuzzing.target import JSON_PIECES, PACKAGE, PROJECT, Fuzzed, places_of

_NUMBERED = re.compile(r"\[E\d+\]")
_PIECES = (
    *JSON_PIECES, b"\n", b"[", b"]", b"[components.", b"= ", b"@misc", b"${nlp.lang}", b"*",
    b'"spacy_cascade.Gaussian.v1"', b'"spacy_cascade.LBFGS.v1"', b"# ", b"\xff",
)  # fmt: skip


@cache
def _make_quickly() -> None:
    """Else most of the time goes into names of registries, and abbreviations for tokenizers."""
    import entry_points
    import special_cases

    entry_points.list_once()
    special_cases.leave_out()


def _answers(make: Callable[[], object]) -> None:
    """Make something of a config; raises `CascadeError` for what is refused, by whomever."""
    from catalogue import RegistryError
    from thinc.api import ConfigValidationError

    from spacy_cascade.errors import CascadeError

    _make_quickly()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            make()
        except (CascadeError, MemoryError, Hang):
            raise
        except (ConfigValidationError, RegistryError) as error:
            raise CascadeError("not valid") from error
        except Exception as error:
            is_ours = any(place.startswith(PACKAGE) for place in places_of(error))
            if is_ours and not _NUMBERED.match(str(error)):
                raise
            raise CascadeError("spaCy says so") from error


def _component(data: bytes) -> None:
    """A component by its factory, with settings."""
    from helpers import blank
    from spacy_cascade.errors import CascadeError

    try:
        settings = json.loads(data)
        factory = settings.pop("factory")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CascadeError("not even JSON") from error
    if not isinstance(factory, str):
        raise CascadeError("no factory")
    _answers(lambda: blank().add_pipe(factory, name="made", config=settings))


def _config(data: bytes) -> None:
    """The text of a config, of which a pipeline is made."""
    from spacy.util import load_model_from_config
    from thinc.api import Config

    from spacy_cascade.errors import CascadeError

    try:
        text = data.decode("utf8")
    except UnicodeDecodeError as error:
        raise CascadeError("no text") from error
    _answers(lambda: load_model_from_config(Config().from_str(text), auto_fill=True))


@cache
def _configs() -> list[Any]:
    from spacy.util import load_config

    paths = sorted((PROJECT / "configs").glob("*.cfg"))
    return [load_config(path).interpolate() for path in paths]


def _component_seeds() -> list[bytes]:
    """The components of all configs, and those that no config has with their defaults."""
    from importlib.metadata import entry_points

    from helpers import blank

    made = [dict(part) for config in _configs() for part in config["components"].values()]
    for point in entry_points(group="spacy_factories"):
        if point.name.startswith("cascade_"):
            defaults = blank().get_factory_meta(point.name).default_config
            made.append({"factory": point.name, **defaults})
    texts = {json.dumps(part) for part in made if "factory" in part}
    return [text.encode() for text in sorted(texts)]


def _config_seeds() -> list[bytes]:
    """The pipelines of all configs, without training, in no language, which is quick."""
    from thinc.api import Config

    found = []
    for config in _configs():
        kept = Config({name: config[name] for name in ("nlp", "components")})
        kept["nlp"] = {"lang": "xx", "pipeline": config["nlp"]["pipeline"]}
        found.append(kept.to_str(interpolate=False).encode())
    return found


CONFIGS: dict[str, Fuzzed] = {
    "component": Fuzzed(_component, _component_seeds, _PIECES),
    "config": Fuzzed(_config, _config_seeds, _PIECES),
}
