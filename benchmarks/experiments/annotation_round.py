"""The time that an annotator waits: retraining, and choosing among 10,000 sentences.

python -m benchmarks.experiments.annotation_round corpus/jnlpba/train.spacy
"""

from __future__ import annotations

from ..lib.arguments import new_parser, runner_for
from ..lib.machine import describe_run
from ..reports.output import print_results


def main() -> None:
    parser = new_parser(__doc__, "train", output="annotation_round.json")
    add = parser.add_argument
    add("--labelled", type=int, default=400, help="annotated sentences at first")
    add("--among", type=int, default=10_000, help="other sentences")
    add("--n", type=int, default=100, help="sentences to choose in a round")
    add("--updates", type=int, default=3, help="of a training")
    add("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    settings = {key: getattr(arguments, key) for key in ("labelled", "among", "n", "updates")}
    found = runner_for(arguments, "annotation_round").run(
        "lib.active_learning:time_rounds",
        {"train": str(arguments.train), "rounds": arguments.rounds, **settings},
    )
    results = {**describe_run(), "settings": settings, **found}
    print_results(results, arguments.output)


if __name__ == "__main__":
    main()
