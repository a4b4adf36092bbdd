"""The command group `spacy cascade`.

spaCy imports this module by the entry point group `spacy_cli` before it reads its
command line; the group is there because it is then already part of spaCy's own.
Each command is one module, and one line below.
"""

import typer
from spacy.cli._util import app as spacy_app

from spacy_cascade.cli.adapt import adapt_command
from spacy_cascade.cli.calibrate import calibrate_command
from spacy_cascade.cli.convert import convert_command
from spacy_cascade.cli.debug_data import debug_data_command
from spacy_cascade.cli.evaluate import evaluate_command
from spacy_cascade.cli.explain import explain_command
from spacy_cascade.cli.init import init_command
from spacy_cascade.cli.jackknife import jackknife_command
from spacy_cascade.cli.options import OVERRIDES
from spacy_cascade.cli.readings import readings_command
from spacy_cascade.cli.train_reranker import train_reranker_command
from spacy_cascade.cli.tune import tune_command
from spacy_cascade.cli.tune_reranker import tune_reranker_command

app = typer.Typer(
    name="cascade",
    help="Commands for cascaded taggers and their training data.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def group() -> None:
    """Without this, an app of one command would take the command's place."""


app.command("adapt", no_args_is_help=True)(adapt_command)
app.command("calibrate", no_args_is_help=True)(calibrate_command)
app.command("convert", no_args_is_help=True)(convert_command)
app.command("debug-data", no_args_is_help=True, context_settings=OVERRIDES)(debug_data_command)
app.command("evaluate", no_args_is_help=True)(evaluate_command)
app.command("explain", no_args_is_help=True)(explain_command)
app.command("init", no_args_is_help=True)(init_command)
app.command("jackknife", no_args_is_help=True, context_settings=OVERRIDES)(jackknife_command)
app.command("readings", no_args_is_help=True)(readings_command)
app.command("train-reranker", no_args_is_help=True)(train_reranker_command)
app.command("tune", no_args_is_help=True, context_settings=OVERRIDES)(tune_command)
app.command("tune-reranker", no_args_is_help=True)(tune_reranker_command)

spacy_app.add_typer(app)
