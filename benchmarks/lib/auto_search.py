"""The search of `spacy cascade init --auto` as a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def search(train: str, dev: str, lang: str, folder: str, trainings: int) -> dict[str, Any]:
    """Search for a pipeline for a corpus. A search in the same folder builds on an earlier one.

    Returns the folder of the pipeline, the number of trainings, and the changes that were kept.
    """
    from spacy_cascade.tools.recipes.deciding import variants_for
    from spacy_cascade.tools.recipes.rules import BY_CORPUS
    from spacy_cascade.tools.recipes.suggesting import look_at, suggest
    from spacy_cascade.tools.search.auto import AutoSearch, Reports

    corpora = Path(train), Path(dev)
    profile = look_at(*corpora, lang)
    suggestion = suggest(profile, {"train": corpora[0], "dev": corpora[1], "lang": lang})
    variants = variants_for(BY_CORPUS, profile, suggestion.choices.recipe.value)
    task = AutoSearch(
        suggestion.config, variants, BY_CORPUS, *corpora, Path(folder), trainings=trainings
    )
    found = task.run(Reports(*[lambda *_: None] * 4))
    steps = [step for step in found.steps if step.is_kept and step.candidate.variant is not None]
    return {
        "model": str(task.pipeline),
        "trainings": len(found.steps),
        "kept": [step.candidate.name for step in steps],
    }
