"""The command `spacy cascade explain`: which features speak for what a pipeline found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import spacy
from spacy.tokens import Doc

from ...cli.options import Html, Json, Model, Text, option
from ...cli.output import (
    print_info,
    print_line,
    print_table,
    print_warning,
    reports_errors,
    texts_of,
    write_file,
    write_json,
)
from ...errors import ConfigError
from ...pipeline.base import is_learner
from ...pipeline.readers import examples_for
from .explain import explain_entities
from .explanations import EntityExplanation, Explanation
from .page import make_explanation_page
from .top_features import ComponentFeatures, WeightedFeature, top_features


@reports_errors
def explain_command(
    model: Model,
    text: Text = "",
    features: Annotated[int, option("Features shown for each stage of an entity", min=1)] = 10,
    data: Annotated[
        Path | None,
        option(
            "Also show the top features for each label of each component, with names from this "
            "corpus; the training corpus has all of them",
            metavar="DATA.spacy",
        ),
    ] = None,
    top: Annotated[int, option("With --data: features for and against each label", min=1)] = 20,
    json: Json = None,
    html: Html = None,
) -> None:
    """
    Explain what a pipeline finds.

    For each entity of TEXT, the features that speak for it and against it are shown. Its bounds
    are compared with the best segmentation that lacks this entity, and its type with the next
    best type. The contributions add up exactly to the difference of the two scores.
    """
    if not text and data is None:
        raise ConfigError("Give a TEXT to explain, or --data for the top features.")
    nlp = spacy.load(model)
    doc = nlp(text)
    explained = explain_entities(nlp, doc)
    tops = [
        top_features(pipe, examples_for(nlp, data), top)
        for _, pipe in nlp.pipeline
        if data is not None and is_learner(pipe)
    ]
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
        paths = {"model": str(model), "data": str(data or "")}
        page = make_explanation_page(nlp, doc, explained, tops, **paths, n_features=features)
        write_file(html, page, "Explanation")


def _print_entities(doc: Doc, explained: Sequence[EntityExplanation], n: int) -> None:
    if not explained:
        print_info("The components of the cascade found no entities in the text.")
    for entity in explained:
        start, end, label = entity.span
        print_info(f"{entity.text}  {label}, tokens {start} to {end - 1}")
        of_stages = [_probability(stage.probability) for stage in entity.stages]
        product = f" = {' x '.join(of_stages)}" if len(of_stages) > 1 else ""
        print_line(f"confidence {_probability(entity.confidence)}{product}\n")
        for stage in entity.stages:
            _print_stage(doc, stage, n)


def _print_stage(doc: Doc, stage: Explanation, n: int) -> None:
    texts = (", ".join(texts_of(doc, spans)) for spans in (stage.hypothesis, stage.runner_up))
    print_line(f"{stage.component}: {', rather than '.join(text or 'nothing' for text in texts)}")
    of_tokens = any(contribution.token is not None for contribution in stage.contributions)

    def row(name: str, token: int | None, *values: float) -> tuple[str, ...]:
        tokens = ["" if token is None else doc[token].text] if of_tokens else []
        return (name, *tokens, *map(_number, values))

    rows = [row(c.name, c.token, c.weight, c.runner_up, c.push) for c in stage.strongest(n)]
    rows.append(row("sum", None, stage.score, stage.runner_up_score, stage.evidence))
    header = ("feature", *(["of token"] if of_tokens else []), "weight", "runner-up", "push")
    print_table(rows, header, "l" * (1 + of_tokens) + "rrr")


def _print_component(component: ComponentFeatures, data: str) -> None:
    for of_label in component.labels:
        print_info(f"Top features of {component.component} for {of_label.label}")
        both = [("for", f) for f in of_label.strongest] + [("against", f) for f in of_label.weakest]
        rows = [
            (side, feature.name or "(not in the data)", _number(feature.weight), *_range(feature))
            for side, feature in both
        ]
        has_range = any(feature.after for _, feature in both)
        header = ("", "feature", "weight", *(["smallest", "largest"] if has_range else []))
        print_table(rows, header, "llrrr")
    if component.n_unnamed:
        print_warning(
            f"{component.n_unnamed} of these features of {component.component} do not occur in "
            f"{data}, so their names are unknown. The training corpus has all features."
        )


def _range(feature: WeightedFeature) -> list[str]:
    """The smallest and the largest weight, each with the preceding label that it belongs to."""
    ends: list[Any] = sorted(feature.after.items(), key=lambda pair: pair[1])
    return [f"{_number(weight)} after {label}" for label, weight in (*ends[:1], *ends[-1:])]


def _number(value: float) -> str:
    return f"{value:+.2f}"


def _probability(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"
