"""All our models and their peers on a corpus, in one report.

python benchmarks/compare.py train.spacy dev.spacy [test.spacy] --output results/mine.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import comparison_report
import learning
from contenders import CONTENDERS, OURS, PEERS, Contender, Setting, missing
from measure import (
    HERE,
    Laboratory,
    Result,
    available_cores,
    describe_machine,
    is_installed,
    load_average,
)

RERANKED = 6
"""Length of the N-best lists that the trained reranker chooses from."""
RERANKED_TITLES = {
    "ocr_tuned": "OCR, reranked by both scores",
    "ocr_trained": "OCR, trained reranker",
}
LABELS = (1, 2, 4, 8, 16, 32)
LABEL_DOCS = 30


@dataclass(frozen=True)
class Comparison:
    """Who takes part, on what, and how often each is measured.

    evaluated: the corpus that scores are reported on; dev, or test where there is one.
    """

    setting: Setting
    chosen: dict[str, Contender]
    evaluated: Path
    test: Path | None
    repeats: int
    rounds: int
    at_once: int
    shares: tuple[float, ...]
    ner_part_seconds: float

    def model(self, name: str) -> str:
        """Where a trained model is."""
        return str(self.setting.models / name)

    @property
    def ours(self) -> list[str]:
        """Names of our models."""
        return [c.name for c in OURS if c.name in self.chosen]


def train(comparison: Comparison, results: Result) -> None:
    """Train everyone, in turn; so many times each."""
    # What takes longest comes first, so that no core waits for it in the end.
    order = sorted(comparison.chosen.values(), key=lambda contender: contender in OURS)
    jobs = [
        partial(_train_one, contender, comparison.setting, repeat)
        for repeat in range(comparison.repeats)
        for contender in order
    ]
    made = comparison.setting.laboratory.side_by_side(jobs, comparison.at_once)
    runs: dict[str, list[Result]] = {name: [] for name in comparison.chosen}
    for job, run in zip(jobs, made, strict=True):
        runs[job.args[0].name].append(run)
    for name, contender in comparison.chosen.items():
        first, seconds = runs[name][0], [contender.seconds(run) for run in runs[name]]
        results["models"][name] = {
            "title": contender.title,
            "reader": contender.reader,
            "seconds": median(seconds),
            "all_seconds": seconds,
            "series": contender.series(first),
            "peak_memory_megabytes": first["peak_memory_megabytes"],
            **_sizes(first),
        }


def _train_one(contender: Contender, setting: Setting, repeat: int) -> Result:
    begin = perf_counter()
    result = contender.train(setting, repeat)
    print(f"  {contender.title}: {perf_counter() - begin:.0f} s with scoring", flush=True)
    return result


def _sizes(run: Result) -> Result:
    """Numbers of features and weights, where they are known."""
    components = run.get("components")
    if components:
        names = ("features", "weights")
        return {n: sum(component[n] for component in components.values()) for n in names}
    return {"features": run["features"]} if "features" in run else {}


def rerank(comparison: Comparison, results: Result) -> None:
    """Rerankers for OCR: by the scores of both stages, and with weights that are learnt."""
    models, corpora = results["models"], comparison.setting.corpora(".spacy")
    run = comparison.setting.laboratory.run
    paths = {
        "output": comparison.model("ocr_trained"),
        "tuned_output": comparison.model("ocr_tuned"),
    }
    made = run("rerank", {"model": comparison.model("ocr"), **corpora, **paths, "n_best": RERANKED})
    oracle = run("oracle", {"model": comparison.model("ocr"), "dev": corpora["dev"]})
    for name, seconds in zip(
        RERANKED_TITLES, (made["tuning_seconds"], made["training_seconds"]), strict=True
    ):
        models[name] = {
            "title": RERANKED_TITLES[name],
            "reader": "spacy",
            "seconds": models["ocr"]["seconds"] + seconds,
            "peak_memory_megabytes": made["peak_memory_megabytes"],
            "series": [],
        }
    # Beside OCR, before the peers.
    order = [c.name for c in OURS] + list(RERANKED_TITLES)
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


def assess(comparison: Comparison, results: Result) -> None:
    """Scores, speed and calibration of what was trained."""
    models = results["models"]
    paths = {name: [comparison.model(name), model["reader"]] for name, model in models.items()}
    laboratory = comparison.setting.laboratory
    run = laboratory.run
    data = str(comparison.evaluated)
    found = run("assess", {"models": paths, "data": data, "rounds": comparison.rounds})
    for name, model in models.items():
        assessed = found["models"][name]
        seconds = assessed.pop("seconds")
        model["tokens_per_second"] = found["tokens"] / median(seconds) if seconds else None
        model["first_tokens_per_second"] = found["tokens"] / assessed.pop("first_seconds")
        model.update(assessed)
    arguments = {
        "dev": f"{comparison.setting.dev}.spacy",
        "test": str(comparison.test) if comparison.test else None,
    }
    jobs = [
        partial(run, "calibration", {**arguments, "model": comparison.model(name)})
        for name in comparison.ours
    ]
    for name, found in zip(
        comparison.ours, laboratory.side_by_side(jobs, available_cores()), strict=True
    ):
        models[name]["calibration"] = found


def learn_from_parts(comparison: Comparison, results: Result) -> None:
    """Learning curves of MEMB, OCR and spaCy's `ner`."""
    names = [name for name in learning.CURVES if name in comparison.chosen]
    found = learning.train_on_parts(
        comparison.setting, comparison.shares, names, comparison.ner_part_seconds
    )
    models = {name: [comparison.model(name), comparison.chosen[name].reader] for name in names}
    arguments = {"models": {**found["models"], **models}, "data": str(comparison.evaluated)}
    scored = comparison.setting.laboratory.run("assess", {**arguments, "rounds": 0})["models"]
    f1 = {
        name: comparison_report.f1_of(counts["by_label"].values())
        for name, counts in scored.items()
    }
    results["learning"] = {
        "parts": {str(share): part for share, part in found["parts"].items()},
        "curves": learning.curves(f1, comparison.shares, names),
    }


