"""The command `spacy cascade suggest`: what to annotate next."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import spacy

from ...cli.options import Labels, Model, OtherOutput, argument, option, split_labels
from ...cli.output import counted, print_good, print_table, reports_errors, write_text

if TYPE_CHECKING:
    from .suggest import Suggestion

_SHOWN = 10


@reports_errors
def suggest_command(
    model: Model,
    texts: Annotated[
        Path,
        argument(
            "TEXTS",
            "File or folder: .txt with a text a line, .jsonl with 'text', .gz, .spacy",
        ),
    ],
    output: OtherOutput = None,
    sentences: Annotated[int, option("Sentences to suggest", min=1)] = 100,
    measure: Annotated[
        str, option("How to measure uncertainty: entropy, margin or least_confident")
    ] = "entropy",
    labels: Labels = "",
    diversity: Annotated[
        float, option("How far suggestions should differ in their unsure words, from 0 to 1")
    ] = 0.5,
) -> None:
    """
    List the sentences and spans that a pipeline is least sure of.

    Annotating these sentences teaches more than annotating sentences picked at random. Sentences
    are chosen one by one. What a sentence is worth shrinks with each chosen sentence whose unsure
    spans have the same words, so that suggestions do not repeat each other.

    With --output they are written as JSONL with text, tokens, spans, scores and meta, as Prodigy
    and other tools read it. What is annotated is learnt by spacy cascade adapt.
    """
    from .stream import read_pool, record_of
    from .suggest import Options, suggest

    nlp = spacy.load(model)
    pool, where = read_pool(texts, nlp)
    options = Options(sentences, measure, split_labels(labels) or None, diversity)
    found = suggest(nlp, pool, options)
    rows = [
        (f"{each.sentence.value:.2f}", where[each.source], _text(each)) for each in found[:_SHOWN]
    ]
    print_table(rows, (measure, "from", "sentence"), "rll")
    print_table(_span_rows(found), (measure, "probability", "span"), "rrl")
    if output is not None:
        lines = [
            json.dumps(record_of(each, measure, where[each.source]), ensure_ascii=False) + "\n"
            for each in found
        ]
        write_text(output, "".join(lines))
        print_good(f"{counted(len(found), 'sentence')} of {counted(len(pool), 'text')} -> {output}")


def _text(suggestion: "Suggestion") -> str:
    text = suggestion.doc[suggestion.sentence.start : suggestion.sentence.end].text
    return text if len(text) <= 60 else f"{text[:59]}…"


def _span_rows(found: "Sequence[Suggestion]") -> list[tuple[str, str, str]]:
    """The least sure spans of the suggested sentences."""
    spans = [(span, each.doc) for each in found for span in each.sentence.spans]
    spans.sort(key=lambda pair: -pair[0].value)
    return [
        (f"{s.value:.2f}", f"{s.probability:.2f}", f"{doc[s.start : s.end].text} [{s.label}]")
        for s, doc in spans[:_SHOWN]
    ]
