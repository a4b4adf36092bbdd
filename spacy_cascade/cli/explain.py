"""The command `spacy cascade explain`: which features speak for what a pipeline found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi.util import MESSAGES

from spacy_cascade.cli.options import valid_text
from spacy_cascade.cli.output import print_line, print_table, write_file, write_json
from spacy_cascade.errors import CascadeError, ConfigError
from spacy_cascade.explaining.explain import explain_entities
from spacy_cascade.explaining.explanations import (
    Contribution,
    EntityExplanation,
    Explanation,
)
from spacy_cascade.explaining.top_features import (
    ComponentFeatures,
    LabelFeatures,
    WeightedFeature,
    top_features,
)
from spacy_cascade.pipeline.learning import LearningPipe
from spacy_cascade.pipeline.readers import examples_for
from spacy_cascade.pipeline.spans.placing import LabelledSpan
from spacy_cascade.reports.explanation import make_explanation_page


def explain_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Trained pipeline")],
    text: Annotated[
        str, typer.Argument(metavar="TEXT", callback=valid_text, help="Text with entities")
    ] = "",
    features: Annotated[
        int, typer.Option(min=1, help="Features shown for each stage of an entity")
    ] = 10,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA.spacy",
            help="Show the top features of each component, by label, with names from this corpus; "
            "the training corpus has all of them",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, help="With --data: features for each label, and against it")
    ] = 20,
    json: Annotated[Path | None, typer.Option(help="JSON file to write everything to")] = None,
    html: Annotated[Path | None, typer.Option(help="HTML file to write a page to")] = None,
) -> None:
    """
    Explain what a pipeline finds.

    For each entity of TEXT the features that push for it and against it: for its bounds, against
    the best segmentation without it, and for its type, against the next best type. The sums are
    exactly the differences of the scores.
    """
    try:
        if not text and data is None:
            raise ConfigError("Give a TEXT to explain, or --data for the top features.")
        nlp = spacy.load(model)
        doc = nlp(text)
        explained = explain_entities(nlp, doc)
        tops = [] if data is None else _top_features(nlp, data, top)
        if text:
            _print_entities(doc, explained, features)
        for component in tops:
            _print_component(component, str(data))
        if json is not None:
            found = {
                "text": text,
                "entities": [entity.to_json() for entity in explained],
                "top_features": [component.to_json() for component in tops],
            }
            write_json(json, found, "Explanation")
        if html is not None:
            page = make_explanation_page(
                doc, explained, tops, model=model.name, data="" if data is None else data.name,
                n_features=features,
            )  # fmt: skip
            write_file(html, page, "Explanation")
    except (CascadeError, OSError) as error:
        print_line(MESSAGES.FAIL, str(error), to_stderr=True)
        raise typer.Exit(1) from None


def _top_features(nlp: Language, data: Path, n: int) -> list[ComponentFeatures]:
    return [
        top_features(pipe, examples_for(nlp, data), n)
        for _, pipe in nlp.pipeline
        if isinstance(pipe, LearningPipe)
    ]


def _print_entities(doc: Doc, explained: Sequence[EntityExplanation], n: int) -> None:
    if not explained:
        print_line(MESSAGES.INFO, "There are no entities of the pipeline's components in the text.")
    for entity in explained:
        start, end, label = entity.span
        typer.echo()
        print_line(MESSAGES.INFO, f"{entity.text}  {label}, tokens {start} to {end - 1}")
        of_stages = [_probability(stage.probability) for stage in entity.stages]
        product = f" = {' x '.join(of_stages)}" if len(of_stages) > 1 else ""
        print_line("", f"confidence {_probability(entity.confidence)}{product}")
        for stage in entity.stages:
            _print_stage(doc, stage, n)


def _print_stage(doc: Doc, stage: Explanation, n: int) -> None:
    typer.echo()
    reading, other = (_reading(doc, spans) for spans in (stage.reading, stage.runner_up))
    print_line("", f"{stage.component}: {reading}, rather than {other}")
    of_tokens = any(contribution.token is not None for contribution in stage.contributions)
    rows = [
        (
            contribution.name,
            *([_token(doc, contribution)] if of_tokens else []),
            *map(_number, (contribution.weight, contribution.runner_up, contribution.push)),
        )
        for contribution in stage.strongest(n)
    ]
    sums = map(_number, (stage.score, stage.runner_up_score, stage.evidence))
    rows.append(("sum", *([""] if of_tokens else []), *sums))
    header = ("feature", *(["of token"] if of_tokens else []), "weight", "runner-up", "push")
    print_table(rows, header, "l" * (1 + of_tokens) + "rrr")


def _token(doc: Doc, contribution: Contribution) -> str:
    return "" if contribution.token is None else doc[contribution.token].text


def _reading(doc: Doc, spans: Sequence[LabelledSpan]) -> str:
    """What a reading has, as `IL-2 gene [DNA]`."""
    return ", ".join(f"{doc[s:e].text} [{label}]" for s, e, label in spans) or "nothing"


def _print_component(component: ComponentFeatures, data: str) -> None:
    for of_label in component.labels:
        typer.echo()
        print_line(MESSAGES.INFO, f"Top features of {component.component} for {of_label.label}")
        _print_label(of_label)
    if component.n_unnamed:
        typer.echo()
        print_line(
            MESSAGES.WARN,
            f"{component.n_unnamed} of these features of {component.component} are not in {data}, "
            "so that they have no name. The training corpus has all features.",
        )


def _print_label(of_label: LabelFeatures) -> None:
    both = [("for", f) for f in of_label.strongest] + [("against", f) for f in of_label.weakest]
    rows = [
        (side, feature.name or "(not in the data)", _number(feature.weight), *_range(feature))
        for side, feature in both
    ]
    has_range = any(feature.after for _, feature in both)
    header = ("", "feature", "weight", *(["least", "most"] if has_range else []))
    print_table(rows, header, "llrrr")


def _range(feature: WeightedFeature) -> list[str]:
    """The smallest and the largest weight, with the labels before that it is for."""
    ends: list[Any] = sorted(feature.after.items(), key=lambda pair: pair[1])
    return [f"{_number(weight)} after {label}" for label, weight in (*ends[:1], *ends[-1:])]


def _number(value: float) -> str:
    return f"{value:+.2f}"


def _probability(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
