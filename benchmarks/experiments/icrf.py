"""Two chains trained jointly (ICRF) beside the same chains trained apart, and ways to decode them.

python -m benchmarks.experiments.icrf corpus/conll2003/train.spacy corpus/conll2003/testa.spacy

Phrase chunks, then entities given the chunks, with the thesis's templates and with ours. Each
training sees a random part of train and is judged on other documents of train and on dev. With
`--entities NAME TRAIN DEV`, the chains of `icrf.cfg` (entities, then their types) on another
corpus; with `--whole NAME TRAIN DEV` these on all of train, once.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_cascade.pipeline.spans.nbest import candidates_by_doc

from ..lib.arguments import add_at_once, existing, new_parser
from ..lib.corpora import read_docs, write_docs
from ..lib.package import (
    TOKENS_GIVEN,
    Settings,
    component,
    gold_rows,
    read_examples,
    rows_of_path,
    show_ranked_spans,
)
from ..lib.processes import Result, TaskRunner
from ..lib.timing import Stopwatch
from ..lib.training import build, initialize, update
from ..lib.variants import config_path
from ..reports.markdown import by, machine_sentence, table
from ..reports.output import run

Floats = npt.NDArray[np.float64]
Paths = npt.NDArray[np.int32]
DECODINGS = ("product", "scores", "mixture")
"""Ways to use the `N` best paths of the first chain: the product of both probabilities, the sum of
both scores, and one path `z` under the scores that the second chain has on average."""


def fold(
    train: str, kept: str, held_back: str, share: float, most: int, seed: int
) -> dict[str, int]:
    """Write a random part of the Docs of a corpus, and up to `most` others to judge on."""
    docs = read_docs(train)
    random.Random(seed).shuffle(docs)
    n = round(share * len(docs))
    parts = docs[:n], docs[n : n + most]
    for part, path in zip(parts, (kept, held_back), strict=True):
        write_docs(part, Path(path))
    return {"kept": len(parts[0]), "held_back": len(parts[1])}


def train_chains(
    config: str,
    train: str,
    model: str,
    schedule: Sequence[tuple[float, int]],
    overrides: Mapping[str, Any],
) -> dict[str, Any]:
    """Train with one strength `C` of the constraint after the other.

    schedule: each strength, and the updates that it has. overrides: settings by their dotted names.
    """
    nlp, _ = build(config, 1, overrides=overrides)
    examples, watch = read_examples(train, nlp), Stopwatch()
    initialize(nlp, examples, watch)
    second = component(nlp, nlp.pipe_names[-1])
    for strength, updates in schedule:
        second.trainer = replace(second.trainer, C=strength)
        second.reset_fit()
        for _ in range(updates):
            update(nlp, examples, watch)
    nlp.to_disk(model)
    return {"seconds": watch.passed, "terms": second._fit.terms()}


@dataclass(frozen=True)
class Hypotheses:
    """For each of `N` ranks and `S` sentences; `-inf` where a sentence has fewer paths.

    first, second: scores of the best paths `[N, S]`. first_logs, second_logs: their
    log-probabilities. paths: of the second chain `[N, T]`. potentials: of each rank.
    """

    starts: npt.NDArray[np.int64]
    first: Floats
    first_logs: Floats
    second: Floats
    second_logs: Floats
    paths: Paths
    potentials: Sequence[Any]


def hypotheses(nlp: Language, examples: Sequence[Example], n: int) -> Hypotheses:
    """The hypotheses of the predicted Docs, which have the first chain's spans of the last rank."""
    one, two = (component(nlp, name) for name in nlp.pipe_names[-2:])
    docs = [example.predicted for example in examples]
    batch = one.scored(docs)
    paths, first = batch.best_paths(n)
    first_logs = first - batch.structure.log_partitions(batch.potentials)
    of_docs = candidates_by_doc(batch.ranked(paths, first, True), batch.tokens)
    ranks = []
    for k in range(n):
        show_ranked_spans(one, docs, of_docs, k)
        potentials = two.scored(docs).potentials
        path, scores = two.structure.best(potentials)
        logs = scores - two.structure.log_partitions(potentials)
        ranks.append((path, scores, logs, potentials))
    found, second, second_logs, of_ranks = zip(*ranks, strict=True)
    return Hypotheses(
        of_ranks[0].starts, first, first_logs, np.stack(second), np.stack(second_logs),
        np.stack(found), of_ranks,
    )  # fmt: skip


def decode(found: Hypotheses, n: int, way: str, structure: Any) -> Paths:
    """A path of the second chain for each sentence `[T]`, from the `n` best of the first."""
    if way == "mixture":
        return _decode_mixture(found, n, structure)
    if way == "product":
        totals = found.first_logs[:n] + found.second_logs[:n]
    else:
        totals = found.first[:n] + found.second[:n]
    totals = np.where(np.isfinite(found.first[:n]), totals, -np.inf)
    rank = np.repeat(totals.argmax(axis=0), np.diff(found.starts))
    chosen: Paths = found.paths[rank, np.arange(found.paths.shape[1])]
    return chosen


