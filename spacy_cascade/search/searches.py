"""What to search in a config, and the searches one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..workflows.jackknife import read_config
from .axes import Axis, Found, Point, Searcher
from .trials import Archive, Settings, Task, Trial, run_trials

SIGMA, KAPPA = (0.02, 2.0), (0.0, 8.0)
"""What is searched where nothing is said: the width of the prior, and the cost of a wrong label."""


@dataclass(frozen=True)
class Search:
    """A search that was made: its name, settings and result."""

    name: str
    axes: Sequence[Axis]
    found: Found


def default_searches(config: Mapping[str, Any]) -> dict[str, list[Axis]]:
    """For each component with an objective, the axes of its σ and κ.

    Raises `ConfigError` where no component has any.
    """
    searches: dict[str, list[Axis]] = {}
    for name in config["nlp"]["pipeline"]:
        objective = config["components"].get(name, {}).get("objective", {})
        axes = []
        if "sigma" in objective:
            axes.append(Axis(f"components.{name}.objective.sigma", *SIGMA, is_log=True))
        if "kappa" in objective:
            axes.append(Axis(f"components.{name}.objective.kappa", *KAPPA))
        if axes:
            searches[name] = axes
    if not searches:
        raise ConfigError(
            "No component of the config has an objective with sigma or kappa. Say what to search, "
            "for example --search components.NAME.model.min_count=1..8."
        )
    return searches


def together(searches: Mapping[str, Sequence[Axis]]) -> dict[str, Sequence[Axis]]:
    """One search of all that several searches have."""
    return {"search": [axis for axes in searches.values() for axis in axes]}


def read_axis(text: str) -> Axis:
    """An axis from `NAME=LOW..HIGH` or `NAME=LOW..HIGH:log`; whole numbers stay whole.

    Raises `ConfigError` for anything else.
    """
    name, equals, bounds = text.partition("=")
    bounds, colon, scale = bounds.partition(":")
    low, dots, high = bounds.partition("..")
    try:
        if not (name and equals and dots) or (colon and scale != "log"):
            raise ValueError
        integers = all(bound.strip().lstrip("+-").isdigit() for bound in (low, high))
        return Axis(name.strip(), float(low), float(high), bool(colon), integers)
    except ConfigError:
        raise
    except ValueError:
        raise ConfigError(
            f"Cannot read '{text}'. What to search looks like "
            "components.cascade_segmenter.objective.sigma=0.05..1.0:log, or without ':log'."
        ) from None


def tune(
    task: Task,
    searches: Mapping[str, Sequence[Axis]],
    archive_path: Path,
    *,
    searcher: Searcher,
    processes: int,
    done: Callable[[Trial], object],
) -> tuple[dict[str, float | int], list[Search]]:
    """The best settings of each search in turn, later ones with those of earlier ones.

    archive_path: file of trials, those of an earlier run of the same search included. searcher:
    how to search; with the same scores it has to try the same points again, for that is how a
    stopped search goes on. processes: so many trials at once. done: called with each new trial.
    Raises `ConfigError` for settings that the config has not.
    """
    _check_names(task, searches)
    archive = Archive(archive_path, task.fingerprint())
    chosen: dict[str, float | int] = {}
    made = []
    for name, axes in searches.items():

        def scores_of(points: list[Point], axes: Sequence[Axis] = axes) -> list[float]:
            settings = [{**chosen, **_settings(axes, point)} for point in points]
            return run_trials(task, settings, archive, processes, done)

        found = searcher(axes, scores_of)
        chosen.update(_settings(axes, found.point))
        made.append(Search(name, axes, found))
    return chosen, made


def _settings(axes: Sequence[Axis], point: Point) -> dict[str, float | int]:
    return {axis.name: axis.setting(v) for axis, v in zip(axes, point, strict=True)}


def _check_names(task: Task, searches: Mapping[str, Sequence[Axis]]) -> None:
    config = read_config(task.config, dict(task.overrides))
    for axes in searches.values():
        for axis in axes:
            value: Any = config
            for part in axis.name.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ConfigError(
                    f"'{axis.name}' is no number in {task.config}, so it cannot be searched. Mend "
                    "the name, or put the setting into the config first."
                )


def settings_text(settings: Settings) -> str:
    """Settings for people: names without what most of them share."""
    return ", ".join(f"{_short(name)} {value:g}" for name, value in settings.items())


def _short(name: str) -> str:
    return ".".join(
        part for part in name.split(".") if part not in ("components", "objective", "model")
    )
