"""Commands join by entry points: they are listed without their modules, and explain themselves."""

from __future__ import annotations

import re
import sys
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from commands import run_command
from helpers import run_python, run_spacy
from spacy_cascade.cli import app
from spacy_cascade.cli.joined import GROUP, Commands, docstring

PLACES = {point.name: point for point in entry_points(group=GROUP)}
COUNT = '''
from typing import Annotated

import typer
from spacy_cascade.cli.output import reports_errors


@reports_errors
def count_command(
    context: typer.Context, path: Annotated[str, typer.Argument(help="A text file")]
) -> None:
    """
    Count the lines of
    a file. And nothing more.

    All of them.
    """
    with open(path) as file:
        typer.echo(f"{len(list(file))} lines, {context.args}")
'''
"""One file and one entry point: what another package needs for a command."""


@pytest.fixture
def other_package(tmp_path: Path) -> Path:
    """The package that has the commands `count` and `words tally`, beside a file to count."""
    (tmp_path / "counting").mkdir()
    (tmp_path / "counting" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "counting" / "lines.py").write_text(COUNT)
    (tmp_path / "counted.py").write_text(COUNT)
    info = tmp_path / "counting-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1\n")
    points = ["count = counting.lines:count_command", "words.tally = counted:count_command"]
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *points, ""]))
    (tmp_path / "text.txt").write_text("a\nb\n")
    return tmp_path