def _decode_mixture(found: Hypotheses, n: int, structure: Any) -> Paths:
    shares = np.exp(found.first_logs[:n] - found.first_logs[:n].max(axis=0))
    shares /= shares.sum(axis=0)
    of_units = np.repeat(shares, np.diff(found.starts), axis=1)
    scores = sum(
        share[:, None] * potentials.scores
        for share, potentials in zip(of_units, found.potentials, strict=False)
    )
    path: Paths = structure.best(found.potentials[0].replace(scores=scores))[0]
    return path


def score_decodings(model: str, part: str, sizes: Sequence[int], at_once: int = 50) -> Any:
    """F1 of entities by every way of decoding, and of the first chain's spans.

    sizes: numbers `N` of paths of the first chain; 1 is Viterbi on one after the other.
    """
    nlp = spacy.load(model)
    two = component(nlp, nlp.pipe_names[-1])
    examples = read_examples(part, nlp)
    ways = {"Viterbi": (1, "product")}
    ways |= {f"{way}, N = {n}": (n, way) for n in sizes for way in DECODINGS}
    counts = {name: np.zeros(3) for name in ways}
    for begin in range(0, len(examples), at_once):
        batch = examples[begin : begin + at_once]
        found = hypotheses(nlp, batch, max(sizes))
        wanted = gold_rows(two, batch, found.starts)
        for name, (n, way) in ways.items():
            path = decode(found, n, way, two.structure)
            rows = rows_of_path(two, path, found.starts)
            counts[name] += [len(rows & wanted), len(rows), len(wanted)]
    return {name: float(200.0 * c[0] / max(1.0, c[1] + c[2])) for name, c in counts.items()}


SIZES = (2, 5)
"""Numbers of paths of the first chain."""
HELD_BACK = 100
"""Docs of train to judge on."""
PART = 0.8
"""Share of a further corpus that is trained on."""
Schedule = tuple[tuple[float, int], ...]
"""Strengths of the constraint, and the updates that each of them has."""

THESIS: Settings = {
    "components.cascade_chunker.model.templates": {
        "@misc": "spacy_cascade.Conll2003ChunkTemplates.v1"
    },
    "components.cascade_entities.model.templates": {
        "@misc": "spacy_cascade.Conll2003EntityTemplates.v1",
        "extra": ["span(chunks)@-2..2"],
    },
}
"""The templates of tables 5.12 and 5.13 of the thesis."""
APART: Schedule = ((0.0, 3),)


GOLD_SENTENCES: Settings = {
    f"corpora.{part}.{name}": value
    for part in ("train", "dev")
    for name, value in (("@readers", TOKENS_GIVEN["@readers"]), ("gold_inputs", ["sentences"]))
}


@dataclass(frozen=True)
class System:
    """One setting.

    chains: the templates, or the corpus of entities and types. schedule: what is trained. settings:
    besides the config.
    """

    name: str
    chains: str
    config: str
    settings: Settings
    schedule: Schedule


def chunks_and_entities() -> list[System]:
    """Strengths of the constraint under both sets of templates, constant and on a schedule."""
    found = []
    for templates, settings, strengths in (
        ("thesis", THESIS, (0.001, 0.01, 0.1)),
        ("ours", {}, (0.001, 0.01)),
    ):
        schedules: dict[str, Schedule] = {"CRF + CRF": APART}
        schedules |= {f"ICRF, C = {c:g}": ((c, 3),) for c in strengths}
        if templates == "thesis":
            schedules["ICRF, C rising to 0.01"] = ((0.0, 1), (0.001, 1), (0.01, 1))
        for name, schedule in schedules.items():
            found.append(System(name, templates, "conll2003_icrf.cfg", settings, schedule))
    return found


def entities_and_types(corpus: str, strengths: Sequence[float] = (0.001, 0.01)) -> list[System]:
    """Strengths of the constraint on the chains of `icrf.cfg`."""
    schedules: dict[str, Schedule] = {"CRF + CRF": ((0.0, 5),)}
    schedules |= {f"ICRF, C = {c:g}": ((c, 5),) for c in strengths}
    return [
        System(name, corpus, "icrf.cfg", GOLD_SENTENCES, schedule)
        for name, schedule in schedules.items()
    ]


