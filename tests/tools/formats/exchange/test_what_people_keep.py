"""Small formats in JSON that people have from other tools, and those that are only named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import run_command as run
from format_files import entities_in, entities_of, left_out_of, records_in, texts_in, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.columns import ReadOptions
from spacy_cascade.tools.formats.exchange.base import FormatOptions, WordFormat
from spacy_cascade.tools.formats.exchange.registry import find_sources

TEXT = "Mira Tolland joined Quexo."
FOUND = [("Mira Tolland", "PER"), ("Quexo", "ORG")]
TRIPLES = [[0, 12, "PER"], [20, 25, "ORG"]]
OBJECTS = [{"start": 0, "end": 12, "label": "PER"}, {"start": 20, "end": 25, "label": "ORG"}]
PAIR = [TEXT, {"entities": TRIPLES}]


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


KEPT = {
    "a list of pairs": ("spacy-v2", json.dumps([PAIR], indent=1)),
    "a pair a line": ("spacy-v2", lines(PAIR, PAIR)),
    "pairs without a dictionary": ("spacy-v2", json.dumps([[TEXT, TRIPLES]])),
    "NER Annotator": ("spacy-v2", json.dumps({"classes": ["PER"], "annotations": [None, PAIR]})),
    "triples": ("doccano", lines({"text": TEXT, "entities": TRIPLES})),
    "objects of a pipeline of transformers": (
        "doccano",
        lines({"text": TEXT, "entities": [
            {"entity_group": "PER", "score": 0.9, "word": "Mira Tolland", "start": 0, "end": 12},
            {"entity_group": "ORG", "score": 0.9, "word": "Quexo", "start": 20, "end": 25},
        ]}),
    ),
    "examples of Rasa": (
        "doccano",
        lines({"text": TEXT, "intent": "news", "entities": [
            {"start": 0, "end": 12, "value": "Mira Tolland", "entity": "PER"},
            {"start": 20, "end": 25, "value": "Quexo", "entity": "ORG"},
        ]}),
    ),
    "Dataturks": (
        "dataturks",
        lines({"content": TEXT, "extras": None, "annotation": [
            {"label": ["PER"], "points": [{"start": 0, "end": 11, "text": "Mira Tolland"}]},
            {"label": ["ORG"], "points": [{"start": 20, "end": 24, "text": "Quexo"}]},
        ]}),
    ),
    "UBIAI": (
        "ubiai",
        json.dumps([{"documentName": "a.txt", "document": TEXT, "relations": [], "tokens": [
            {"text": "Mira Tolland", "start": 0, "end": 12, "token_start": 0, "token_end": 1,
             "entityLabel": "PER"},
            {"text": "Quexo", "start": 20, "end": 25, "token_start": 3, "token_end": 3,
             "entityLabel": "ORG"},
        ]}]),
    ),
    "Argilla 1": (
        "argilla",
        lines({"text": TEXT, "tokens": TEXT.split(), "prediction": None, "status": "Validated",
               "annotation": [["PER", 0, 12], ["ORG", 20, 25]], "id": "a"}),
    ),
    "Argilla 1 with objects": (
        "argilla",
        lines({"text": TEXT, "annotation": OBJECTS, "status": "Validated"}),
    ),
    "Argilla, feedback": (
        "argilla",
        lines({"text": TEXT, "vectors": [[0.5]],
               "ner": [{"user_id": "v", "value": [], "status": "submitted"},
                                     {"user_id": "u", "value": OBJECTS, "status": "submitted"},
                                     {"user_id": "w", "value": None, "status": "discarded"}],
               "ner-suggestion": None, "metadata": "{}"}),
    ),
    "Argilla 2": (
        "argilla",
        json.dumps([{"id": "a", "fields": {"text": TEXT}, "status": "completed", "metadata": {},
                     "responses": {"ner": [{"value": OBJECTS, "user_id": "u"}]},
                     "suggestions": {"ner": {"value": [], "score": None, "agent": "m"}}}]),
    ),
    "Argilla 2 as a dataset": (
        "argilla",
        lines({"id": "a", "status": "completed", "_server_id": "s", "prompt": TEXT,
               "ner.responses": [OBJECTS], "ner.responses.users": ["u"],
               "ner.responses.status": ["submitted"], "ner.suggestion": None}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEPT)
def test_entities_are_those_of_the_tool(kind: str, tmp_path: Path) -> None:
    form, content = KEPT[kind]
    path = written(tmp_path / "in.json", content)
    assert find_sources(path)[0].name == form
    first, *others = [one for one in texts_in(path) if one.is_annotated]
    assert (first.text, entities_of(first)) == (TEXT, FOUND)
    assert all(one.mentions == first.mentions for one in others)


def test_pairs_with_line_numbers_and_what_is_no_pair(tmp_path: Path) -> None:
    content = f'[\n{json.dumps(PAIR)},\n["Ada left.", {{"entities": [[0, 40, "PER"]]}}],\n[3, []]]'
    path = written(tmp_path / "in.json", content)
    bad: list[CorpusError] = []
    assert [one.bad_spans for one in texts_in(path, on_bad=bad.append)] == [0, 1]
    assert [str(one).split(" ")[0] for one in bad] == [f"{path}:4:", f"{path}:3:"]
    assert "a pair was expected" in str(bad[0])
    (text,) = texts_in(written(path, json.dumps([["Fine.", {"cats": {"POS": 1}}]])))
    assert not text.is_annotated


def test_what_nobody_annotated_in_dataturks(tmp_path: Path) -> None:
    rows = [{"content": "One.", "annotation": None}, {"content": "Two.", "annotation": []}]
    path = written(tmp_path / "in.json", lines(*rows))
    assert [one.is_annotated for one in texts_in(path)] == [False, True]
    point = {"start": 0, "end": None}
    row = {"content": "One.", "annotation": [{"label": ["X"], "points": [point]}]}
    with pytest.raises(CorpusError, match="the offsets 0 and None are not whole numbers"):
        texts_in(written(path, lines(row)))


def test_offsets_that_count_utf16(tmp_path: Path) -> None:
    """As of tools in a browser: found for these formats as for others."""
    entities = [
        {"text": word, "start": start, "end": start + len(word), "entityLabel": "PER"}
        for word, start in (("Mira", 3), ("Ada", 8))
    ]
    row = {"document": "😀 Mira Ada", "tokens": entities}
    (text,) = texts_in(written(tmp_path / "in.json", json.dumps([row])))
    assert entities_of(text) == [("Mira", "PER"), ("Ada", "PER")]
    assert "UTF-16" in text.reading


def test_suggestions_and_discarded_records_of_argilla(tmp_path: Path) -> None:
    discarded = {"value": [], "status": "discarded"}
    rows: list[dict[str, Any]] = [
        {"fields": {"prompt": TEXT}, "status": "pending", "responses": {},
         "suggestions": {"ner": {"value": OBJECTS, "agent": "m"}}},
        {"fields": {"prompt": TEXT}, "status": "Discarded", "responses": {}, "suggestions": {}},
        {"fields": {"prompt": TEXT}, "responses": {"ner": [discarded]}, "suggestions": {}},
    ]  # fmt: skip
    path = written(tmp_path / "in.json", json.dumps(rows))
    assert [(one.text, one.is_annotated) for one in texts_in(path)] == [(TEXT, False)] * 2
    suggested, _ = texts_in(path, predictions=True)
    assert (entities_of(suggested), suggested.is_annotated) == (FOUND, True)
    assert left_out_of(records_in(path)) == ["texts that were discarded"]
    rows = [{"text": TEXT, "ner.responses": [], "ner.suggestion": OBJECTS}]
    (suggested,) = texts_in(written(path, lines(*rows)), predictions=True)
    assert entities_of(suggested) == FOUND
    classic = {"text": TEXT, "prediction": [["PER", 0, 12, 0.9]], "annotation": None, "status": "x"}
    (text,) = texts_in(written(path, lines(classic)), predictions=True)
    assert entities_of(text) == FOUND[:1]
    classic |= {"annotation": [["PER", 0]]}
    with pytest.raises(CorpusError, match=r"has \['PER', 0\], not \[start, end, label\]"):
        texts_in(written(path, lines(classic)))


def test_words_of_gliner(tmp_path: Path) -> None:
    words = ["Mira", "Tolland", "of", "Quexo", "left"]
    row = {"tokenized_text": words, "ner": [[3, 3, "ORG"], [0, 1, "PER"], [0, 3, "PER"]]}
    path = written(tmp_path / "in.json", json.dumps([row]))
    reader, sources = find_sources(path)
    assert isinstance(reader, WordFormat)
    (document,) = reader.read(sources[0], FormatOptions())
    (sentence,) = document.sentences
    assert sentence.words == tuple(words)
    assert [(one.start, one.end, one.label) for one in sentence.spans] == [
        (0, 4, "PER"), (0, 2, "PER"), (3, 4, "ORG"),
    ]  # fmt: skip
    run("convert", path, tmp_path / "out.spacy")
    assert entities_in(tmp_path / "out.spacy") == [("Mira Tolland of Quexo", "PER")]
    row["tokenized_text"] = ["Mira", " ", "of", "Quexo", "left"]
    _, (source,) = find_sources(written(path, "\n" + lines(row)))
    with pytest.raises(CorpusError, match=r"in\.json:2: the word ' ' is only whitespace"):
        reader.read(source, FormatOptions())
    (document,) = reader.read(source, FormatOptions(ReadOptions(on_bad_word="replace")))
    (sentence,) = document.sentences
    assert sentence.words == ("Mira", "\ufffd", "of", "Quexo", "left")
    assert (sentence.line, len(sentence.replaced)) == (2, 1)
    row["tokenized_text"] = words
    row["ner"] = [[3, 5, "ORG"]]
    with pytest.raises(CorpusError, match=r"in\.json:1: 'ner' has \[3, 5, 'ORG'\] for 5 words"):
        reader.read(find_sources(written(path, lines(row)))[1][0], FormatOptions())


@pytest.mark.parametrize(("words", "tags"), [("tokens", "ner_tags"), ("words", "labels")])
def test_token_lists_under_other_names(words: str, tags: str, tmp_path: Path) -> None:
    row = {words: ["Mira", "Tolland", "left"], tags: ["B-PER", "I-PER", "O"]}
    path = written(tmp_path / "in.jsonl", lines(row))
    assert find_sources(path)[0].name == "huggingface"
    run("convert", path, tmp_path / "out.spacy")
    assert entities_in(tmp_path / "out.spacy") == [("Mira Tolland", "PER")]


def test_plain_texts_have_names_and_can_be_annotated(tmp_path: Path) -> None:
    rows = [{"id": 7, "text": "One."}, {"id": 8, "text": "Two.", "source": None}]
    path = written(tmp_path / "in.jsonl", lines(*rows))
    assert find_sources(path)[0].name == "texts"
    assert [(one.name, one.text, one.is_annotated) for one in texts_in(path)] == [
        ("7", "One.", False), ("8", "Two.", False),
    ]  # fmt: skip
    _, stderr = run("convert", path, tmp_path / "out.spacy", exit_code=1)
    assert "There is no annotated text to write" in stderr
    assert "texts that nobody annotated 2" in stderr


UNREAD = {
    "GATE XML": ('<?xml version="1.0"?>\n<GateDocument version="3">', "gatenlp"),
    "UIMA XMI": ('<?xml version="1.0"?><xmi:XMI xmlns:xmi="http://x">', "WebAnno TSV 3"),
    "JSON of UIMA": ('{"%TYPES": {}, "%FEATURE_STRUCTURES": []}', "WebAnno TSV 3"),
    "training data of Rasa NLU in JSON": (
        '{"rasa_nlu_data": {"common_examples": []}}', "common_examples",
    ),
    "training data of Rasa NLU": (
        'version: "3.1"\nnlu:\n- intent: go\n  examples: |\n    - to [Oslo](city)\n', "-f json",
    ),
    "concepts of i2b2": ('c="a mild fever" 12:3 12:5||t="problem"\n', "lines from 1"),
    "XML of i2b2": (
        '<?xml version="1.0"?>\n<deIdi2b2>\n<TEXT><![CDATA[On 2067]]></TEXT><TAGS>', "TAGS",
    ),
    "training data of spaCy 2 with paragraphs": (
        '[{"id": 0, "paragraphs": [{"raw": "a", "sentences": []}]}]', "python -m spacy convert",
    ),
    "Parquet": ("PAR1\x15\x04\x15", "to_json"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
def test_a_format_that_is_not_read_is_named_with_a_way(name: str, tmp_path: Path) -> None:
    content, way = UNREAD[name]
    path = written(tmp_path / "in.data", content)
    _, stderr = run("convert", path, tmp_path / "out.spacy", exit_code=1)
    assert f"is {name}, which is not read. " in stderr
    assert way in stderr
    assert "columns" not in stderr


def test_prose_is_no_column_file(tmp_path: Path) -> None:
    path = written(tmp_path / "in.txt", "One\nTwo\n")
    _, stderr = run("convert", path, tmp_path / "out.spacy", exit_code=1)
    assert "A column file has a word and its tag on each line. Is this another format?" in stderr
