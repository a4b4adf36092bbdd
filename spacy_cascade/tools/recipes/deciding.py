"""Rules that choose settings by what is seen in a corpus, and variants that are worth a try."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thinc.api import Config

from ...types import Json
from .configs import Recipe
from .profile import Profile
from .settings import get_setting, names_like

SECTIONS = {
    "lang": "nlp", "model": "components", "nested": "components", "words": "components",
    "sentences": "corpora",
}  # fmt: skip
"""Where a comment stands on what is decided before there is a config."""


def always(profile: Profile) -> bool:
    """A rule that holds for each corpus."""
    return True


@dataclass(frozen=True)
class Rule:
    """What is chosen for a corpus where something is seen in it.

    decision: what is decided; of the rules for it the first that holds counts. choose: the choice,
    or a function that makes it of the profile. because: a sentence; `{p.words:,}` and the like
    stand for what was seen. where: when the rule holds. models: for which, by default for all.
    """

    decision: str
    choose: Json | Callable[[Profile], Json]
    because: str
    where: Callable[[Profile], bool] = always
    models: Collection[str] = tuple(recipe.value for recipe in Recipe)


@dataclass(frozen=True)
class Variant:
    """A change of a config that is worth a training.

    change: for decisions, or for dotted names of settings, other values; or functions that make
    them of the present ones. A function may return the present value: then it is not changed.
    """

    name: str
    change: Mapping[str, Json | Callable[[Any], Json]]
    because: str
    where: Callable[[Profile], bool] = always
    models: Collection[str] = tuple(recipe.value for recipe in Recipe)


@dataclass(frozen=True)
class Rules:
    """The tables of `recipes.rules`, or others.

    places: where the config has the setting of a decision, as `settings.names_like` takes it.
    """

    rules: Sequence[Rule]
    places: Mapping[str, str]
    variants: Sequence[Variant] = field(default=())


@dataclass(frozen=True)
class Decision:
    """What was chosen, and why; is_given: the user said it."""

    name: str
    value: Json
    reason: str
    is_given: bool = False


def decide(rules: Rules, profile: Profile, given: Mapping[str, Json]) -> list[Decision]:
    """What is chosen for a corpus, the model first.

    given: choices that the user has made, by the names of decisions.
    """
    names = list(dict.fromkeys(["model", *(rule.decision for rule in rules.rules)]))
    model = Recipe.memb.value
    found = []
    for name in names:
        decision = _decide(name, rules, profile, given, model)
        if decision is not None:
            found.append(decision)
            model = decision.value if name == "model" else model
    return found


def _decide(
    name: str, rules: Rules, profile: Profile, given: Mapping[str, Json], model: str
) -> Decision | None:
    if name in given:
        return Decision(name, given[name], "as the command line says", is_given=True)
    for rule in rules.rules:
        fits = rule.decision == name and (name == "model" or model in rule.models)
        if fits and rule.where(profile):
            value = rule.choose(profile) if callable(rule.choose) else rule.choose
            return Decision(name, value, rule.because.format(p=profile, value=value))
    return None


def settings_of(
    config: Config, rules: Rules, decisions: Sequence[Decision]
) -> dict[str, dict[str, Json]]:
    """For each decision the settings that it makes, by dotted names.

    A value that is a table by the names of components holds for these; any other value holds for
    all that have the setting.
    """
    found = {}
    for decision in decisions:
        if decision.name in rules.places:
            found[decision.name] = _spread(config, rules.places[decision.name], decision.value)
    return found


def _spread(config: Config, pattern: str, value: Json) -> dict[str, Json]:
    names = names_like(config, pattern)
    pipeline = config["nlp"]["pipeline"]
    if isinstance(value, dict) and value and value.keys() <= set(pipeline):
        by_name = {name: value.get(name.split(".")[1]) for name in names}
        return {name: its for name, its in by_name.items() if its is not None}
    return {} if value is None else dict.fromkeys(names, value)


def change_of(config: Config, rules: Rules, variant: Variant) -> dict[str, Json]:
    """The settings of a variant of this config; empty if it changes nothing."""
    found: dict[str, Json] = {}
    for key, value in variant.change.items():
        pattern = rules.places.get(key, key)
        names = list(names_like(config, pattern))
        if not callable(value):
            found.update(_spread(config, pattern, value))
            continue
        present = {name: get_setting(config, name) for name in names}
        found.update({name: value(it) for name, it in present.items() if it is not None})
    return {name: value for name, value in found.items() if value != get_setting(config, name)}


def variants_for(rules: Rules, profile: Profile, model: str) -> list[Variant]:
    """The variants that are worth a try on a corpus, the most promising first."""
    return [v for v in rules.variants if model in v.models and v.where(profile)]


def comments_on(
    rules: Rules, decisions: Sequence[Decision], settings: Mapping[str, Mapping[str, Json]]
) -> dict[str, list[str]]:
    """For sections of a config what was decided about them, and why."""
    found: dict[str, list[str]] = {}
    for decision in decisions:
        made = settings.get(decision.name)
        section = SECTIONS.get(decision.name)
        if made:
            section = section_of(*next(iter(made.items())))
        if section is not None:
            found.setdefault(section, []).append(
                f"{decision.name} = {value_text(decision.value)}: {decision.reason}."
            )
    return found


def section_of(name: str, value: Json) -> str:
    """The section of a config that a comment on a setting stands above."""
    return name if isinstance(value, dict) else name.rpartition(".")[0]


def value_text(value: Json) -> str:
    """A value in few words: a section by its registered name."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:g}"
    if isinstance(value, dict):
        registered = [its for name, its in value.items() if name.startswith("@")]
        parts = [f"{name} {value_text(its)}" for name, its in value.items()]
        return str(registered[0]) if registered else ", ".join(parts)
    return value if isinstance(value, str) else json.dumps(value)
