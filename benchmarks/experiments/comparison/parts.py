"""The parts of a comparison; each measures something and adds it to the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from ...lib.bootstrap import f1_of
from ...lib.machine import available_cores
from ...lib.package import for_stages
from ...lib.paths import CONFIGS
from ...lib.processes import Result
from ...peers.systems import OURS, SYSTEMS, Ours, System, TrainingSetup

RERANKED = 6
"""Length of the N-best lists for the trained reranker."""
RERANKED_TITLES = {
    "ocr_tuned": "OCR, reranked by both scores",
    "ocr_trained": "OCR, trained reranker",
}
_RERANKERS = {"output": "trained", "tuned_output": "tuned"}
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Shares of the training corpus; the whole corpus has its models already."""
CURVES = ("memb", "ocr", "ner")
FEW_SENTENCES = 2000
"""On fewer sentences models keep features that occur only once, as the README advises."""
_MIN_COUNTS = for_stages("model.min_count", 1)
NER_EVALUATIONS = 4
"""Evaluations of spaCy's `ner` on a part, which take as long as the training itself."""
LABELS = (1, 2, 4, 8, 16, 32)
LABEL_DOCS = 30


@dataclass(frozen=True)
class Comparison:
    """The systems, the corpora, and how often each system is measured.

    evaluated: the corpus for the reported scores; test, or dev where there is no test.
    """

    setup: TrainingSetup
    chosen: dict[str, System]
    evaluated: Path
    test: Path | None
    repeats: int
    rounds: int
    at_once: int
    shares: tuple[float, ...]
    ner_part_seconds: float

    def model(self, name: str) -> str:
        return str(self.setup.models / name)

    @property
    def ours(self) -> list[str]:
        return [system.name for system in OURS if system.name in self.chosen]

    @property
    def learners(self) -> list[str]:
        return [name for name in CURVES if name in self.chosen]


def train(comparison: Comparison, results: Result) -> None:
    """Train all systems, in turn, as often as `repeats` says."""
    # The longest trainings come first, so that no core waits for them in the end.
    order = sorted(comparison.chosen.values(), key=lambda system: system in OURS)
    queue = [(system, repeat) for repeat in range(comparison.repeats) for system in order]
    jobs = [partial(_train_one, system, comparison.setup, repeat) for system, repeat in queue]
    runs = comparison.setup.runner.run_in_parallel(jobs, comparison.at_once)
    for name, system in comparison.chosen.items():
        own = [run for run, (of, _) in zip(runs, queue, strict=True) if of is system]
        first, seconds = own[0], [system.seconds(run) for run in own]
        results["models"][name] = {
            "title": system.title,
            "reader": system.reader,
            "seconds": median(seconds),
            "all_seconds": seconds,
            "series": system.series(first),
            "peak_memory_megabytes": first["peak_memory_megabytes"],
            **_sizes(first),
        }


def _train_one(system: System, setup: TrainingSetup, repeat: int) -> Result:
    begin = perf_counter()
    result = system.train(setup, repeat)
    print(f"  {system.title}: {perf_counter() - begin:.0f} s with scoring", flush=True)
    return result


def _sizes(run: Result) -> Result:
    components = run.get("components")
    if components:
        names = ("features", "weights")
        return {n: sum(component[n] for component in components.values()) for n in names}
    return {"features": run["features"]} if "features" in run else {}


def rerank(comparison: Comparison, results: Result) -> None:
    """Rerankers for OCR: by the scores of both stages, and with trained weights."""
    models = results["models"]
    made, oracle = (job() for job in _reranking_jobs(comparison))
    seconds = made["tuning_seconds"], made["training_seconds"]
    for (name, title), more in zip(RERANKED_TITLES.items(), seconds, strict=True):
        models[name] = {
            "title": title,
            "reader": "spacy",
            "seconds": models["ocr"]["seconds"] + more,
            "peak_memory_megabytes": made["peak_memory_megabytes"],
            "series": [],
        }
    # Our models come before the peers.
    order = [*(system.name for system in OURS), *RERANKED_TITLES]
    results["models"] = {
        **{name: models[name] for name in order if name in models},
        **{name: model for name, model in models.items() if name not in order},
    }
    results["nbest"] = {
        "curves": {
            "oracle F1 of spans": oracle["curve"],
            "reranked by both scores": made["curve_tuned"],
            "reranked with learnt features": made["curve_trained"],
        },
        "settings": {"tuned": made["tuned"], "trained": made["trained"]},
    }


def _reranking_jobs(comparison: Comparison) -> list[Callable[[], Result]]:
    run, corpora = comparison.setup.runner.run, comparison.setup.corpora(".spacy")
    model = comparison.model("ocr")
    paths = {name: comparison.model(f"ocr_{made}") for name, made in _RERANKERS.items()}
    return [
        partial(
            run, "lib.reranking:rerank", {"model": model, **corpora, **paths, "n_best": RERANKED}
        ),
        partial(run, "lib.reranking:oracle", {"model": model, "dev": corpora["dev"]}),
    ]


