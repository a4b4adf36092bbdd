"""Settings of a config by their dotted names: numbers, texts, and whole sections."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches

from thinc.api import Config

from ...errors import ConfigError
from ...types import Json


def names_like(config: Config, pattern: str) -> list[str]:
    """Names of settings of a config: the pattern itself, or one for each component.

    pattern: dotted; `*` stands for each component of the pipeline. Those are left out of which
    not even the section exists, such as the penalty of a component that has none, and those of
    components that are not in the pipeline.
    """
    parts = pattern.split(".")
    pipeline = config["nlp"]["pipeline"]
    names = [pattern]
    if "*" in parts:
        names = [".".join(name if part == "*" else part for part in parts) for name in pipeline]
    elif parts[0] == "components" and parts[1] not in pipeline:
        names = []
    return [name for name in names if _section(config, name) is not None]


def get_setting(config: Config, name: str) -> Json:
    """The value of a setting; None if there is none."""
    section = _section(config, name)
    return None if section is None else section.get(name.rpartition(".")[2])


def with_settings(config: Config, settings: Mapping[str, Json]) -> Config:
    """A copy of a config with other settings.

    settings: values by dotted names. A value can be a whole section, which replaces the one that
    is there. Raises `ConfigError` for a name whose section does not exist.
    """
    changed = config.copy()
    for name, value in settings.items():
        section = _section(changed, name)
        if section is None:
            above = name.rpartition(".")[0]
            near = get_close_matches(above, list(_sections(changed)), 1)
            hint = f" Did you mean [{near[0]}]?" if near else ""
            raise ConfigError(
                f"The setting '{name}' has no place: the config has no section [{above}].{hint}"
            )
        section[name.rpartition(".")[2]] = deepcopy(value)
    return changed


def _section(config: Config, name: str) -> dict[str, Json] | None:
    """The section that holds a setting."""
    found: Json = config
    for part in name.split(".")[:-1]:
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, dict) and "." in name else None


def _sections(config: Mapping[str, Json], prefix: str = "") -> list[str]:
    found = []
    for name, value in config.items():
        if isinstance(value, dict):
            found += [prefix + name, *_sections(value, f"{prefix}{name}.")]
    return found
