"""Arguments and options of commands: what is taken, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from spacy_cascade.cli.options import (
    argument,
    option,
    option_to_try,
    pipeline_at,
    read_overrides,
    refuse_existing,
    split_labels,
    valid_text,
)
from spacy_cascade.errors import ConfigError


@pytest.mark.parametrize("name", ["model-best", "model-last"])
def test_the_output_of_a_training_is_no_pipeline(name: str, tmp_path: Path) -> None:
    """Unless it is one itself."""
    assert pipeline_at(None) is None
    assert pipeline_at(tmp_path) == tmp_path
    (tmp_path / name).mkdir()
    with pytest.raises(typer.BadParameter, match=rf"several pipelines\. Give .*{name}\."):
        pipeline_at(tmp_path)
    (tmp_path / "config.cfg").touch()
    assert pipeline_at(tmp_path) == tmp_path


def test_text_that_no_doc_can_hold_is_refused() -> None:
    assert [valid_text(text) for text in (None, "", "Zoë")] == [None, "", "Zoë"]
    with pytest.raises(typer.BadParameter, match="not valid UTF-8"):
        valid_text("\udcff")


def test_an_argument_and_an_option_are_those_of_typer() -> None:
    place, choice = argument("TEXT", "A text", default="a"), option("A text", "--text", "-t")
    assert (place.metavar, place.help, place.default) == ("TEXT", "A text", "a")
    # What stands first is a name, too, for the default is that of the parameter.
    assert (choice.default, choice.param_decls, choice.help) == ("--text", ("-t",), "A text")
    tried = option_to_try("Weight", (0.5, 1.0), "--weight", "-w")
    assert (tried.default, tried.param_decls) == ("--weight", ("-w",))
    assert tried.help == "Weight to try; can be given several times"
    assert tried.show_default == "0.5, 1"


def test_labels_are_cut_at_commas() -> None:
    assert split_labels(" DNA, cell line ,,") == ("DNA", "cell line")
    assert split_labels("") == ()


def test_what_is_there_is_replaced_only_if_that_is_said(tmp_path: Path) -> None:
    refuse_existing(tmp_path, force=True)
    refuse_existing(tmp_path / "new", force=False)
    with pytest.raises(ConfigError, match=r"already exists\. Replace it with --force"):
        refuse_existing(tmp_path, force=False)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ([], {}),
        (["--a.b", "1", "--c.d=x"], {"a.b": 1, "c.d": "x"}),
        (["--a.b", "-1"], {"a.b": -1}),
        (["--a.b=1.5", "--c.d", "e.f"], {"a.b": 1.5, "c.d": "e.f"}),
    ],
)
def test_settings_of_a_config_may_follow(arguments: list[str], settings: dict[str, Any]) -> None:
    assert read_overrides(arguments) == settings


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["x"], "x"),
        (["x", "--a.b"], "x"),
        (["--a.b", "1", "2"], "2"),
        (["--a.b=1", "2"], "2"),
        (["--n", "3"], "--n"),
        (["--a=1.5"], "--a=1.5"),
        (["--a.b", "--n"], "--n"),
    ],
)
def test_what_is_no_setting_is_named(arguments: list[str], wrong: str) -> None:
    with pytest.raises(ConfigError, match=f"There is no option or argument {wrong} here"):
        read_overrides(arguments)
