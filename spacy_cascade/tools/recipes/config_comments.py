"""The comments at the top of the configs that `spacy cascade init` writes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from thinc.api import Config

from . import Choices, comment, config_text
from .describing import describe
from .profile import Profile
from .suggesting import Suggestion

_TAGS = [
    "Both corpora need predicted tags, which python -m spacy cascade combine jackknife sets.",
    "The trained pipeline needs tags, too: add a cascade_tagger as its first component.",
]


def heading(output: Path, choices: Choices) -> str:
    """What a config for an unknown corpus is for, and how to train with it."""
    paths = "--paths.train train.spacy --paths.dev dev.spacy"
    lines = [
        f"Named entities, {choices.domain.value} text: spacy cascade init --recipe "
        f"{choices.recipe.value}",
        *_commands(output, paths),
        *(_TAGS if choices.tags else ()),
    ]
    return _lines(lines) + "\n"


def suggested_text(
    output: Path,
    profile: Profile,
    suggestion: Suggestion,
    *,
    config: Config | None = None,
    comments: Mapping[str, Sequence[str]] | None = None,
    tried: Sequence[str] = (),
) -> str:
    """The config for a corpus, with comments on what was seen and chosen.

    config, comments: in place of those of the suggestion. tried: lines about trainings.
    """
    choices = suggestion.choices
    command = f"Named entities: spacy cascade init --train {choices.train}"
    lines = [f"{command} --dev {choices.dev}" if choices.dev else command]
    lines += _commands(output, "" if choices.dev else "--paths.dev DEV.spacy")
    if choices.dev is None:
        lines.append("DEV.spacy: Docs to score on; scripts/hold_out.py takes them from a corpus.")
    text = _lines([*lines, *(_TAGS if choices.tags else ())])
    text += "#\n" + comment(["What was seen:", *describe(profile)])
    text += "#\n" + _lines(tried) if tried else ""
    return f"{text}\n" + config_text(
        suggestion.config if config is None else config,
        suggestion.comments if comments is None else comments,
    )


def train_command(output: Path, options: str = "") -> str:
    return f"python -m spacy train {output.name} --output OUT {options}".rstrip()


def _commands(output: Path, options: str) -> list[str]:
    debug = f"python -m spacy cascade debug-data {output.name} {options}".rstrip()
    return [debug, train_command(output, options)]


def _lines(lines: Sequence[str]) -> str:
    """Comments that are not wrapped: commands, and tables."""
    return "".join(f"# {line}\n" for line in lines)
