"""A model of one domain in another: as it is, adapted, pooled, and trained there alone.

python -m benchmarks.suite.domains --data assets/suite
python -m benchmarks.suite.domains --data assets/suite --system online --output online.json

Tables 2 to 6 and figure 2 of the report on maximum entropy Markov models: persons, places and
organisations of CoNLL-2003 in three other corpora, tokens and sentences given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..lib.arguments import add_at_once, existing, new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.package import SEGMENTER, TOKENS_GIVEN
from ..lib.paths import CONFIGS
from ..lib.processes import Result, TaskRunner
from ..lib.variants import config_path
from ..reports.domain_report import draw, make_report
from ..reports.output import write_report
from .corpora import Prepared

SOURCE, TARGETS = "conll2003", ("wikigold", "btc", "sec-filings")
LABELS = ["PER", "LOC", "ORG"]
CRF, MEMM, CASCADE, ONLINE = "CRF", "MEMM", "cascade", "online cascade"
SYSTEMS = {"batch": (CRF, MEMM, CASCADE), "online": (ONLINE,)}
SIZES = (20, 100, 300, 0)
"""Sentences to adapt to, 0 for all."""
GAUSSIAN, PLAIN, CURVATURE = "Gaussian", "plain", "curvature"
PRIORS = {"batch": (GAUSSIAN, CURVATURE), "online": (PLAIN, CURVATURE)}
"""The report's prior, centred on the weights, or plain updates; and ours, narrow where a weight is
well known."""


def write_config(system: str, path: str) -> Result:
    """Write the config of a system: one phase with tags of types, or two phases."""
    from spacy.util import load_config

    if system in (CASCADE, ONLINE):
        config = load_config(CONFIGS / ("memb.cfg" if system == CASCADE else "ocr.cfg"))
    else:
        config = load_config(config_path("crf.cfg"))
        model = config["components"][SEGMENTER]["model"]
        model["min_count"] = 1
        model["templates"] = {"@misc": "spacy_cascade.SegmentationTemplates.v1"}
        if system == MEMM:
            model["@architectures"] = "spacy_cascade.MaximumEntropyMarkov.v1"
            del model["label_pairs"]
    for component in config["components"].values():
        if "threads" in component["trainer"]:
            component["trainer"]["threads"] = 1
    for part in ("train", "dev"):
        config["corpora"][part] = {**TOKENS_GIVEN, "path": f"${{paths.{part}}}"}
    config["training"]["before_to_disk"] = None
    config.to_disk(path)
    return {}


def first_sentences(source: str, target: str, n: int) -> Result:
    """Write the first sentences of the shuffled Docs of a corpus, or all for 0."""
    import random

    from ..lib import adaptation
    from ..lib.corpora import read_docs, write_docs

    docs = read_docs(source)
    random.Random(0).shuffle(docs)
    part = adaptation.first_sentences(docs, n) if n else docs
    write_docs(part, Path(target))
    return {"sentences": sum(1 for doc in part for _ in doc.sents)}


@dataclass(frozen=True)
class Study:
    """data: folder of the corpora. kind: of the systems, a key of `SYSTEMS`."""

    runner: TaskRunner
    data: Path
    kind: str

    def prepare(self) -> Result:
        """Write all corpora and configs; numbers of sentences of each part."""
        task, here = self.runner.run, "suite.domains"
        prepared = Prepared(self.runner, self.data)
        for name in (SOURCE, *TARGETS):
            prepared.sizes(name)
            for part in ("train", "dev"):
                source = str(prepared.folder(name) / f"{part}.spacy")
                arguments = {"source": source, "target": self.corpus(name, part)}
                task("lib.corpora:keep_labels", {**arguments, "labels": LABELS})
        found = {}
        for name in TARGETS:
            both = [self.corpus(each, "train") for each in (SOURCE, name)]
            task("lib.corpora:join", {"sources": both, "target": self.corpus(name, "pooled")})
            for size in SIZES:
                cut: Result = {"source": both[1], "target": self.corpus(name, f"{size}"), "n": size}
                found[f"{name} {size}"] = task(f"{here}:first_sentences", cut)["sentences"]
        for system in SYSTEMS[self.kind]:
            task(f"{here}:write_config", {"system": system, "path": self._path(f"{system}.cfg")})
        return found

    def corpus(self, name: str, part: str) -> str:
        return self._path(f"{name}-{part}.spacy")

    def _path(self, name: str) -> str:
        return str(self.runner.work / name)

    def train(self, system: str, name: str, part: str) -> str:
        """The path of a model of a part of a corpus, trained."""
        model = self._path(f"{system}-{name}-{part}")
        corpora = {"train": self.corpus(name, part), "dev": self.corpus(name, "dev")}
        arguments = {"config": self._path(f"{system}.cfg"), **corpora, "model": model}
        paths = {f"paths.{key}": path for key, path in corpora.items()}
        self.runner.run("lib.training:train_as_configured", {**arguments, "overrides": paths})
        return model

    def adapt(self, system: str, name: str, size: int, prior: str) -> str:
        """The path of the source's model, adapted to the first sentences of a target."""
        output = self._path(f"{system}-{name}-{size}-{prior}")
        arguments = {
            "model": self.train(system, SOURCE, "train"), "data": self.corpus(name, f"{size}"),
            "output": output, "overrides": {}, "updates": 2,
            "has_curvature": prior == CURVATURE,
        }  # fmt: skip
        self.runner.run("lib.adaptation:adapt_cascade", arguments)
        return output

    def score(self, model: Callable[[], str], name: str, **named: Any) -> Result:
        """F1 of a model, and of each type, on dev of a target and of the source."""
        parts = {"target": self.corpus(name, "dev"), "source": self.corpus(SOURCE, "dev")}
        path = model()
        found = self.runner.run("lib.adaptation:score_parts", {"model": path, "parts": parts})
        scores = {part: found[part] for part in parts}
        row = {**named, "target": name, "scores": scores}
        print(*named.values(), name, *(f"{part['f1']:.2f}" for part in scores.values()), flush=True)
        return row


