"""The command `spacy cascade adapt`: a trained pipeline learns from more Docs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import spacy
from spacy.language import Language
from spacy.training import Example

from ...cli.options import Model, NewPipeline, OtherDev, OtherTrain, SkipBad, argument, option
from ...cli.output import (
    counted,
    percent,
    print_info,
    print_table,
    print_warning,
    reports_errors,
    write_pipeline,
)
from ...errors import ConfigError

if TYPE_CHECKING:
    from .learn import Learnt

_AUTO = "auto"


@reports_errors
def adapt_command(
    model: Model,
    data: Annotated[
        Path, argument("DATA", "New annotation: .spacy, or a format that convert reads")
    ],
    output: NewPipeline,
    train: OtherTrain = None,
    dev: OtherDev = None,
    updates: Annotated[int, option("Number of calls of nlp.update on DATA")] = 2,
    old_share: Annotated[
        str | None,
        option(
            "How much the old corpus counts, from 0 to 1; 'auto' chooses what is best for parts of "
            "DATA that are kept back. Default: 1; with --dev, 1 or 0.3"
        ),
    ] = None,
    skip_bad: SkipBad = False,
) -> None:
    """
    Teach a pipeline new annotation in seconds, without losing what it has learnt before.

    The components of the cascade learn the words and labels of DATA. A prior keeps their weights
    close to what they are now, the closer the more the old corpus counts. Other components,
    settings and temperatures stay the same. MODEL is not changed; OUTPUT gets a copy.

    With --train, the corpus that MODEL was trained on, the pipeline can also be retrained on TRAIN
    and DATA together. With --dev, what is best there is written to OUTPUT, and MODEL itself where
    nothing is better: DEV needs documents like the old and like the new ones. Without --dev the
    pipeline is retrained if TRAIN is given, else adapted.
    """
    from ...pipeline.readers import examples_for
    from ...workflows.reconfigure import take_own_scores
    from .learn import learn

    nlp = spacy.load(model)
    new = _read(data, nlp, skip_bad)
    old, held = ([] if path is None else list(examples_for(nlp, path)) for path in (train, dev))
    share = _share(nlp, new, updates, old_share)
    learnt = learn(nlp, new, old, held, updates=updates, share=share)
    _print_tried(learnt)
    if held:
        _print_labels(nlp, learnt.nlp, held)
    if learnt.has_changed:
        take_own_scores(learnt.nlp, held)
    write_pipeline(learnt.nlp, output, f"Pipeline, {learnt.way}")


def _read(path: Path, nlp: Language, skip_bad: bool) -> list[Example]:
    """The new annotation; what it has besides is told."""
    from ..formats.converted import print_bad, print_left_out, print_without_place
    from .learn import read_returned

    new = read_returned(path, nlp, skip_bad)
    print_info(counted(len(new.examples), "annotated text"))
    print_bad(new.bad, new.bad_spans)
    print_left_out(new.left_out)
    print_without_place(new.lost)
    return new.examples


def _share(nlp: Language, examples: list[Example], updates: int, text: str | None) -> float | None:
    """The share that the command line names, or that is best on kept-back documents."""
    from .adapting import choose_share

    if text != _AUTO:
        try:
            return None if text is None else float(text)
        except ValueError:
            raise ConfigError(f"--old-share takes a number or 'auto', not '{text}'.") from None
    share, tried = choose_share(nlp, examples, updates)
    rows = [(f"{each.share:g}", percent(each.f1)) for each in tried]
    print_table(rows, ("old share", "F1 on kept-back Docs"), "rr")
    return share


def _print_tried(learnt: "Learnt") -> None:
    if learnt.tried[0].f1 is None:
        print_info(f"Nothing was compared: the pipeline is {learnt.way}. For that give --dev.")
        return
    before = learnt.tried[0].f1
    rows = [
        (each.way, percent(each.f1), f"{100 * ((each.f1 or 0.0) - before):+.2f}",
         f"{each.seconds:.1f}")
        for each in learnt.tried
    ]  # fmt: skip
    print_table(rows, ("pipeline", "F1 on dev", "gain", "seconds"), "lrrr")
    if learnt.warning:
        print_warning(learnt.warning)


def _print_labels(before: Language, after: Language, held: list[Example]) -> None:
    """Entity F1 of all labels together, and of each label."""
    was, now = (_entity_f1(nlp, held) for nlp in (before, after))
    rows = [(label, percent(was.get(label)), percent(f1)) for label, f1 in now.items()]
    print_table(rows, ("F1 of", "before", "after"), "lrr")


def _entity_f1(nlp: Language, held: list[Example]) -> dict[str, float | None]:
    scores = nlp.evaluate([Example(each.predicted.copy(), each.reference) for each in held])
    by_label = scores.get("ents_per_type") or {}
    return {
        "all": scores.get("ents_f"),
        **{label: found["f"] for label, found in sorted(by_label.items())},
    }
