"""What to search in a config, and the searches in turn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...workflows.jackknife import read_config
from ..recipes.deciding import value_text
from .quadrants import Axis, Found, Point, search
from .trials import Archive, Settings, Task, Trial, run_trials

DEFAULTS = {"sigma": (0.02, 2.0, True), "kappa": (0.0, 8.0, False)}
"""Ranges of the width of the prior and of the cost of a wrong label; True: logarithmic."""
BLOCKS = ("penalty", "loss")
"""Blocks of a component that may have them."""


@dataclass(frozen=True)
class Search:
    name: str
    axes: Sequence[Axis]
    found: Found


def default_searches(config: Mapping[str, Any]) -> dict[str, list[Axis]]:
    """The axes of σ and κ of each component that has them; raises `ConfigError` if none does."""
    searches: dict[str, list[Axis]] = {}
    for name in config["nlp"]["pipeline"]:
        component = config["components"].get(name, {})
        axes = [
            Axis(f"components.{name}.{block}.{setting}", *bounds)
            for setting, bounds in DEFAULTS.items()
            for block in BLOCKS
            if setting in (component.get(block) or {})
        ]
        if axes:
            searches[name] = axes
    if not searches:
        raise ConfigError(
            "No component of the config has a sigma or kappa. Name the settings to search, for "
            "example --search components.NAME.model.min_count=1..8."
        )
    return searches


def read_axis(text: str) -> Axis:
    """An axis from `NAME=LOW..HIGH` or `NAME=LOW..HIGH:log`; raises `ConfigError` otherwise.

    Between whole numbers only whole numbers are tried.
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
            f"Cannot read '{text}'. Write a setting to search as NAME=LOW..HIGH or "
            "NAME=LOW..HIGH:log, for example components.cascade_segmenter.model.min_count=1..8."
        ) from None


def tune(
    task: Task,
    searches: Mapping[str, Sequence[Axis]],
    archive_path: Path,
    *,
    rounds: int,
    processes: int,
    done: Callable[[Trial], object],
    tick: Callable[[], object] = lambda: None,
) -> tuple[dict[str, float | int], list[Search]]:
    """The best settings of each search in turn; later searches use the results of earlier ones.

    archive_path: file of trials, which may have those of an earlier run: a stopped search asks for
    the same points again, and goes on. rounds: the largest number of boxes to cut. processes:
    number of trials that run at the same time. done: called with each new trial. tick: called about
    once a second while trials run.
    Raises `ConfigError` for settings that are not in the config.
    """
    _check_names(task, searches)
    archive = Archive(archive_path, task.fingerprint())
    chosen: dict[str, float | int] = {}
    made = []
    for name, axes in searches.items():

        def scores_of(points: list[Point], axes: Sequence[Axis] = axes) -> list[float]:
            settings = [{**chosen, **_settings(axes, point)} for point in points]
            return run_trials(task, settings, archive, processes, done, tick)

        found = search(axes, scores_of, rounds)
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
                    f"'{axis.name}' is not a number in {task.config}, so it cannot be searched. "
                    "Correct the name, or add the setting to the config."
                )


def settings_text(settings: Settings) -> str:
    """Settings for people, with shortened names."""
    return ", ".join(f"{_short(name)} {value_text(value)}" for name, value in settings.items())


def _short(name: str) -> str:
    left_out = ("components", "model", *BLOCKS)
    return ".".join(part for part in name.split(".") if part not in left_out)
