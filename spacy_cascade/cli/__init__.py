"""The command group `spacy cascade`.

spaCy imports this module through the entry point group `spacy_cli` before it reads its command
line, so the group is part of spaCy's commands by then. Each command is one module and one line
below.
"""

from functools import partial
from typing import Annotated

import typer
from spacy.cli._util import app as spacy_app

from .adapt import adapt_command
from .annotate import annotate_command
from .calibrate import calibrate_command
from .cluster import cluster_command
from .convert import convert_command
from .cotrain import cotrain_command
from .debug_data import debug_data_command
from .distill import distill_command
from .ensemble import ensemble_command
from .evaluate import evaluate_command
from .explain import explain_command
from .export import export_command
from .grow_lexicon import grow_lexicon_command
from .grow_list import grow_list_command
from .hypotheses import hypotheses_command, readings_command
from .induce import induce_command
from .init import init_command
from .jackknife import jackknife_command
from .label_studio import label_studio_command
from .learn import learn_command
from .options import OVERRIDES
from .output import DEBUG
from .reranker import train_reranker_command, tune_reranker_command
from .second_look import second_look_command
from .suggest import suggest_command
from .tune import tune_command

app = typer.Typer(
    name="cascade",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def cascade(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors")] = False,
) -> None:
    """Commands for cascaded taggers and their training data."""
    DEBUG.is_on = debug


_command = partial(app.command, no_args_is_help=True)

_command("adapt")(adapt_command)
_command("annotate")(annotate_command)
_command("calibrate")(calibrate_command)
_command("cluster")(cluster_command)
_command("convert")(convert_command)
_command("cotrain", context_settings=OVERRIDES)(cotrain_command)
_command("debug-data", context_settings=OVERRIDES)(debug_data_command)
_command("distill", context_settings=OVERRIDES)(distill_command)
_command("ensemble", context_settings=OVERRIDES)(ensemble_command)
_command("evaluate")(evaluate_command)
_command("explain")(explain_command)
_command("export")(export_command)
_command("grow-lexicon")(grow_lexicon_command)
_command("grow-list")(grow_list_command)
_command("hypotheses")(hypotheses_command)
_command("induce", context_settings=OVERRIDES)(induce_command)
_command("init")(init_command)
_command("jackknife", context_settings=OVERRIDES)(jackknife_command)
_command("label-studio")(label_studio_command)
_command("learn")(learn_command)
_command("readings", hidden=True)(readings_command)
_command("second-look", context_settings=OVERRIDES)(second_look_command)
_command("suggest")(suggest_command)
_command("train-reranker")(train_reranker_command)
_command("tune", context_settings=OVERRIDES)(tune_command)
_command("tune-reranker")(tune_reranker_command)

spacy_app.add_typer(app)
