"""Settings of any class: declared once, checked, fixed, saved, and known to one pipeline."""

import copy
import pickle
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import Field

from helpers import blank
from spacy_cascade import ConfigError, ModelFileError
from spacy_cascade.pipeline.settings import (
    Cfg,
    PipelineReference,
    Share,
    _is_being_loaded,
    check_saved,
    checked,
    configure,
    pipeline_of,
    setting,
    settings_of,
    take_saved,
    to_save,
)

DEFAULTS = {"n": 3, "part": 0.5, "kind": "a", "table": {}, "names": None}
Few = Annotated[int, Field(ge=1, le=9)]


def component() -> Any:
    """Of a class that is made here, with all defaults."""

    class Base:
        n: Few = setting(4)
        gone: bool = setting(True)

    class Own(Base):
        cfg = Cfg()
        name = "it"
        _pipeline = None
        gone = False  # type: ignore[assignment]
        n: Few = setting(3)
        share: Share = setting(0.5, name="part")
        kind: str = setting("a", is_fixed=True)
        table: dict[str, Share] = setting({})
        names: list[str] | None = setting(None)

        def check_settings(self, values: dict[str, Any]) -> None:
            if values["n"] == 7:
                raise ConfigError("seven is too many")

    made = Own()
    made._settings = {key: each.default for key, each in settings_of(Own).items()}  # type: ignore[attr-defined]
    return made


def test_a_class_says_names_types_and_defaults() -> None:
    made = component()
    assert made.cfg == DEFAULTS
    assert made.cfg is not made._settings
    found = settings_of(type(made))
    assert {key for key, each in found.items() if each.is_fixed} == {"kind"}
    assert type(made).share is found["part"]
    assert found["part"].kind is not None
    assert isinstance(type(made).cfg, Cfg)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("n", 0, "n of 'it' must be greater than or equal to 1, not 0"),
        ("n", 2.5, r"n of 'it' must be a valid integer, not 2\.5\. Change"),
        ("n", 7, "seven is too many"),
        ("part", 50, r"part of 'it' must .*not 50\. For 50 percent write 0\.5\. Change"),
        ("part", "high", r"part of 'it' must be a valid number, not 'high'\. Change"),
        ("table", {"a": 5}, r"table\['a'\] of 'it' must be .*, not 5\."),
        ("names", ["a", 1], r"names\[1\] of 'it' must be a valid string, not 1\."),
        ("kind", "b", "kind of 'it' cannot be changed from 'a' to 'b'"),
        ("parts", 1, r"'it' has no option 'parts'\. Did you mean 'part'"),
        ("x", 1, r"'it' has no option 'x'\. It has n, part, kind, table, names\."),
    ],
)
def test_what_is_refused_changes_nothing(key: str, value: object, message: str) -> None:
    made = component()
    with pytest.raises(ConfigError, match=message):
        made.cfg = {"n": 4, key: value}
    assert made.cfg == DEFAULTS
    if key != "kind":
        with pytest.raises(ConfigError, match=message):
            checked(made, {**DEFAULTS, key: value})


def test_values_are_python_s_own() -> None:
    made, names = component(), [np.str_("a")]
    made.cfg = {"n": np.int64(2), "table": {"a": np.float32(0.5)}, "names": names, "kind": "a"}
    names.append(np.str_("b"))
    made.share = np.float64(0.25)
    expected = {**DEFAULTS, "n": 2, "part": 0.25, "table": {"a": 0.5}, "names": ["a"]}
    assert made.cfg == expected
    values = [made.n, made.share, made.table["a"], made.names[0]]
    assert [type(value) for value in values] == [int, float, float, str]
    made.cfg["names"].append("c")
    assert made.names == ["a"]


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        ([], "The file of 'it' has no table of settings"),
        ({1: 2, "n": 3}, "The file of 'it' has no table of settings"),
        ({"kind": "b"}, r"trained with another 'kind' .*'b' instead of 'a'"),
        ({"n": 0}, r"saved settings are not valid\. n of 'it' must be"),
        ({"other": 0}, r"saved settings are not valid\. 'it' has no option"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(saved: object, message: str) -> None:
    made = component()
    with pytest.raises(ModelFileError, match=message):
        check_saved(made, saved)
    assert made.cfg == DEFAULTS
    for right in ({}, {"n": 5}, {"kind": "a", "n": 5}):
        check_saved(made, right)


@pytest.mark.parametrize("config_counts", [True, False])
@pytest.mark.parametrize("exclude", [[], ["cfg"], ["other"]])
def test_the_config_counts_the_first_time(config_counts: bool, exclude: list[str]) -> None:
    made = component()
    made._config_counts = config_counts
    is_taken = "cfg" not in exclude
    take_saved(made, {"n": 5}, exclude)
    assert made.n == (5 if is_taken and not config_counts else 3)
    take_saved(made, {"n": 6}, exclude)
    assert made.n == (6 if is_taken else 3)
    assert to_save(made, exclude) == (made.cfg if is_taken else {})


@pytest.mark.parametrize(
    ("of_meta", "of_config", "expected"),
    [(["it"], {}, True), (["it"], {"it": {}}, False), (["other"], {}, False), (None, {}, False)],
)
def test_a_pipeline_that_is_loaded_has_its_meta_first(
    of_meta: list[str] | None, of_config: dict[str, Any], expected: bool
) -> None:
    meta = {} if of_meta is None else {"components": of_meta}
    nlp: Any = SimpleNamespace(_meta=meta, _config={"components": of_config})
    assert _is_being_loaded(nlp, "it") == expected
    nlp._config = {}
    assert _is_being_loaded(nlp, "it") == (of_meta == ["it"])


def test_a_component_knows_its_pipeline_and_copies_know_theirs() -> None:
    nlp, made = blank(), component()
    configure(made, nlp, {**DEFAULTS, "n": 5})
    assert (made.n, pipeline_of(made)) == (5, nlp)
    assert not made._config_counts
    reference = PipelineReference(nlp)
    assert pickle.loads(pickle.dumps(reference)) is None
    assert copy.deepcopy(reference) is None
    other = blank()
    copied = copy.deepcopy(reference, {id(nlp): other})
    assert copied is not None
    assert copied() is other
    made._pipeline = None
    assert pipeline_of(made) is None
