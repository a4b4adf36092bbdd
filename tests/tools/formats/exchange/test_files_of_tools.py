"""Files that the tools' own libraries wrote.

They were made with bioc 2.1, conllu 6.0.0, datasets 5.2.0, label-studio-sdk 2.1.2 and the exporter
of doccano 1.8.4. `prodigy.jsonl` follows https://prodi.gy/docs/api-interfaces by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from format_files import FILES, entities_of, left_out_of, records_in, texts_in, texts_of, written
from helpers import blank
from spacy_cascade.tools.formats.columns import ReadOptions
from spacy_cascade.tools.formats.exchange.base import FormatOptions, WordFormat
from spacy_cascade.tools.formats.exchange.registry import find_sources
from spacy_cascade.tools.formats.placing import Misfit, place
from spacy_cascade.tools.formats.texts import AnnotatedText

TITLE = "IL-2 activates STAT5."
TEXT = f"{TITLE}\nIn café 😀 studies, IL-2-induced T cells bound NF-kappa B and GATA-3."
ENTITIES = [
    ("IL-2", "protein"), ("STAT5", "protein"), ("T cells", "cell"), ("NF-kappa B", "protein"),
    ("GATA-3", "protein"),
]  # fmt: skip
OF_TOOLS = {
    "bioc.xml": ("bioc-xml", [(TEXT, ENTITIES)]),
    "bioc.json": ("bioc-json", [(TEXT, ENTITIES)]),
    "articles.pubtator": ("pubtator", [(TEXT, ENTITIES), ("Nothing here.", [])]),
    "brat": ("brat", [(TEXT, ENTITIES)]),
    "doccano.jsonl": ("doccano", [(TEXT, ENTITIES), ("Nothing here.", [])]),
    "doccano_relations.jsonl": ("doccano", [(TEXT, ENTITIES), ("Nothing here.", [])]),
    "label_studio.json": ("label-studio", [(TEXT, ENTITIES)]),
    "label_studio_min.json": ("label-studio", [(TEXT, ENTITIES)]),
    "prodigy.jsonl": (
        "prodigy",
        [(TITLE, ENTITIES[:2]), ("In café 😀 T cells bound GATA-3.", ENTITIES[2:3])],
    ),
    "tags.conllu": (
        "conllu",
        [("Ada Byron va au Havre.", [("Ada Byron", "PER"), ("au Havre", "LOC")]), ("Rien !", [])],
    ),
    "brackets.conllu": (
        "conllu",
        [("The Paris Bank saw Ada.", [("The Paris Bank", "organization"), ("Ada", "person")])],
    ),
}


def texts(name: str, **options: Any) -> list[AnnotatedText]:
    """The texts that somebody annotated."""
    return [one for one in texts_in(FILES / name, **options) if one.is_annotated]


@pytest.mark.parametrize("name", OF_TOOLS)
def test_texts_and_entities_are_those_of_the_tool(name: str) -> None:
    form, expected = OF_TOOLS[name]
    assert find_sources(FILES / name)[0].name == form
    nlp = blank()
    found = []
    for text in texts(name):
        doc = place(text, nlp.make_doc, nlp.vocab, spans_key=None).doc
        found.append((doc.text, [(span.text, span.label_) for span in doc.ents]))
    assert found == expected


@pytest.mark.parametrize("name", ["bioc.xml", "bioc.json", "brat"])
def test_discontinuous_spans_are_not_read_as_others(name: str) -> None:
    nlp = blank()
    (text,) = texts(name)
    (lost,) = place(text, nlp.make_doc, nlp.vocab, spans_key=None).lost
    assert lost.misfit == Misfit.PARTS
    assert lost.mention.parts == ((41, 46), (54, 61))


def test_what_is_rejected_or_cancelled_is_left_out() -> None:
    reasons = left_out_of(records_in(FILES / "prodigy.jsonl"))
    assert reasons == ["texts answered reject", "texts answered ignore"]
    found = records_in(FILES / "label_studio.json")
    reasons = left_out_of(found)
    further = "further annotations of the same text"
    assert reasons == ["cancelled annotations", further, "cancelled annotations"]
    assert [one.is_annotated for one in texts_of(found)] == [True, False]
    found = records_in(FILES / "label_studio_min.json")
    assert left_out_of(found) == [further]


def test_predictions_count_if_asked_for() -> None:
    found = texts("label_studio.json", predictions=True)
    assert [one.name for one in found] == ["1", "3"]
    assert [mention.label for mention in found[1].mentions] == ["protein"]


def test_yes_or_no_to_one_span_says_nothing_of_other_words() -> None:
    nlp = blank()
    text = texts("prodigy.jsonl")[1]
    doc = place(text, nlp.make_doc, nlp.vocab, spans_key=None).doc
    assert [token.text for token in doc if token.ent_iob_] == ["T", "cells"]


def test_offsets_of_javascript_are_understood(tmp_path: Path) -> None:
    """A browser counts the emoji as two: the text of the span tells."""
    (tasks, *_) = json.loads((FILES / "label_studio.json").read_text(encoding="utf8"))
    tasks["annotations"] = tasks["annotations"][1:2]
    for result in tasks["annotations"][0]["result"]:
        value = result["value"]
        start, end = (len(TEXT[: value[k]].encode("utf-16-le")) // 2 for k in ("start", "end"))
        value |= {"start": start, "end": end, "text": TEXT[value["start"] : value["end"]]}
    assert entities_of(*texts_in(written(tmp_path / "in.json", json.dumps([tasks])))) == ENTITIES


@pytest.mark.parametrize("name", ["tag_names.jsonl", "tag_numbers.jsonl"])
def test_token_lists_of_datasets(name: str) -> None:
    reader, (source,) = find_sources(FILES / name)
    assert (reader.name, isinstance(reader, WordFormat)) == ("huggingface", True)
    names = tuple((FILES / "tag_names.txt").read_text(encoding="utf8").split())
    options = FormatOptions(ReadOptions(), names)
    assert isinstance(reader, WordFormat)
    (first,), (second,) = (document.sentences for document in reader.read(source, options))
    assert first.words == ("Ada", "Byron", "left", "Paris", ".")
    assert [(span.start, span.end, span.label) for span in first.spans] == [
        (0, 2, "PER"), (3, 4, "LOC"),
    ]  # fmt: skip
    assert (second.words, second.spans) == (("Nothing", "here"), ())