def compare_threads(comparison: Comparison, results: Result) -> None:
    """Seconds of an update of MEMB by the number of threads."""
    counts = sorted({1, 2, 4, 8, available_cores()})
    counts = [n for n in counts if n <= available_cores()]
    arguments = {
        "config": str(HERE.parent / "configs/memb.cfg"),
        "train": f"{comparison.setting.train}.spacy",
        "counts": counts,
        "rounds": 4,
    }
    run = comparison.setting.laboratory.run
    found = run("compare_threads", arguments, cores=counts[-1])
    seconds = [median(of_count[2:]) for of_count in found["seconds"]]
    results["threads"] = {
        "counts": counts,
        "update_seconds": seconds,
        "speed_ups": [seconds[0] / s for s in seconds],
        "same_weights": found["same_weights"],
    }


def compare_labels(comparison: Comparison, results: Result) -> None:
    """Seconds of an iteration by the number of types."""
    arguments = {
        "train": f"{comparison.setting.train}.spacy",
        "counts": LABELS,
        "docs": LABEL_DOCS,
    }
    results["labels"] = comparison.setting.laboratory.run("label_cost", arguments)


PARTS: dict[str, Callable[[Comparison, Result], None]] = {
    "models": train,
    "reranking": rerank,
    "scores": assess,
    "learning": learn_from_parts,
    "threads": compare_threads,
    "labels": compare_labels,
}
NEEDED = ("models", "scores")
"""Parts that every report has."""


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path, help="chooses settings and when to stop")
    parser.add_argument("test", type=Path, nargs="?", help="to report on; without it, dev")
    parser.add_argument("--output", type=Path, default=HERE / "results/comparison.json")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="models and kernels")
    parser.add_argument("--models", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--no-peers", action="store_true", help="our models alone")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--threads", type=int, default=1, help="of our models; peers have one")
    parser.add_argument("--at-once", type=int, default=0, help="trainings at a time; 0: one a core")
    parser.add_argument("--repeats", type=int, default=1, help="of each training, in turn")
    parser.add_argument("--rounds", type=int, default=3, help="of each speed test, in turn")
    parser.add_argument("--peer-iterations", type=int, default=200, help="of crfsuite's L-BFGS")
    parser.add_argument("--ner-seconds", type=float, default=120, help="for spaCy's ner")
    parser.add_argument("--ner-part-seconds", type=float, default=25, help="on a part of train")
    parser.add_argument("--shares", type=float, nargs="+", default=learning.SHARES)
    parser.add_argument("--limit", type=int, default=0, help="documents of each corpus, 0: all")
    parser.add_argument("--reuse", action="store_true", help="take earlier results from --work")
    arguments = parser.parse_args()
    for path in filter(None, (arguments.train, arguments.dev, arguments.test)):
        if not path.is_file():
            parser.error(f"{path} is not there; make it with `python -m spacy cascade convert`")
    return arguments