def test_a_command_of_another_package(other_package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed without being imported: here the import would fail."""
    monkeypatch.syspath_prepend(other_package)
    listed = run_spacy("cascade", "--help")
    assert "count Count the lines of a file debug-data" in listed
    assert "words make, tally" in listed
    failed = CliRunner().invoke(app, ["count", "text.txt"])
    assert str(failed.exception) == "imported"
    shown = run_spacy("cascade", "words", "tally", "--help")
    assert "A text file" in shown
    assert "All of them." in shown
    assert "A text file" in CliRunner().invoke(app, ["words", "tally"]).output
    text = str(other_package / "text.txt")
    said = run_spacy("cascade", "words", "tally", text, "--training.seed", "1")
    assert said == "2 lines, ['--training.seed', '1']"


LOADED = """
import sys
from spacy.util import registry
registry.cli.get_all()
from typer.testing import CliRunner
from spacy.cli._util import app
for calls in ({lists}, {commands}):
    for arguments in calls:
        result = CliRunner().invoke(app, ["cascade", *arguments, "--help"])
        assert result.exit_code == 0, result.output
    print(*sys.modules)
"""


def test_help_imports_nothing_that_takes_long() -> None:
    """A list of commands imports none of them."""
    groups = sorted({name.partition(".")[0] for name in PLACES if "." in name})
    lists, commands = [[], *([group] for group in groups)], [name.split(".") for name in PLACES]
    result = run_python("-c", LOADED.format(lists=lists, commands=commands))
    assert result.returncode == 0, result.stderr
    of_lists, found = (set(line.split()) for line in result.stdout.splitlines())
    modules = {point.module for point in PLACES.values()}
    assert not of_lists & modules
    assert modules <= found
    slow = {"numba", "spacy_cascade.pipeline.learning",
            "spacy_cascade.tools.formats.exchange.registry", "spacy_cascade.features.space",
            "spacy_cascade.tools.bulk.run", "spacy_cascade.tools.search.searches"}  # fmt: skip
    assert not found & slow


def test_there_are_few_commands_at_the_top() -> None:
    points = Commands().points
    assert sum(point is not None for point in points.values()) <= 12
    assert sum(point is None for point in points.values()) <= 4


@pytest.mark.parametrize("name", sorted(PLACES))
def test_every_command_is_found_and_explains_itself(name: str) -> None:
    shown = " ".join(run_command(*name.split("."), "--help")[0].split())
    assert f"cascade {name.replace('.', ' ')} " in shown
    assert not re.search("[│─]|-completion", shown)  # so that lines can be searched and copied
    assert docstring(PLACES[name]) in shown


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("words.make", ["SOURCE...", "the same command continues"]),
        ("combine.jackknife", ["CORPUS.spacy", "doc.ents too", "take the place"]),
        ("lists.collect", ["{MODEL} {TEXT...}", "only a measurement shows"]),
        ("rerank.train", ["sentencizer", "MODEL is not changed"]),
        ("rerank.tune", ["sentencizer", "MODEL is not changed"]),
    ],
)
def test_help_says_what_to_know(name: str, parts: list[str]) -> None:
    text = " ".join(run_command(*name.split("."), "--help")[0].split())
    assert all(part in text for part in parts)


def test_a_slip_gets_the_name_that_was_meant() -> None:
    for arguments in (["covnert"], ["words", "clutser"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert f"No such command '{arguments[-1]}'" in result.output


def test_a_command_is_made_once() -> None:
    commands = Commands("rerank.")
    assert list(commands) == ["train", "tune"]
    assert len(commands) == 2
    assert commands["tune"] is commands["tune"]
    assert commands["tune"].name == "tune"
    assert commands.get("another") is None
    assert Commands()["rerank"].name == "rerank"


def function(value: str) -> EntryPoint:
    return EntryPoint("name", value, GROUP)


def test_what_has_no_file_is_imported_for_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert docstring(function("time:sleep")).startswith("sleep(")
    made: Any = module_from_spec(ModuleSpec("made", None))
    made.told, made.silent = (lambda: None), (lambda: None)
    made.told.__doc__ = "Says so\nin two lines.\n\nAnd more."
    monkeypatch.setitem(sys.modules, "made", made)
    assert docstring(function("made:told")) == "Says so in two lines."
    assert docstring(function("made:silent")) == ""
    for nowhere in ("nowhere:told", "nowhere.inside:told", "spacy_cascade.nowhere.inside:told"):
        with pytest.raises(ModuleNotFoundError, match="nowhere"):
            docstring(function(nowhere))


def test_what_says_nothing_has_no_text(
    other_package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(other_package)
    (other_package / "silent.py").write_text("def silent() -> None: ...\nother = silent\n")
    assert docstring(function("silent:silent")) == ""
    assert docstring(function("silent:other")) == ""


def test_an_option_is_the_same_everywhere() -> None:
    """Its name, its short form and its help text; and a short form has one meaning."""
    meanings: dict[str, dict[str, set[object]]] = {}
    for name in PLACES:
        group, _, last = name.rpartition(".")
        for one in Commands(f"{group}." if group else "")[last].params:
            said = (tuple(one.opts), tuple(one.secondary_opts), one.help)
            for option in one.opts if one.param_type_name == "option" else ():
                meanings.setdefault(option, {}).setdefault(str(said), set()).add(name)
    assert {"--output", "-o", "--train", "--json"} <= meanings.keys()
    assert {option: each for option, each in meanings.items() if len(each) > 1} == {}


def test_corpora_to_learn_from_and_to_score_on_are_options() -> None:
    """Positional are only the Docs that a command is about: it scores, annotates or adds them."""
    positional = {}
    for name in PLACES:
        group, _, last = name.rpartition(".")
        command = Commands(f"{group}." if group else "")[last]
        options = {o for p in command.params if p.param_type_name == "option" for o in p.opts}
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        assert not {"train", "dev"} & {p.name for p in arguments}, name
        for corpus in ("TRAIN", "DEV"):
            if re.search(rf"\b{corpus}\b(?!\.spacy)", command.help):
                assert f"--{corpus.lower()}" in options, name
        positional[name] = [p.name for p in arguments if p.name in ("data", "corpus", "docs")]
    assert {name: found for name, found in positional.items() if found} == {
        "adapt": ["data"], "combine.jackknife": ["corpus"], "evaluate": ["data"],
    }  # fmt: skip


def default(command: str, option: str) -> Any:
    group, _, name = command.rpartition(".")
    (found,) = (one for one in Commands(f"{group}." if group else "")[name].params
                if one.name == option)  # fmt: skip
    return found.show_default if found.multiple else found.default


def test_defaults_are_those_of_the_functions_behind() -> None:
    """The help of a command does not import them."""
    from spacy_cascade.systems.dictionaries.growing import collecting as grow_list
    from spacy_cascade.systems.dictionaries.growing import formatting
    from spacy_cascade.systems.reranking import training as train_reranker
    from spacy_cascade.systems.reranking import tuning as tune_reranker
    from spacy_cascade.systems.unlabelled.pseudo_labels import Confidence
    from spacy_cascade.systems.unlabelled.rounds import ROUNDS
    from spacy_cascade.tools.annotation import adapting as adapt
    from spacy_cascade.tools.annotation.suggest import Options
    from spacy_cascade.tools.reports.page import N_MISTAKES
    from spacy_cascade.tools.words import making

    listed = {
        ("adapt", "updates"): adapt.UPDATES,
        ("evaluate", "mistakes"): N_MISTAKES,
        ("suggest", "sentences"): Options().n,
        ("suggest", "measure"): Options().measure,
        ("suggest", "diversity"): Options().diversity,
        ("combine.cotrain", "threshold"): Confidence().threshold,
        ("combine.cotrain", "background"): Confidence().background,
        ("combine.cotrain", "rounds"): ROUNDS,
        ("lists.collect", "min_confidence"): grow_list.Thresholds().confidence,
        ("lists.collect", "min_contexts"): grow_list.Thresholds().contexts,
        ("lists.collect", "min_agreement"): grow_list.Thresholds().agreement,
        ("lists.grow", "min_seeds"): formatting.Thresholds().seeds,
        ("lists.grow", "min_share"): formatting.Thresholds().share,
        ("rerank.train", "passes"): train_reranker.PASSES,
        ("rerank.train", "scale"): values(train_reranker.SCALES),
        ("rerank.train", "weight"): values(train_reranker.WEIGHTS),
        ("rerank.tune", "weight"): values(tune_reranker.WEIGHTS),
        ("rerank.tune", "n_best"): values(tune_reranker.SIZES),
    }
    names = ("max_words", "min_count", "dimensions", "epochs", "max_texts", "processes", "seed")
    listed |= {("words.make", name): getattr(making.Settings(), name) for name in names}
    assert {place: default(*place) for place in listed} == listed


def values(tried: Any) -> str:
    return ", ".join(f"{value:g}" for value in tried)


def test_choices_are_those_of_the_functions_behind() -> None:
    from spacy_cascade.systems.unlabelled import command as cotrain
    from spacy_cascade.systems.unlabelled.teachers import Method
    from spacy_cascade.tools.folding import calibrate_command as calibrate
    from spacy_cascade.workflows.decoding import Decoding

    for ours, theirs in ((calibrate.Decoding, Decoding), (cotrain.Method, Method)):
        assert [one.value for one in ours] == [one.value for one in theirs]
