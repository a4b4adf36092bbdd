"""Online training by parts that learn side by side, against one stream: F1 on dev, and seconds.

python -m benchmarks.experiments.parameter_mixing train.spacy dev.spacy

The typed segmenter of `configs/crf_online.cfg` gets the whole corpus in one update. The parts are
mixed after each pass (`PassiveAggressive.v1`, `parts`).
"""

from __future__ import annotations

from ..lib.arguments import new_parser, runner_for
from ..lib.machine import describe_run
from ..lib.paths import CONFIGS
from ..reports.output import print_results


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    add = parser.add_argument
    add("--parts", type=int, nargs="+", default=[1, 2, 4, 8])
    add("--passes", type=int, nargs="+", default=[6, 12])
    add("--threads", type=int, default=1, help="above 1, seconds say what parts gain")
    arguments = parser.parse_args()
    runner, files = runner_for(arguments, "parameter_mixing"), (arguments.train, arguments.dev)
    settings = {
        "config": str(CONFIGS / "crf_online.cfg"),
        **dict(zip(("train", "dev"), map(str, files), strict=True)),
        "parts": arguments.parts,
        "threads": arguments.threads,
    }
    found = {
        str(passes): runner.run(
            "lib.training:train_online", {**settings, "passes": passes}, cores=arguments.threads
        )
        for passes in arguments.passes
    }
    print_results({**describe_run(), "by_passes_and_parts": found}, arguments.output)


if __name__ == "__main__":
    main()
