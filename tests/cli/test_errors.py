"""The decorator of all commands: expected errors are one line, others are not hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from click.exceptions import ClickException
from typer.testing import CliRunner, Result

from spacy_cascade import ConfigError
from spacy_cascade.cli import app
from spacy_cascade.cli.output import DEBUG, reports_errors


def run(*arguments: object) -> Result:
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    @reports_errors
    def command(path: Path, n: int = typer.Option(3, help="A number")) -> None:
        """Read a file."""
        if n == 0:
            raise ConfigError("There must be something. Give a number.")
        if n < 0:
            raise ZeroDivisionError
        typer.echo(path.read_bytes()[:n])

    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_signature_and_the_help_are_those_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("abcdef")
    assert run(tmp_path / "file").stdout == "abc\n"
    assert run(tmp_path / "file", "--n", 2).stdout == "ab\n"
    text = run("--help").stdout
    for part in ("Read a file.", "--n", "A number", "default: 3"):
        assert part in text
    assert run(tmp_path / "file", "--n", "x").exit_code == 2


@pytest.mark.parametrize(
    ("name", "n", "message"),
    [
        ("file", 0, "There must be something. Give a number."),
        ("nowhere", 1, "nowhere: No such file or directory. Check the path."),
    ],
)
def test_expected_errors_are_one_line(name: str, n: int, message: str, tmp_path: Path) -> None:
    result = run(tmp_path / name, "--n", n)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_other_errors_are_one_line_too(tmp_path: Path) -> None:
    result = run(tmp_path, "--n", -1)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "ZeroDivisionError" in result.stderr
    assert "spacy cascade --debug" in result.stderr
    assert result.stderr.count("\n") == 1


def test_debug_shows_the_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DEBUG, "is_on", True)
    assert isinstance(run(tmp_path, "--n", -1).exception, ZeroDivisionError)


def test_debug_is_an_option_of_all_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DEBUG, "is_on", False)
    for arguments in (["--debug"], []):
        CliRunner().invoke(app, [*arguments, "evaluate", "nowhere", "nothing"])
        assert DEBUG.is_on == bool(arguments)


def test_the_folder_of_a_training_names_its_best_pipeline(tmp_path: Path) -> None:
    (tmp_path / "model-best").mkdir()
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path), "dev.spacy"])
    assert result.exit_code == 2
    # Typer draws a box around the words.
    shown = "".join(result.output.replace("│", " ").split())
    assert "".join(f"Give {tmp_path / 'model-best'}.".split()) in shown


def raising(error: BaseException) -> Result:
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    @reports_errors
    def command() -> None:
        raise error

    return CliRunner().invoke(app, [])


def test_ctrl_c_is_one_line() -> None:
    result = raising(KeyboardInterrupt())
    assert result.exit_code == 130
    assert "Stopped before the end" in result.stderr


@pytest.mark.parametrize(
    ("error", "exit_code", "shown"),
    [
        (typer.Exit(3), 3, ""),
        (typer.Abort(), 1, "Aborted"),
        (typer.BadParameter("No such way."), 2, "No such way."),
        (ClickException("No way."), 1, ""),
    ],
)
def test_how_a_command_ends_by_itself_is_left_alone(
    error: Exception, exit_code: int, shown: str
) -> None:
    result = raising(error)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert shown in result.stderr
    assert "--debug" not in result.stderr


def test_an_error_of_no_file_says_what_it_is() -> None:
    result = raising(OSError("The disk is full."))
    assert result.exit_code == 1
    assert "The disk is full." in result.stderr
    assert "Check the path" not in result.stderr
