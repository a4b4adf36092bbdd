"""Checks of configs and options."""

from __future__ import annotations

from functools import partial
from typing import Any

from confection import ConfigValidationError
from spacy.language import Language

from spacy_cascade.errors import CascadeError

from .case import Case

_MISSPELT = "mispelt_option"
_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 10**30, -0.5, 0.5, 2.5, float("nan"), float("inf"), "", "x", "\ud800",
    [], ["x"], [1], {}, {"x": 1}, {"x": -1.0}, {1: "x"}, object(),
)  # fmt: skip
"""Of every kind; most are out of the range of any option."""


def a_config_makes_the_same_pipeline(case: Case) -> None:
    """A pipeline of the config has the same components, and is made again of its own config.

    spaCy fills in what a config leaves out, as that of a pipeline that a class has made
    (`English()`). It can analyse the pipeline.
    """
    config = case.pipeline.config
    case.true("the pipeline", f"a component '{case.name}'", case.name in case.pipeline.pipe_names)
    with case.no_error("Language.from_config"):
        filled = type(case.pipeline).from_config(config).config
        case.equal("its components", config["components"], filled["components"])
        again = type(case.pipeline).from_config(filled).config
        case.equal("its config", filled.to_str(), again.to_str())
    with case.no_error("analyze_pipes"):
        case.pipeline.analyze_pipes()


def misspelt_options_are_refused(case: Case) -> None:
    """An option that there is not is an error, in a config and in `cfg`."""
    factory = case.pipeline.get_pipe_meta(case.name).factory
    try:
        Language().add_pipe(factory, config={_MISSPELT: 1})
    except (CascadeError, ConfigValidationError):
        pass
    else:
        case.fail(f"the config {{'{_MISSPELT}': 1}}", "an error", "no error")
    component = case.of(case.untrained())
    for name in _options(component):
        near = name[:-1] + name[-1] * 2
        case.refused(f"the option '{near}'", partial(setattr, component, "cfg", {near: 1}))


def options_have_ranges(case: Case) -> None:
    """Any value of an option is taken and kept in the config, or is an error of this package.

    What is refused changes nothing.
    """
    nlp = case.untrained()
    component = case.of(nlp)
    for name, before in _options(component).items():
        for value in _VALUES:
            what = f"{name} = {value!r}"
            if case.is_refused(what, partial(_set, component, name, value)):
                case.equal(f"{name} after {what} was refused", before, _options(component)[name])
                continue
            kept = nlp.get_pipe_config(case.name).get(name)
            case.equal(f"the config after {what}", component.cfg[name], kept)
            _set(component, name, before)


CHECKS = a_config_makes_the_same_pipeline, misspelt_options_are_refused, options_have_ranges


def _options(component: Any) -> dict[str, Any]:
    """The settings of a component of this package, with their values."""
    return dict(component.cfg) if hasattr(component, "check_settings") else {}


def _set(component: Any, name: str, value: Any) -> None:
    """Set an option as an attribute; through `cfg` where an attribute of this name is another."""
    if isinstance(getattr(type(component), name, None), property):
        component.cfg = {name: value}
    else:
        setattr(component, name, value)
