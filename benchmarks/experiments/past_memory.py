"""Training on a stream of any length under a limit of memory: time per token, peak memory.

python -m benchmarks.experiments.past_memory corpus/jnlpba/train.spacy corpus/jnlpba/dev.spacy

Corpora of several sizes are made of copies of train, in which new words keep coming at the rate of
Heaps' law (`lib/growing_corpus.py`). Each is trained on in processes of their own, by spaCy's own
loop: each component reads it once to count features. Online (`stream` of `lib/variants.py`) both
then learn from it in one pass. In batch training (`configs/memb_stream.cfg`) each encodes what it
has read, and makes two updates of a few iterations on all of it; so does `configs/memb.cfg` with
the smallest corpus in memory, whose F1 on dev is to compare with. The time of scoring does not
count. The system refuses memory beyond the limit (`RLIMIT_DATA`); peak memory is that of
`getrusage`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..lib.arguments import new_parser
from ..lib.machine import load_average
from ..lib.package import STAGES, component, for_stages, size
from ..lib.processes import Result, TaskRunner
from ..lib.variants import config_path
from ..reports.output import run

STREAMED = ("online", "batch")
CONFIGS_OF = {"online": "stream", "batch": "memb_stream", "in memory": "memb"}
"""The config of each kind of training."""
_LBFGS_OF = {"batch": "trainer.trainer", "in memory": "trainer"}
_BATCH_UPDATES = 2
"""The first one encodes the corpus, too."""
_WARM_UP = 20_000
"""Tokens of a training that is not timed, which loads kernels."""


def train_stream(
    kind: str, folder: str, dev: str, warm_up: str, gigabytes: float, iterations: int
) -> Result:
    """Train on a folder of `.spacy` files within so much memory; iterations: of a batch update."""
    import resource

    limit = int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    train_once(kind, Path(warm_up), Path(dev), iterations)
    load = load_average()
    found = train_once(kind, Path(folder), Path(dev), iterations)
    return {"kind": kind, **found, "load_average_before": load}


def train_once(kind: str, folder: Path, dev: Path, iterations: int) -> Result:
    """Seconds of the processor without scoring, sizes, and scores, of one training."""
    from spacy.training.initialize import init_nlp
    from spacy.util import load_config, resolve_dot_names

    from ..lib.timing import Stopwatch
    from ..lib.training import run_loop, training_settings

    overrides: dict[str, Any] = {"paths.train": str(folder), "paths.dev": str(dev)}
    if kind in _LBFGS_OF:
        overrides |= for_stages(f"{_LBFGS_OF[kind]}.iterations", iterations)
        overrides |= for_stages(f"{_LBFGS_OF[kind]}.threads", 1)
    path = config_path(f"{CONFIGS_OF[kind]}.cfg")
    config = load_config(path, overrides=overrides, interpolate=True)
    lengths = doc_lengths(folder)
    with Stopwatch() as initializing:
        nlp = init_nlp(config)
    training = training_settings(nlp)
    n_batches = sum(1 for _ in training["batcher"](range(n) for n in lengths))
    n_steps = n_batches if kind == "online" else _BATCH_UPDATES
    training |= {"max_steps": 0, "patience": 0, "eval_frequency": n_steps + 1}
    names = [training["train_corpus"], training["dev_corpus"]]
    train_reader, dev_reader = resolve_dot_names(nlp.config.interpolate(), names)
    steps = run_loop(nlp, Stream(train_reader, nlp), training, lambda: (0.0, {}))
    after_steps = [0.0]
    with Stopwatch() as watch:
        for _ in islice(steps, n_steps):
            after_steps.append(watch.elapsed_computed())
        for name in STAGES:
            component(nlp, name).sync_weights()
    of_last = after_steps[-1] - after_steps[-2]
    n_tokens, batch = (
        sum(lengths),
        {
            "microseconds_per_token_and_iteration": 1e6 * of_last / iterations / sum(lengths),
            "encoding_processor_seconds": after_steps[1] - of_last,
        },
    )
    return {
        "tokens": n_tokens,
        "steps": n_steps,
        "initialize_processor_seconds": initializing.computed,
        "training_processor_seconds": watch.computed,
        "wall_clock_seconds": initializing.passed + watch.passed,
        "microseconds_per_token": 1e6 * (initializing.computed + watch.computed) / n_tokens,
        "features": {name: size(nlp, name)["features"] for name in STAGES},
        "strings": len(nlp.vocab.strings),
        "ents_f": nlp.evaluate(list(dev_reader(nlp)))["ents_f"],
        **(batch if kind in _LBFGS_OF else {}),
    }


class Stream:
    """Examples that are read anew with each pass."""

    def __init__(self, reader: Callable[[Any], Iterable[Any]], nlp: Any) -> None:
        self._reader, self._nlp = reader, nlp

    def __iter__(self) -> Iterator[Any]:
        return iter(self._reader(self._nlp))


def doc_lengths(folder: Path) -> list[int]:
    """Tokens of the Docs of a folder, as spaCy's reader gives them."""
    from spacy.tokens import DocBin
    from spacy.training.corpus import walk_corpus

    files = walk_corpus(folder, ".spacy")
    return [len(tokens) for file in files for tokens in DocBin().from_disk(file).tokens]


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    trainings = []
    with TemporaryDirectory() as folder:
        made = {n: f"{folder}/{n}" for n in (*arguments.tokens, _WARM_UP)}
        for n, path in made.items():
            task = {"train": str(arguments.train), "n_tokens": n, "folder": path}
            runner.run("lib.growing_corpus:write_corpus", task)
        common = {"dev": str(arguments.dev), "warm_up": made[_WARM_UP]}
        common |= {"gigabytes": arguments.gigabytes, "iterations": arguments.iterations}
        planned = list(product(arguments.trainings, arguments.tokens))
        if "batch" in arguments.trainings:
            planned.append(("in memory", min(arguments.tokens)))
        for kind, n in planned:
            task = {"kind": kind, "folder": made[n], **common}
            trainings.append(runner.run("experiments.past_memory:train_stream", task))
            print(json.dumps(trainings[-1]), flush=True)
    of_kinds = {
        name: [each for each in trainings if (each["kind"] in STREAMED) == (name == "trainings")]
        for name in ("trainings", "in_memory")
    }
    return {"limit_gigabytes": arguments.gigabytes, **of_kinds}


def main() -> None:
    parser = new_parser(__doc__, "train", "dev", output="past_memory.json")
    parser.add_argument("--tokens", type=int, nargs="+", default=[500_000, 5_000_000])
    parser.add_argument("--gigabytes", type=float, default=3.0, help="limit of memory")
    parser.add_argument("--trainings", nargs="+", choices=STREAMED, default=list(STREAMED))
    parser.add_argument("--iterations", type=int, default=3, help="of an update in batch training")
    run(parser, "past_memory", measure)


if __name__ == "__main__":
    main()
