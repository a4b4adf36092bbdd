"""What `init --auto` gains over the choice of the rules, on text that it did not choose by.

python -m benchmarks.suite.auto_search wikigold gum --data assets/suite

The search sees every second document of dev. Both pipelines, the first one and the one that is
kept at the end, are then scored on raw text of the other documents.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..lib.corpora import RAW_SUFFIX
from ..lib.processes import Result, TaskRunner
from ..reports.output import run
from .arguments import corpora_parser, for_each_corpus
from .corpora import CORPORA, Prepared


def search(train: str, dev: str, lang: str, folder: str, trainings: int) -> dict[str, Any]:
    """Search for a pipeline for a corpus. A search in the same folder builds on an earlier one.

    Returns the folder of the pipeline, the number of trainings, and the changes that were kept.
    """
    from spacy_cascade.tools.recipes.deciding import variants_for
    from spacy_cascade.tools.recipes.rules import BY_CORPUS
    from spacy_cascade.tools.recipes.suggesting import look_at, suggest
    from spacy_cascade.tools.search.auto import AutoSearch, Reports

    corpora = Path(train), Path(dev)
    profile = look_at(*corpora, {"lang": lang})
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


TRAININGS = 5


def rows_of(runner: TaskRunner, arguments: argparse.Namespace, name: str) -> list[Result]:
    """F1 of the rules' choice and of the search's, on both halves of dev; what was kept."""
    prepared = Prepared(runner, arguments.data)
    prepared.sizes(name)
    folder = prepared.folder(name)
    halves = {half: str(folder / f"dev-{half}.spacy") for half in ("chosen_by", "kept_out")}
    dev = str(folder / f"dev{RAW_SUFFIX}")
    runner.run("lib.corpora:every_second_doc", {"source": dev, "targets": list(halves.values())})
    search = {
        "train": str(folder / f"train{RAW_SUFFIX}"),
        "dev": halves["chosen_by"],
        "lang": CORPORA[name].lang,
        "folder": str(folder / "auto"),
    }
    row: Result = {"corpus": name}
    for key, budget in (("rules", 1), ("auto", arguments.trainings)):
        found = runner.run("suite.auto_search:search", {**search, "trainings": budget})
        scores = {
            half: runner.run(
                "suite.scoring:score_raw", {"model": found["model"], "dev": path}, repeat=key
            )
            for half, path in halves.items()
        }
        row[key] = {half: found_scores["f1"] for half, found_scores in scores.items()}
        row |= {"trainings": found["trainings"], "kept": found["kept"]}
    return [row]


def main() -> None:
    parser = corpora_parser(__doc__, "auto_search.json", nargs="*")
    parser.add_argument("--trainings", type=int, default=TRAININGS)
    run(parser, "auto_search", for_each_corpus(rows_of))


if __name__ == "__main__":
    main()
