"""Commands are there without their modules, which are imported when they are called."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from helpers import run_python
from spacy_cascade.cli import _COMMANDS, app
from spacy_cascade.cli.lazy_commands import Commands, command

IMPORTED = """
import sys
from spacy.util import registry
registry.cli.get_all()
print(sorted({"numba", "spacy_cascade.tools.formats.command", "spacy_cascade.pipeline.segmenter"}
             & set(sys.modules)))
"""


def test_spacy_s_commands_import_none_of_them() -> None:
    assert run_python("-c", IMPORTED).stdout.strip() == "[]"


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_is_found_and_explains_itself(name: str) -> None:
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert f"cascade {name} " in result.output.splitlines()[0]


def test_help_lists_all() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    listed = {line.split()[0] for line in shown.partition("Commands:")[2].splitlines() if line}
    assert listed == set(_COMMANDS)


def test_a_slip_gets_the_name_that_was_meant() -> None:
    result = CliRunner().invoke(app, ["covnert"])
    assert result.exit_code == 2
    assert "No such command 'covnert'" in result.output


def test_a_command_is_made_once() -> None:
    commands = Commands({"annotate": command("annotate:annotate_command"), "no": command("no:no")})
    assert list(commands) == ["annotate", "no"]
    assert len(commands) == 2
    assert commands["annotate"] is commands["annotate"]
    assert commands["annotate"].name == "annotate"
    assert commands.get("another") is None
    with pytest.raises(ModuleNotFoundError):
        commands["no"]


def test_settings_reach_typer() -> None:
    made = Commands({"again": command("annotate:annotate_command", hidden=True)})["again"]
    assert made.hidden
    assert isinstance(made, typer.core.TyperCommand)
