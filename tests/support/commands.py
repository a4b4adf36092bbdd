"""Commands as spaCy's own command line runs them, and a small training to give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from spacy.cli._util import app as spacy_app
from typer.testing import CliRunner

from helpers import write_sample
from spacy_cascade.tools.recipes import Choices, make_config


def run_command(*arguments: object, exit_code: int = 0, answers: str = "") -> tuple[str, str]:
    """What a command of `spacy cascade` prints on standard output and standard error.

    answers: what is typed in when it asks.
    """
    result = CliRunner().invoke(spacy_app, ["cascade", *map(str, arguments)], input=answers)
    assert result.exit_code == exit_code, result.output
    return result.stdout, result.stderr


def check_errors(
    run: Callable[..., tuple[str, str]], *cases: tuple[tuple[object, ...], str]
) -> None:
    """Each command line ends with a message that has this text, in one line on standard error."""
    for arguments, message in cases:
        error = run(*arguments, exit_code=1)[1]
        assert message in error
        assert error.count("\n") == 1


def few_steps(iterations: int = 2) -> tuple[str, ...]:
    """Overrides of a config for one update of so many iterations."""
    return (
        "--training.max_steps=1",
        f"--components.cascade_segmenter.trainer.iterations={iterations}",
        f"--components.cascade_classifier.trainer.iterations={iterations}",
    )


def small_training(folder: Path, n_train: int = 12) -> dict[str, Path]:
    """A config and two corpora by name."""
    path = folder / "ner.cfg"
    make_config(Choices(sentences=True, small=True)).to_disk(path)
    return {
        "config": path,
        "train": write_sample(folder / "train.spacy", "train", n_train),
        "dev": write_sample(folder / "dev.spacy", "dev", 4),
    }


def run_training(
    group: str,
    command: str,
    given: Mapping[str, Path],
    output: Path,
    *more: object,
    exit_code: int = 0,
) -> tuple[str, str]:
    """What a command of a group said; given: its config and, as options, its files."""
    options = [part for name, path in given.items() if name != "config"
               for part in (f"--{name}", path)]  # fmt: skip
    arguments = [group, command, given["config"], *options, "--output", output, *more]
    return run_command(*arguments, exit_code=exit_code)
