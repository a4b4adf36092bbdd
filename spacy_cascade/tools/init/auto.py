"""Trainings of `spacy cascade init --auto`: what they print, and what they leave."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from tqdm import tqdm

from ...cli.output import (
    STOPPED,
    counted,
    percent,
    print_good,
    print_info,
    print_warning,
    write_text,
)
from ..recipes.configs import with_filled
from ..recipes.deciding import Rules, section_of, variants_for
from ..recipes.describing import suggested_text
from ..recipes.profile import Profile
from ..recipes.rules import BY_CORPUS
from ..recipes.suggesting import Suggestion
from ..search.auto import AutoSearch, Reports
from ..search.greedy import THRESHOLD, Candidate, Search, Step
from ..search.trials import Settings, Trial


@dataclass(frozen=True)
class Budget:
    """What may be spent (`tools.search.auto.AutoSearch`)."""

    trainings: int
    folds: int
    processes: int


def search_config(
    output: Path,
    folder: Path,
    profile: Profile,
    suggestion: Suggestion,
    budget: Budget,
    rules: Rules = BY_CORPUS,
) -> None:
    """Find the best config and pipeline, and write them to output and `folder/model-best`."""
    choices = suggestion.choices
    assert choices.train is not None
    search = AutoSearch(
        suggestion.config,
        variants_for(rules, profile, choices.recipe.value),
        rules,
        choices.train,
        choices.dev,
        folder,
        budget.trainings,
        min(budget.folds, profile.documents),
        budget.processes,
    )
    found = _run(search)
    settings: Settings = {} if found.best is None else found.best.settings
    text = suggested_text(
        output,
        profile,
        suggestion,
        config=with_filled(suggestion.config, settings),
        comments=_comments(suggestion, found.steps),
        tried=_table(found.steps, choices.dev),
    )
    write_text(output, text)
    _tell(search, found, output)


def _run(search: AutoSearch) -> Search:
    """Run it with a line for what begins and ends, and a bar with the time left in a terminal."""
    each = "" if search.dev else f", each of them {search.folds} for the folds of {search.train}"
    print_info(
        f"{counted(search.trainings, 'training')} at most, {search.at_once} at a time{each}. "
        "Ctrl-C ends them and keeps the best one so far."
    )
    total = search.trainings
    with tqdm(total=total, desc="Trainings", leave=False, disable=None) as bar:

        def begin(candidates: Sequence[Candidate]) -> None:
            names = " | ".join(candidate.name for candidate in candidates)
            bar.write(f"Training: {names}")
            bar.refresh()

        def done(candidate: Candidate, trial: Trial) -> None:
            bar.update()
            bar.write(f"  {percent(trial.score):>6}  {candidate.name}, {trial.seconds:.0f} s")

        def judged(steps: Sequence[Step]) -> None:
            for step in steps:
                if step.is_kept and step.candidate.variant is not None:
                    bar.write(f"Kept: {step.candidate.name} ({_gain(step)})")

        return search.run(Reports(begin, done, bar.refresh, judged))


def _tell(search: AutoSearch, found: Search, output: Path) -> None:
    """The last lines; exits with `STOPPED` after Ctrl-C."""
    if found.best is None:
        print_good(f"No training has ended. Config with the choice of the rules -> {output}")
    else:
        print_good(f"ents_f {percent(found.best.score)}. Config -> {output}")
        if search.pipeline.exists():
            print_good(f"Pipeline -> {search.pipeline}")
        if search.dev is None:
            print_info(
                f"The pipeline was trained on {search.folds - 1} of {search.folds} parts of the "
                "corpus. To train on all of it, give spacy train the config and --paths.dev."
            )
    if found.is_stopped:
        left = counted(found.left, "training")
        print_warning(f"Stopped with {left} left. The same command with --force goes on.")
        raise typer.Exit(STOPPED)


def _table(steps: Sequence[Step], where: Path | None) -> list[str]:
    """Comment lines: what was tried, and what came of it."""
    if not steps:
        return []
    rows = [
        f"{percent(step.score):>7}  {step.candidate.name}"
        + (
            f": {_gain(step)}, {'kept' if step.is_kept else 'not kept'}"
            if step.error or step.gain
            else ""
        )
        for step in steps
    ]
    return [
        f"Tried by --auto, F1 {f'on {where}' if where else 'over folds'}. A change is kept that "
        f"gains more than {THRESHOLD:g} standard errors:",
        *rows,
    ]


def _gain(step: Step) -> str:
    return f"{100 * step.gain:+.2f} ± {100 * step.error:.2f}"


def _comments(suggestion: Suggestion, steps: Sequence[Step]) -> dict[str, list[str]]:
    """Those of the suggestion, and the changes that were kept."""
    comments = {section: list(texts) for section, texts in suggestion.comments.items()}
    for section, text in _kept(steps):
        comments.setdefault(section, []).append(text)
    return comments


def _kept(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    known: set[str] = set()
    for step in steps:
        variant = step.candidate.variant
        if step.is_kept and variant is not None:
            settings = step.candidate.settings
            new = {name: value for name, value in settings.items() if name not in known}
            known |= new.keys()
            text = f"--auto changed it: {variant.name} ({_gain(step)} F1); {variant.because}."
            for name, value in new.items():
                yield section_of(name, value), text
