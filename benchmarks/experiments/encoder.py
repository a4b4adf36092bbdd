"""The chain on an encoder of spaCy against `ner` on the same one, in the same time.

python -m benchmarks.experiments.encoder train.spacy dev.spacy --seconds 120

All are trained by spaCy's own configuration for `ner` on a CPU, batches and optimizer included.
Only the component on top of its `tok2vec` is another one: `ner`; a chain that sees nothing but the
vectors; and one that sees features of its default template set beside them.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..lib.arguments import new_parser
from ..lib.package import SEGMENTER, TOKENS_GIVEN
from ..lib.processes import Result, TaskRunner
from ..reports.output import run

_ONE = {"@misc": "spacy_cascade.Templates.v1", "templates": ["bias"]}
_DEFAULT = {"@misc": "spacy_cascade.SegmentationTemplates.v1"}
_NOTHING: Mapping[str, Any] = {"patterns": {}, "lexicons": {}}


def chain_on(templates: Mapping[str, Any]) -> dict[str, Any]:
    """A section of a config: one chain with types, as `ner` has them."""
    width = "${components.tok2vec.model.encode.width}"
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": width, "upstream": "*"}
    return {
        "factory": SEGMENTER,
        "typed": True,
        "set_ents": True,
        "penalty": None,
        "model": {
            "@architectures": "spacy_cascade.LinearChain.v1",
            "templates": dict(templates),
            "min_count": 1,
            "label_pairs": False,  # vectors gain nothing by pairs, which take twice the time
            "tok2vec": listener,
        },
        "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
        "trainer": {"@misc": "spacy_cascade.Minibatch.v1"},
    }


def measure(runner: TaskRunner, arguments: argparse.Namespace) -> Result:
    """The series of each system, and its best F1."""
    systems = {
        "ner": None,
        "chain": chain_on({**_ONE, **_NOTHING}),
        "chain with features": chain_on(_DEFAULT),
    }
    found: Result = {}
    for name, instead in systems.items():
        task = {
            "train": str(arguments.train),
            "dev": str(arguments.dev),
            "model": str(runner.work / name.replace(" ", "_")),
            "seconds": arguments.seconds,
            "evaluations": arguments.evaluations,
            "reader": TOKENS_GIVEN,
            "instead": instead,
        }
        trained = runner.run("peers.spacy_ner:train_spacy_ner_for", task)
        found[name] = {**trained, "best_f1": max(f1 for *_, f1 in trained["series"])}
        print(f"{name}: {found[name]['best_f1']:.2f} F1 of {arguments.seconds:g} seconds")
    return found


def main() -> None:
    parser = new_parser(__doc__, "train", "dev")
    parser.add_argument("--seconds", type=float, default=120.0, help="of a processor, for each")
    parser.add_argument("--evaluations", type=int, default=6)
    run(parser, "encoder", measure)


if __name__ == "__main__":
    main()
