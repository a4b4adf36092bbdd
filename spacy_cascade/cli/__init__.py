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
    "adapt": command("spacy_cascade.tools.annotation.adapt_command:adapt_command"),
    "annotate": command("spacy_cascade.tools.bulk.command:annotate_command"),
    "calibrate": command("spacy_cascade.tools.folding.calibrate_command:calibrate_command"),
    "cluster": command("spacy_cascade.tools.clustering.command:cluster_command"),
    "convert": command("spacy_cascade.tools.formats.command:convert_command"),
    "cotrain": command_with_overrides("spacy_cascade.systems.unlabelled.command:cotrain_command"),
    "debug-data": command_with_overrides(
        "spacy_cascade.tools.recipes.debug_data_command:debug_data_command"
    ),
    "distill": command_with_overrides(
        "spacy_cascade.systems.ensembles.distill_command:distill_command"
    ),
    "ensemble": command_with_overrides(
        "spacy_cascade.systems.ensembles.ensemble_command:ensemble_command"
    ),
    "evaluate": command("spacy_cascade.tools.reports.evaluate_command:evaluate_command"),
    "explain": command("spacy_cascade.tools.explaining.explain_command:explain_command"),
    "export": command("spacy_cascade.tools.formats.export_command:export_command"),
    "grow-lexicon": command(
        "spacy_cascade.systems.dictionaries.growing.lexicon_command:grow_lexicon_command"
    ),
    "grow-list": command(
        "spacy_cascade.systems.dictionaries.growing.list_command:grow_list_command"
    ),
    "hypotheses": command("spacy_cascade.tools.explaining.hypotheses_command:hypotheses_command"),
    "init": command("spacy_cascade.tools.init.command:init_command"),
    "jackknife": command_with_overrides(
        "spacy_cascade.tools.folding.jackknife_command:jackknife_command"
    ),
    "label-studio": command(
        "spacy_cascade.tools.annotation.label_studio_command:label_studio_command"
    ),
    "learn": command("spacy_cascade.tools.annotation.learn_command:learn_command"),
    "second-look": command_with_overrides(
        "spacy_cascade.systems.second_look.command:second_look_command"
    ),
    "suggest": command("spacy_cascade.tools.annotation.suggest_command:suggest_command"),
    "train-reranker": command("spacy_cascade.systems.reranking.commands:train_reranker_command"),
    "tune": command_with_overrides("spacy_cascade.tools.search.command:tune_command"),
    "tune-reranker": command("spacy_cascade.systems.reranking.commands:tune_reranker_command"),
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
