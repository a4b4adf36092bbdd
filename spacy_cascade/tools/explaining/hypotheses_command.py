"""The command `spacy cascade hypotheses`: the most probable analyses of each sentence."""

from typing import Annotated

import spacy
from spacy.tokens import Doc

from ...cli.options import Html, Json, Model, Text, option
from ...cli.output import (
    print_line,
    print_table,
    reports_errors,
    texts_of,
    write_file,
    write_json,
)
from ...pipeline.spans.nbest import MOST
from ...workflows.sentences import split_sentences
from .hypotheses import Hypotheses, joint_hypotheses
from .page import make_hypotheses_page


@reports_errors
def hypotheses_command(
    model: Model,
    text: Text,
    n: Annotated[int, option("Hypotheses for each sentence", "--n", "-n", min=1, max=MOST)] = 5,
    json: Json = None,
    html: Html = None,
) -> None:
    """
    Show the most probable hypotheses for each sentence.

    A hypothesis is one complete analysis of a sentence: its spans and their types. Its
    probability is the probability of the spans times those of the types. All entities of the
    first hypothesis are listed. Each of the others is shown by its differences from the first:
    what it adds (+) and what it lacks (-). A pipeline that sets no sentence starts gets a
    sentencizer.
    """
    nlp = spacy.load(model)
    split_sentences(nlp)
    doc = nlp(text)
    sentences = joint_hypotheses(nlp, doc, n)
    for sentence in sentences:
        _print_sentence(doc, sentence)
    if json is not None:
        write_json(json, [sentence.to_json(doc) for sentence in sentences], "Hypotheses")
    if html is not None:
        page = make_hypotheses_page(nlp, doc, sentences, model=str(model))
        write_file(html, page, "Hypotheses")


def _print_sentence(doc: Doc, sentence: Hypotheses) -> None:
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
