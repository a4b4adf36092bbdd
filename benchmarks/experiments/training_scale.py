"""A simulation of training by 8 to 512 workers, from what one and two workers took.

python -m benchmarks.experiments.training_scale corpus/jnlpba/train.spacy

Measured: processor time per token and per byte (`sharded_training.json`), and how the numbers of
features and of rows of lexemes grow with the corpus, here. All else is assumed (`Cluster`), and the
times of many workers are simulated: no cluster has run this.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import linear_regression, mean
from typing import Any

from ..lib.arguments import existing, new_parser
from ..lib.machine import describe_machine
from ..lib.paths import CONFIGS, RESULTS
from ..reports.output import read_json, write_table
from .sharded_training import Result, task_of

SHARES = (0.125, 0.25, 0.5, 1.0)
HISTORY_BYTES, VECTORS = 2 * 5 * 4, 6
"""L-BFGS keeps five pairs in single precision, and about six vectors in double precision."""
SUMS_AT_ONCE = 4


@dataclass(frozen=True)
class Cluster:
    """What is assumed of machines.

    bandwidth: of each machine, bytes a second. cores: of each machine, with a worker each.
    driver_speed_up: of the driver's threads. spread: of workers' times, σ of a log-normal. slow:
    share of evaluations in which a worker takes `slow_factor` times as long. hours_between_failures
    is of a worker. restart_seconds: until it has its shard again.
    """

    bandwidth: float = 1.25e9
    cores: int = 16
    driver_speed_up: float = 8.0
    spread: float = 0.1
    slow: float = 0.001
    slow_factor: float = 3.0
    hours_between_failures: float = 1000.0
    restart_seconds: float = 60.0


@dataclass(frozen=True)
class Growth:
    """`n = factor · tokens ** exponent` (Heaps' law)."""

    factor: float
    exponent: float

    @classmethod
    def of(cls, tokens: list[int], numbers: list[int]) -> Growth:
        slope, constant = linear_regression(
            [math.log(n) for n in tokens], [math.log(n) for n in numbers]
        )
        return cls(math.exp(constant), slope)

    def at(self, tokens: float) -> float:
        return float(self.factor * tokens**self.exponent)


@dataclass(frozen=True)
class Costs:
    """What was measured: processor seconds of a worker per token, and of the driver per byte, for
    an evaluation; the width of a row of weights; how features and rows of lexemes grow."""

    per_token: float
    per_byte: float
    width: int
    features: Growth
    unit_features: Growth
    lexeme_rows: Growth


def growth_of(config: Path, corpus: Path) -> tuple[list[Result], Result]:
    """Numbers of features and rows in parts of a corpus, and lines through their logarithms."""
    points = []
    for share in SHARES:
        task, found = task_of(config, corpus, 1, share)
        is_of_units = task.data.design.unit_features
        found["unit_features"] = len(set(is_of_units.indices.tolist()))
        points.append(found)
    tokens = [point["tokens"] for point in points]
    names = ("features", "unit_features", "lexeme_rows")
    return points, {name: Growth.of(tokens, [point[name] for point in points]) for name in names}


def costs_of(measured: Result, growth: Result) -> Costs:
    """From one worker and two: each evaluation counts as an iteration."""
    compared, corpus = measured["compared"], measured["corpus"]
    of_workers = [one for one in compared["trainings"] if one["workers"]]
    iterations = compared["iterations"]
    per_token = mean(
        sum(own) / iterations / corpus["tokens"]
        for one in of_workers
        for own in one["worker_processor_seconds"]
    )
    per_byte = mean(
        seconds / iterations / (one["bytes"]["down"] + sum(one["bytes"]["up"]))
        for one in of_workers
        for seconds in one["driver_processor_seconds"]
    )
    return Costs(per_token, per_byte, corpus["columns"], **growth)


def simulate(
    costs: Costs,
    cluster: Cluster,
    tokens: float,
    workers: int,
    evaluations: int,
    most_features: float,
    generator: random.Random,
) -> Result:
    """Mean seconds of the parts of an evaluation, and hours of all.

    most_features: there are no more; the rarest are left out.
    """
    features = min(costs.features.at(tokens), most_features)
    kept = features / costs.features.at(tokens)
    row = 8 * costs.width
    down = row * (features + costs.lexeme_rows.at(tokens))
    own = tokens / workers
    up = row * (kept * costs.unit_features.at(own) + costs.lexeme_rows.at(own))
    machines = math.ceil(workers / cluster.cores)
    sending = down * machines / cluster.bandwidth if machines > 1 else 0.0
    receiving = up * workers / cluster.bandwidth if machines > 1 else 0.0
    driving = costs.per_byte * (down + up * workers) / cluster.driver_speed_up
    usual = costs.per_token * own
    waiting, n_failures = 0.0, 0
    for _ in range(evaluations):
        slowest = max(_seconds(cluster, usual, generator) for _ in range(workers))
        failing = workers * (usual + sending + receiving + driving)
        if generator.random() < failing / 3600.0 / cluster.hours_between_failures:
            n_failures += 1
            slowest += cluster.restart_seconds + usual
        waiting += slowest - usual
    seconds = usual + waiting / evaluations + sending + receiving + driving
    parameters = features * costs.width
    # Some that are made side by side, and one for each level of the tree of parts.
    sums = SUMS_AT_ONCE + math.log2(workers)
    return {
        "tokens": tokens,
        "workers": workers,
        "features": features,
        "computing": usual,
        "waiting": waiting / evaluations,
        "transfer": sending + receiving,
        "driving": driving,
        "failures": n_failures,
        "hours": seconds * evaluations / 3600.0,
        "efficiency": usual / seconds,
        "megabytes_up": up / 1e6,
        "driver_gigabytes": (
            parameters * (HISTORY_BYTES + 8 * (VECTORS + sums)) + up * workers + down
        )
        / 1e9,
    }


def _seconds(cluster: Cluster, usual: float, generator: random.Random) -> float:
    """Of one worker."""
    factor = generator.lognormvariate(0.0, cluster.spread)
    return usual * factor * (cluster.slow_factor if generator.random() < cluster.slow else 1.0)


def report_of(results: Result) -> str:
    head = (
        "| tokens | features | workers | computing | waiting | transfer | driver | efficiency "
        "| up, MB | driver, GB | hours |"
    )
    rows = [
        f"| {one['tokens']:.0e} | {one['features'] / 1e6:.1f} M | {one['workers']} "
        f"| {one['computing']:.1f} s | {one['waiting']:.1f} s | {one['transfer']:.1f} s "
        f"| {one['driving']:.1f} s | {one['efficiency']:.0%} | {one['megabytes_up']:.0f} "
        f"| {one['driver_gigabytes']:.0f} | {one['hours']:.1f} |"
        for one in results["simulated"]
    ]
    assumed = ", ".join(f"{name} {value:g}" for name, value in results["assumed"].items())
    lines = [
        "SIMULATED, from processor times of one and two workers. Seconds are of one evaluation.",
        f"Assumed: {assumed}; {results['evaluations']} evaluations.",
        "",
        head,
        "|" + " ---: |" * 11,
        *rows,
    ]
    return "\n".join(lines) + "\n"


def read_arguments() -> argparse.Namespace:
    parser = new_parser(__doc__, "train", output="training_scale.json", work=False)
    add = parser.add_argument
    add("--config", type=existing, default=str(CONFIGS / "memb.cfg"))
    add("--measured", type=existing, default=str(RESULTS / "sharded_training.json"))
    add("--tokens", type=float, nargs="+", default=[1e8, 1e9])
    add("--workers", type=int, nargs="+", default=[8, 16, 32, 64, 128, 256, 512])
    add("--features", type=float, nargs="+", default=[math.inf, 2e6], help="the most there are")
    add("--evaluations", type=int, default=100)
    add("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    arguments = read_arguments()
    points, growth = growth_of(arguments.config, arguments.train)
    costs = costs_of(read_json(arguments.measured), growth)
    cluster, generator = Cluster(), random.Random(arguments.seed)
    simulated = [
        simulate(costs, cluster, tokens, workers, arguments.evaluations, most, generator)
        for tokens in arguments.tokens
        for most in arguments.features
        for workers in arguments.workers
    ]
    results: dict[str, Any] = {
        "machine": describe_machine(),
        "measured": {"growth": points, "costs": asdict(costs)},
        "assumed": asdict(cluster),
        "evaluations": arguments.evaluations,
        "seed": arguments.seed,
        "simulated": simulated,
    }
    write_table(results, arguments.output, report_of(results))


if __name__ == "__main__":
    main()