def prepare(arguments: argparse.Namespace) -> tuple[Comparison, Result]:
    """Corpora in all formats, who takes part, and the beginning of the results."""
    work = arguments.work.resolve() / f"compare-{arguments.output.stem}"
    laboratory = Laboratory(work, arguments.reuse, arguments.work.resolve() / "kernels")
    sources = {"train": arguments.train, "dev": arguments.dev}
    if arguments.test:
        sources["test"] = arguments.test
    corpora = laboratory.run(
        "prepare",
        {
            "sources": {name: str(path.resolve()) for name, path in sources.items()},
            "folder": str(work / "corpora"),
            "limit": arguments.limit,
        },
    )
    wanted = [CONTENDERS[name] for name in arguments.models]
    if arguments.no_peers:
        wanted = [contender for contender in wanted if contender not in PEERS]
    left_out = missing(wanted)
    for line in left_out.values():
        print(f"  {line}")
    models = work / "models"
    models.mkdir(parents=True, exist_ok=True)
    setting = Setting(
        laboratory, work / "corpora/train", work / "corpora/dev", models, arguments.threads,
        arguments.peer_iterations, arguments.ner_seconds,
    )  # fmt: skip
    test = work / "corpora/test.spacy" if arguments.test else None
    comparison = Comparison(
        setting,
        {contender.name: contender for contender in wanted if contender.name not in left_out},
        test or work / "corpora/dev.spacy",
        test,
        arguments.repeats,
        arguments.rounds,
        1 if arguments.threads > 1 else arguments.at_once or available_cores(),
        tuple(arguments.shares),
        arguments.ner_part_seconds,
    )
    shown = ("threads", "repeats", "rounds", "peer_iterations", "ner_seconds", "ner_part_seconds")
    return comparison, {
        "machine": describe_machine(),
        "load_average_before": load_average(),
        "corpus": {name: corpora[name] for name in sources},
        "settings": {
            **{name: getattr(arguments, name) for name in shown},
            "at_once": comparison.at_once,
        },
        "missing": left_out,
        "models": {},
        "part_seconds": {},
    }


def chosen_parts(names: list[str], models: Mapping[str, Contender]) -> list[str]:
    """The parts to do, in order; reranking and threads need a model of their own."""
    needed = {"reranking": "ocr", "threads": "memb", "learning": "memb"}
    return [
        name
        for name in PARTS
        if name in NEEDED or (name in names and needed.get(name, "memb") in models)
    ]


def main() -> None:
    begin = perf_counter()
    arguments = read_arguments()
    comparison, results = prepare(arguments)
    laboratory = comparison.setting.laboratory
    few = {"train": f"{comparison.setting.dev}.spacy", "sentences": 20}
    for config in sorted({c.config for c in OURS if c.name in comparison.chosen}):
        # Kernels are compiled before anything is timed.
        laboratory.run("compile_training", {"config": str(HERE.parent / "configs" / config), **few})
    results["part_seconds"]["preparation"] = perf_counter() - begin
    for name in chosen_parts(arguments.parts, comparison.chosen):
        print(f"{name} …", flush=True)
        start = perf_counter()
        PARTS[name](comparison, results)
        results["part_seconds"][name] = perf_counter() - start
        print(f"  {results['part_seconds'][name]:.0f} s", flush=True)
    comparison_report.compare_f1(results)
    comparison_report.write(results, arguments.output, with_pictures=is_installed("matplotlib"))
    print(f"{perf_counter() - begin:.0f} s in all; report: {arguments.output.with_suffix('.md')}")


if __name__ == "__main__":
    main()
