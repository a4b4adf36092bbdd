"""Tools that read signatures and type hints can call all that the package registers."""

from __future__ import annotations

import inspect
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_type_hints

import pydantic
import pytest
import spacy
from confection import ConfigValidationError
from spacy.language import Language
from thinc.api import Config

from helpers import blank
from spacy_cascade import ConfigError
from spacy_cascade.pipeline.settings import settings_of

NO_CONFIGS = ("spacy_cli", "spacy_cascade_formats", "spacy_cascade_kernels")
"""Groups whose members no config names, and which nothing else calls by their signatures."""
ENTRIES = [
    entry
    for group in sorted(entry_points().groups)
    if group.startswith("spacy_") and group not in NO_CONFIGS
    for entry in entry_points(group=group)
    if entry.value.startswith("spacy_cascade")
]
FACTORIES = [entry.name for entry in ENTRIES if entry.group == "spacy_factories"]
ANY_TYPE = pydantic.ConfigDict(arbitrary_types_allowed=True)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_what_is_registered_can_be_called_through_pydantic(entry: EntryPoint) -> None:
    made = entry.load()
    parameters = inspect.signature(made).parameters
    function = made.__init__ if inspect.isclass(made) and parameters else made
    if inspect.isclass(function):
        return  # pydantic takes no class, and there is nothing to validate
    assert list(parameters) == [name for name in get_type_hints(function) if name != "return"]
    call = pydantic.validate_call(function, config=ANY_TYPE)
    if all(parameter.default is not parameter.empty for parameter in parameters.values()):
        call(*([object.__new__(made)] if inspect.isclass(made) else []))


@pytest.mark.parametrize("name", FACTORIES)
def test_factories_are_called_through_pydantic(name: str) -> None:
    """As by pipelines of other libraries, which add components of spaCy."""
    nlp = blank()
    config = Language.get_factory_meta(name).default_config
    resolved = spacy.registry.resolve(Config({"block": config}))["block"]
    factory = pydantic.validate_call(spacy.registry.get("factories", name), config=ANY_TYPE)
    component: Any = factory(nlp=nlp, name="it", **resolved)
    assert component.name == "it"
    assert component.cfg == {key: config[key] for key in settings_of(type(component))}
    with pytest.raises(pydantic.ValidationError):
        factory(nlp=nlp, name="it", **{**resolved, next(reversed(config)): object()})


@pytest.mark.parametrize("name", FACTORIES)
def test_a_value_of_a_wrong_type_is_an_error_that_names_it(name: str) -> None:
    for option, default in Language.get_factory_meta(name).default_config.items():
        wrong = "x" if isinstance(default, float | int) else 1000000000
        with pytest.raises((ConfigValidationError, ConfigError), match=option):
            blank().add_pipe(name, config={option: wrong})
