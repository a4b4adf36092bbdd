"""The command group `spacy cascade`.

spaCy imports this module through the entry point group `spacy_cli` before it reads its command
line, so the group is part of spaCy's commands by then. Each command is one module and one line
below.
"""

from typing import Annotated

import typer
from spacy.cli._util import app as spacy_app

from .lazy_commands import command, command_with_overrides, group_of
from .output import DEBUG

_COMMANDS = {
    "adapt": command("adapt:adapt_command"),
    "annotate": command("annotate:annotate_command"),
    "calibrate": command("calibrate:calibrate_command"),
    "cluster": command("cluster:cluster_command"),
    "convert": command("convert:convert_command"),
    "cotrain": command_with_overrides("cotrain:cotrain_command"),
    "debug-data": command_with_overrides("debug_data:debug_data_command"),
    "distill": command_with_overrides("distill:distill_command"),
    "ensemble": command_with_overrides("ensemble:ensemble_command"),
    "evaluate": command("evaluate:evaluate_command"),
    "explain": command("explain:explain_command"),
    "export": command("export:export_command"),
    "grow-lexicon": command("grow_lexicon:grow_lexicon_command"),
    "grow-list": command("grow_list:grow_list_command"),
    "hypotheses": command("hypotheses:hypotheses_command"),
    "induce": command_with_overrides("induce:induce_command"),
    "init": command("init:init_command"),
    "jackknife": command_with_overrides("jackknife:jackknife_command"),
    "label-studio": command("label_studio:label_studio_command"),
    "learn": command("learn:learn_command"),
    "readings": command("hypotheses:readings_command", hidden=True),
    "second-look": command_with_overrides("second_look:second_look_command"),
    "suggest": command("suggest:suggest_command"),
    "train-reranker": command("reranker:train_reranker_command"),
    "tune": command_with_overrides("tune:tune_command"),
    "tune-reranker": command("reranker:tune_reranker_command"),
}

app = typer.Typer(
    name="cascade",
    cls=group_of(_COMMANDS),
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def cascade(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors")] = False,
) -> None:
    """Commands for cascaded taggers and their training data."""
    DEBUG.is_on = debug


spacy_app.add_typer(app)