def evaluate(comparison: Comparison, results: Result) -> None:
    """Scores, speed and calibration of the trained models."""
    models = results["models"]
    paths = {name: [comparison.model(name), model["reader"]] for name, model in models.items()}
    runner = comparison.setup.runner
    run = runner.run
    data = str(comparison.evaluated)
    found = run(
        "peers.evaluation:evaluate", {"models": paths, "data": data, "rounds": comparison.rounds}
    )
    for name, model in models.items():
        evaluated = found["models"][name]
        seconds = evaluated.pop("seconds")
        model["tokens_per_second"] = found["tokens"] / median(seconds) if seconds else None
        model["first_tokens_per_second"] = found["tokens"] / evaluated.pop("first_seconds")
        model.update(evaluated)
    arguments = {
        "dev": f"{comparison.setup.dev}.spacy",
        "test": str(comparison.test) if comparison.test else None,
    }
    jobs = [
        partial(run, "peers.evaluation:calibration", {**arguments, "model": comparison.model(name)})
        for name in comparison.ours
    ]
    calibrations = runner.run_in_parallel(jobs, available_cores())
    for name, calibration in zip(comparison.ours, calibrations, strict=True):
        models[name]["calibration"] = calibration


def learn_from_parts(comparison: Comparison, results: Result) -> None:
    """Learning curves: F1 by the share of the training corpus."""
    learning = _learning(comparison)
    for job in learning.jobs:
        job()
    names = comparison.learners
    models = {name: [comparison.model(name), comparison.chosen[name].reader] for name in names}
    read = list({**learning.models, **models}.items())
    runner = comparison.setup.runner
    evaluate = partial(runner.run, "peers.evaluation:evaluate")
    common = {"data": str(comparison.evaluated), "rounds": 0}
    halves = read[::2], read[1::2]
    jobs = [partial(evaluate, {"models": dict(half), **common}) for half in halves]
    f1 = {
        name: f1_of(counts["by_label"].values())
        for found in runner.run_in_parallel(jobs, available_cores())
        for name, counts in found["models"].items()
    }
    shares = [*comparison.shares, 1.0]
    results["learning"] = {
        "parts": {str(share): size for share, size in learning.sizes.items()},
        "curves": {
            name: [(100 * share, f1[_name_of(name, share)]) for share in shares] for name in names
        },
    }


@dataclass(frozen=True)
class Learning:
    """Parts of the corpus by their share, and the models that are trained on them.

    jobs: trainings that are still to be run. models: their paths and readers by name.
    """

    sizes: dict[float, Result]
    jobs: list[Callable[[], Result]]
    models: dict[str, list[str]]


def _learning(comparison: Comparison) -> Learning:
    setup, found = comparison.setup, Learning({}, [], {})
    for share in comparison.shares:
        path = setup.models / f"part-{share:g}"
        cut = {"train": f"{setup.train}.spacy", "output": f"{path}.spacy", "share": share}
        size = setup.runner.run("lib.corpora:first_docs", {**cut, "seed": 0})
        found.sizes[share] = size
        own = replace(
            setup, train=path, threads=1, ner_seconds=comparison.ner_part_seconds,
            ner_evaluations=NER_EVALUATIONS,
        )  # fmt: skip
        for name in comparison.learners:
            system = replace(SYSTEMS[name], name=_name_of(name, share))
            if isinstance(system, Ours) and size["sentences"] < FEW_SENTENCES:
                system = replace(system, overrides={**system.overrides, **_MIN_COUNTS})
            found.jobs.append(partial(system.train, own, repeat=0))
            found.models[system.name] = [str(system.model(setup.models)), system.reader]
    return found


def _name_of(name: str, share: float) -> str:
    """The name of a model that is trained on a share; on all, it is that of the system."""
    return name if share == 1.0 else f"{name}@{share:g}"


def train_ahead(comparison: Comparison, parts: Sequence[str]) -> None:
    """Train on all cores what parts need besides the models; they take it from the runner."""
    jobs = _reranking_jobs(comparison) if "reranking" in parts else []
    if "learning" in parts:
        jobs += reversed(_learning(comparison).jobs)
    comparison.setup.runner.run_in_parallel(jobs, comparison.at_once)


def compare_threads(comparison: Comparison, results: Result) -> None:
    """Seconds of an update of MEMB by the number of threads."""
    cores = available_cores()
    counts = [n for n in sorted({1, 2, 4, 8, cores}) if n <= cores]
    arguments = {
        "config": str(CONFIGS / "memb.cfg"),
        "train": f"{comparison.setup.train}.spacy",
        "counts": counts,
        "rounds": 4,
    }
    run = comparison.setup.runner.run
    found = run("lib.training:compare_threads", arguments, cores=counts[-1])
    seconds = [median(of_count[2:]) for of_count in found["seconds"]]
    results["threads"] = {
        "counts": counts,
        "update_seconds": seconds,
        "speed_ups": [seconds[0] / s for s in seconds],
        "same_weights": found["same_weights"],
    }


def compare_labels(comparison: Comparison, results: Result) -> None:
    """Seconds of an iteration by the number of types."""
    arguments = {"train": f"{comparison.setup.train}.spacy", "counts": LABELS, "docs": LABEL_DOCS}
    results["labels"] = comparison.setup.runner.run("lib.label_cost:label_cost", arguments)


PARTS: dict[str, Callable[[Comparison, Result], None]] = {
    "models": train,
    "reranking": rerank,
    "scores": evaluate,
    "learning": learn_from_parts,
    "threads": compare_threads,
    "labels": compare_labels,
}
NEEDED = ("models", "scores")
"""Parts of every report."""


def chosen_parts(names: list[str], models: Mapping[str, System]) -> list[str]:
    """The parts to run, in order. Those that may be left out need MEMB; reranking needs OCR."""
    wanted = {n for n in names if ("ocr" if n == "reranking" else "memb") in models}
    return [name for name in PARTS if name in NEEDED or name in wanted]
