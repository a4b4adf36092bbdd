"""The command `spacy cascade adapt`: a trained pipeline learns from a few more Docs."""

from pathlib import Path
from typing import Annotated

import spacy
from spacy.language import Language
from spacy.training import Example

from ...cli.options import Model, Output, argument, option
from ...cli.output import percent, print_table, reports_errors, write_pipeline
from ...errors import ConfigError
from ...pipeline.readers import examples_for
from ...workflows.own_scores import take_own_scores
from .adapting import UPDATES, adapt
from .old_share import choose_share, set_share


@reports_errors
def adapt_command(
    model: Model,
    data: Annotated[Path, argument("DATA.spacy", "A few Docs with all their entities")],
    output: Output,
    dev: Annotated[Path | None, option("Docs to score on, before and after")] = None,
    updates: Annotated[int, option("Number of calls of nlp.update on DATA")] = UPDATES,
    old_share: Annotated[
        str,
        option(
            "How much the old corpus counts, from 0 to 1; 'auto' chooses what is best for parts of "
            "DATA that are kept back"
        ),
    ] = "1",
) -> None:
    """
    Adapt a pipeline to new Docs without losing what it has learnt before.

    The components of the cascade learn the words and labels of DATA. A prior keeps their weights
    close to what they are now, the closer the more the old corpus counts. Other components,
    settings and temperatures stay the same. MODEL is not changed; the adapted pipeline is written
    to OUTPUT.
    """
    nlp = spacy.load(model)
    held = [] if dev is None else list(examples_for(nlp, dev))
    before = _entity_f1(nlp, held)
    examples = list(examples_for(nlp, data))
    set_share(nlp, _share(nlp, examples, updates, old_share))
    adapt(nlp, examples, updates)
    after = _entity_f1(nlp, held)
    if dev is not None:
        rows = [(label, percent(before.get(label)), percent(f1)) for label, f1 in after.items()]
        print_table(rows, ("F1 of", "before", "after"), "lrr")
    take_own_scores(nlp, held)
    write_pipeline(nlp, output, "Adapted pipeline")


def _share(nlp: Language, examples: list[Example], updates: int, text: str) -> float:
    """The share that the command line names, or that is best on kept-back documents."""
    if text != "auto":
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"--old-share takes a number or 'auto', not '{text}'.") from None
    share, tried = choose_share(nlp, examples, updates)
    rows = [(f"{each.share:g}", percent(each.f1)) for each in tried]
    print_table(rows, ("old share", "F1 on kept-back Docs"), "rr")
    return share


def _entity_f1(nlp: Language, held: list[Example]) -> dict[str, float | None]:
    """Entity F1 of all labels together, and of each label."""
    if not held:
        return {}
    scores = nlp.evaluate(held)
    by_label = scores.get("ents_per_type") or {}
    return {
        "all": scores.get("ents_f"),
        **{label: found["f"] for label, found in sorted(by_label.items())},
    }