@dataclass(frozen=True)
class Study:
    """Trainings on random parts of a corpus. share: of it, 1 for all, with nothing kept back."""

    runner: TaskRunner
    name: str
    train: Path
    dev: Path
    share: float

    def corpora(self, seed: int) -> dict[str, str]:
        """The paths of a part to train on, of the rest, and of dev."""
        if self.share == 1.0:
            return {"train": str(self.train), "dev": str(self.dev)}
        folder = self.runner.work / f"{self.name}-{seed}"
        folder.mkdir(exist_ok=True)
        kept, held_back = (str(folder / f"{name}.spacy") for name in ("train", "rest"))
        self.runner.run(
            "experiments.icrf:fold",
            {
                "train": str(self.train), "kept": kept, "held_back": held_back,
                "share": self.share, "most": HELD_BACK, "seed": seed,
            },
        )  # fmt: skip
        return {"train": kept, "held back": held_back, "dev": str(self.dev)}

    def row(self, system: System, seed: int) -> Result:
        """F1 of one training by each way of decoding."""
        corpora = self.corpora(seed)
        name = f"{system.chains}-{system.name}-{seed}".replace(" ", "")
        model = str(self.runner.work / name)
        arguments: dict[str, Any] = {
            "config": str(config_path(system.config)), "train": corpora["train"], "model": model,
            "schedule": system.schedule, "overrides": system.settings,
        }  # fmt: skip
        trained = self.runner.run("experiments.icrf:train_chains", arguments)
        scores = {
            part: self.runner.run(
                "experiments.icrf:score_decodings",
                {"model": model, "part": corpora[part], "sizes": SIZES},
            )
            for part in corpora
            if part != "train"
        }
        found = {"chains": system.chains, "system": system.name, "seed": seed}
        print(*found.values(), *(f"{part['Viterbi']:.2f}" for part in scores.values()), flush=True)
        return {**found, **trained, "scores": scores}


def jobs(study: Study, systems: Sequence[System], seeds: int) -> list[Callable[[], Result]]:
    return [partial(study.row, system, seed) for seed in range(seeds) for system in systems]


APART, VITERBI = "CRF + CRF", "Viterbi"
TITLES = {
    "thesis": "Phrase chunks and entities, templates of the thesis",
    "ours": "Phrase chunks and entities, our templates",
}
PARTS = {"dev": "dev", "held back": "documents of train that were kept back"}


def make_report(results: Result) -> str:
    rows = results["rows"]
    parts = [
        "# Two chains, trained jointly and decoded jointly\n",
        "F1 of entities in percent, as means over random parts of train. Each table has the two "
        "chains trained apart (CRF + CRF) and trained jointly (ICRF) with a strength `C` of the "
        "constraint. Viterbi decodes one chain after the other. The other columns take the `N` "
        "best paths of the first chain: product, by the probabilities of both chains; scores, by "
        "the sum of both scores; mixture, by the mean scores of the second chain. The change is to "
        "CRF + CRF with Viterbi. Chains of phrase chunks and entities were trained on "
        f"{100 * results['share']:.0f} % of CoNLL-2003, chains of entities and their types on "
        f"{100 * results['part']:.0f} % of another corpus, or on all of it where nothing is kept "
        f"back.\n\n{machine_sentence(results['machine'])}\n",
    ]
    for chains, own in by(rows, "chains").items():
        for part, title in PARTS.items():
            if all(part in row["scores"] for row in own):
                heading = TITLES.get(chains, f"Entities and types, {chains}")
                parts += [f"## {heading}: {title}\n", _table(own, part)]
    return "\n".join(parts)


def _table(rows: Iterable[Result], part: str) -> str:
    found = by(rows, "system")
    ways = [way for way in found[APART][0]["scores"][part] if way.startswith(_WAYS)]
    base = _mean(found[APART], part, VITERBI)
    lines = []
    for system, of_system in found.items():
        values = (_mean(of_system, part, way) for way in ways)
        lines.append([system, *(f"{value:.2f} ({value - base:+.2f})" for value in values)])
    seeds = len(found[APART])
    note = f"Means over {seeds} parts.\n" if seeds > 1 else "One training.\n"
    return table(["", *ways], lines) + "\n" + note


_WAYS = (VITERBI, "product", "scores", "mixture")


def _mean(rows: Iterable[Result], part: str, way: str) -> float:
    return mean(row["scores"][part][way] for row in rows)


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    study = Study(runner, "fold", arguments.train, arguments.dev, arguments.share)
    planned = jobs(study, chunks_and_entities(), arguments.seeds)
    for name, *paths in arguments.entities:
        study = Study(runner, name, *map(existing, paths), PART)
        planned += jobs(study, entities_and_types(name), arguments.seeds)
    for name, *paths in arguments.whole:
        study = Study(runner, name, *map(existing, paths), 1.0)
        planned += jobs(study, entities_and_types(name, (0.001,)), 1)
    rows = runner.run_in_parallel(planned, arguments.at_once)
    return {"share": arguments.share, "part": PART, "rows": rows}


def main() -> None:
    parser = new_parser(__doc__, "train", "dev", output="icrf.json")
    parser.add_argument("--share", type=float, default=0.3, help="of train that is trained on")
    parser.add_argument("--seeds", type=int, default=2, help="random parts of train")
    for option in ("--entities", "--whole"):
        parser.add_argument(
            option, nargs=3, action="append", default=[], metavar=("NAME", "TRAIN", "DEV")
        )
    add_at_once(parser)
    run(parser, "icrf", measure, make_report)


if __name__ == "__main__":
    main()