def jobs(study: Study) -> list[Callable[[], Result]]:
    found: list[Callable[[], Result]] = []
    for system in SYSTEMS[study.kind]:
        for name in TARGETS:
            models = {
                "matched": partial(study.train, system, name, "train"),
                "mismatched": partial(study.train, system, SOURCE, "train"),
                "pooled": partial(study.train, system, name, "pooled"),
            }
            for regime, model in models.items():
                found.append(partial(study.score, model, name, system=system, regime=regime))
            for size in SIZES:
                for prior in PRIORS[study.kind]:
                    model = partial(study.adapt, system, name, size, prior)
                    named = {"system": system, "regime": "adapted", "prior": prior, "size": size}
                    found.append(partial(study.score, model, name, **named))
    return found


def measure(study: Study, at_once: int) -> tuple[Result, Sequence[Result]]:
    sizes = study.prepare()
    first = [partial(study.train, system, SOURCE, "train") for system in SYSTEMS[study.kind]]
    study.runner.run_in_parallel(first, at_once)
    return sizes, study.runner.run_in_parallel(jobs(study), at_once)


def main() -> None:
    parser = new_parser(__doc__, output="domains.json")
    parser.add_argument("--data", type=existing, default="assets/suite", help="as for the suite")
    parser.add_argument("--system", choices=SYSTEMS, default="batch")
    add_at_once(parser)
    arguments = parser.parse_args()
    results = describe_run()
    study = Study(runner_for(arguments, "domains"), arguments.data, arguments.system)
    results["sentences"], results["rows"] = measure(study, arguments.at_once)
    title = "F1 by the number of sentences to adapt to"
    write_report(results, arguments.output, make_report(results), title, draw)


if __name__ == "__main__":
    main()
