"""The command `spacy cascade explain`: why entities are found, and what else may be."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from .explanations import EntityExplanation, Explanation
    from .hypotheses import Hypotheses
    from .top_features import ComponentFeatures, WeightedFeature


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
    alternatives: Annotated[
        int | None, option("Show so many analyses of each sentence instead", min=1, max=100)
    ] = None,
    json: Json = None,
    html: Html = None,
) -> None:
    """
    Explain what a pipeline finds.

    For each entity of TEXT, the features that speak for it and against it are shown. Its bounds
    are compared with the best segmentation that lacks this entity, and its type with the next
    best type. The contributions add up exactly to the difference of the two scores.

    With --alternatives, the most probable hypotheses for each sentence are shown instead. A
    hypothesis is one complete analysis of a sentence: its spans and their types. Its probability is
    the probability of the spans times those of the types. All entities of the first hypothesis are
    listed. Each of the others is shown by its differences from the first: what it adds (+) and what
    it lacks (-). A pipeline that sets no sentence starts gets a sentencizer.
    """
    if alternatives is not None and (data is not None or not text):
        raise ConfigError("--alternatives are those of a TEXT. Give one, and no --data.")
    if not text and data is None:
        raise ConfigError("Give a TEXT to explain, or --data for the top features.")
    found, page = (
        _of_features(model, text, features, data, top)
        if alternatives is None
        else _of_alternatives(model, text, alternatives)
    )
    what = "Explanation" if alternatives is None else "Hypotheses"
    if json is not None:
        write_json(json, found, what)
    if html is not None:
        write_file(html, page(), what)


def _of_features(
    model: Path, text: str, features: int, data: Path | None, top: int
) -> tuple[Any, Callable[[], str]]:
    """What is shown as values for JSON, and the page with it."""
    from ...pipeline.base import is_learner
    from ...pipeline.readers import examples_for
    from .explain import explain_entities
    from .page import make_explanation_page
    from .top_features import top_features

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
    found = {
        "text": text,
        "entities": [entity.to_json() for entity in explained],
        "top_features": [component.to_json() for component in tops],
    }
    paths = {"model": str(model), "data": str(data or "")}
    page = partial(make_explanation_page, nlp, doc, explained, tops, **paths, n_features=features)
    return found, page


def _of_alternatives(model: Path, text: str, n: int) -> tuple[Any, Callable[[], str]]:
    """What is shown as values for JSON, and the page with it."""
    from ...workflows.sentences import split_sentences
    from .hypotheses import joint_hypotheses
    from .page import make_hypotheses_page

    nlp = spacy.load(model)
    split_sentences(nlp)
    doc = nlp(text)
    sentences = joint_hypotheses(nlp, doc, n)
    for sentence in sentences:
        _print_sentence(doc, sentence)
    found = [sentence.to_json(doc) for sentence in sentences]
    return found, partial(make_hypotheses_page, nlp, doc, sentences, model=str(model))


def _print_entities(doc: Doc, explained: "Sequence[EntityExplanation]", n: int) -> None:
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


def _print_stage(doc: Doc, stage: "Explanation", n: int) -> None:
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


def _print_component(component: "ComponentFeatures", data: str) -> None:
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


def _range(feature: "WeightedFeature") -> list[str]:
    """The smallest and the largest weight, each with the preceding label that it belongs to."""
    ends: list[Any] = sorted(feature.after.items(), key=lambda pair: pair[1])
    return [f"{_number(weight)} after {label}" for label, weight in (*ends[:1], *ends[-1:])]


def _number(value: float) -> str:
    return f"{value:+.2f}"


def _probability(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _print_sentence(doc: Doc, sentence: "Hypotheses") -> None:
    print_line(doc[sentence.start : sentence.end].text)
    best = sentence.hypotheses[0].entities
    rows = []
    for rank, hypothesis in enumerate(sentence.hypotheses, 1):
        added = [entity for entity in hypothesis.entities if entity not in best]
        lacking = [entity for entity in best if entity not in hypothesis.entities]
        differences = texts_of(doc, added, "+ ") + texts_of(doc, lacking, "- ")
        entities = (texts_of(doc, best) or ["nothing"]) if rank == 1 else differences
        rows.append((rank, f"{hypothesis.probability:.4f}", ", ".join(entities)))
    print_table(rows, ("", "probability", "entities"), "rrl")
