"""Bad input is one error that names the file and the line."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cascade.errors import CascadeError, ConfigError, CorpusError
from spacy_cascade.tools.formats.exchange.base import FormatOptions
from spacy_cascade.tools.formats.exchange.registry import AUTO, find_sources

LINE = '{"text": "a b", "spans": [], "answer": "accept"}\n'
TASK = {"data": {"text": "a b"}, "annotations": [{"result": []}]}
BIOC = (
    "<collection>\n<document><id>1</id><passage><offset>0</offset><text>a b</text>\n{}"
    "</passage></document></collection>"
)
SPAN = '<annotation id="1"><infon key="type">X</infon>{}<text>a</text></annotation>'
CONLLU = "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n"


def labelled(start: object, end: object, labels: list[object]) -> str:
    value = {"start": start, "end": end, "labels": labels}
    result = [{"type": "labels", "value": value}]
    return json.dumps([{**TASK, "annotations": [{"result": result}]}])


BAD = {
    "cut line": (LINE + LINE[:20], "2: the JSON that begins here is cut"),
    "cut list": (json.dumps([TASK, TASK])[:-9], "1: the JSON that begins here is cut"),
    "no object": (LINE + "3\n", "2: a JSON object was expected"),
    "no text": (LINE + '{"spans": []}\n', "2: there is no text, in"),
    "no string": (LINE + '{"text": 3, "spans": []}\n', "2: the text is int, not a string"),
    "half a pair": (LINE + '{"text": "\\ud83d", "spans": []}', "2: the text has half of a surr"),
    "past the text": (
        LINE + '{"text": "a b", "spans": [{"start": 2, "end": 4, "label": "X"}]}',
        "2: a span goes from character 2 to 4, but the text has 3",
    ),
    "no number": (
        '{"text": "a", "spans": [{"start": "0", "end": 1, "label": "X"}]}',
        "1: the offsets '0' and 1 are not whole numbers",
    ),
    "no label": ('{"text": "a", "spans": [{"start": 0, "end": 1}]}', "1: the label None is not a"),
    "answer": (LINE.replace('"accept"', '"yes"'), "1: the answer is 'yes'"),
    "spans": ('{"text": "a", "spans": {}, "answer": "accept"}', "1: 'spans' is no list"),
    "span": ('{"text": "a", "spans": [1]}', "1: a span or token is no JSON object"),
    "latin-1": (LINE.encode() + '{"text": "é"}'.encode("latin-1"), "2: the file is not UTF-8"),
    "triple": ('{"text": "a", "label": [[0, 1]]}', "1: 'label' has [0, 1], not [start, end, l"),
    "doccano offsets": ('{"text": "a", "label": [[0, 2, "X"]]}', "1: a span goes from character"),
    "task offsets": (labelled(0, 9, ["X"]), "1: a span goes from character 0 to 9"),
    "task label": (labelled(0, 1, [1]), "1: the label 1 is not a text"),
    "field": ('[{"data": {"body": "a"}, "annotations": []}]', "1: there is no text under 'text'"),
    "unknown JSON": ('{"words": []}', "1: none of the known formats"),
    "unknown XML": ("<?xml version='1.0'?><x/>", "1: none of the known formats"),
    "tag number": ('{"tokens": ["a"], "ner_tags": [1]}', "1: the tag 1 has no name"),
    "tag count": ('{"tokens": ["a"], "ner_tags": []}', "1: 1 tokens have 0 ner_tags"),
    "tag": ('\n{"tokens": ["a"], "ner_tags": ["Q-X"]}', "2: word 1: 'Q-X' is not a tag"),
    "no tokens": ('{"tokens": ["a"], "ner_tags": ["O"]}\n{"id": 3}', "2: there are no tokens"),
    "annotation": ('[{"data": {"text": "a"}, "annotations": [3]}]', "1: an annotation is no JSON"),
    "token": ('{"tokens": [""], "ner_tags": ["O"]}', "1: the word '' is empty"),
    "pubtator title": ("1|a|b\n", "1: there is no title"),
    "pubtator fields": ("1|t|a\n1\t0\n", "2: there are 2 fields"),
    "pubtator offsets": ("1|t|a\n1\t0\t3\ta\tX\n", "2: a span goes from character 0 to 3"),
    "pubtator name": ("1|t|a\n2\t0\t1\ta\tX\n", "2: a line of document '1' was expected"),
    "cut XML": (BIOC.format("")[:-9], "3: the XML is cut or damaged"),
    "BioC location": (BIOC.format(SPAN.format("")), "3: the annotation has no location"),
    "BioC offsets": (
        BIOC.format(SPAN.format('<location offset="2" length="4"/>')),
        "3: a span goes from character 2 to 6",
    ),
    "BioC number": (
        BIOC.format(SPAN.format('<location offset="x" length="4"/>')),
        "3: the location 'x', 4 is no pair of numbers",
    ),
    "BioC passages": (
        BIOC.format(
            "</passage><passage><offset>1</offset><text>c</text>"
            + SPAN.format('<location offset="1" length="1"/>')
        ),
        "3: the text at offset 1 begins before the end of the one before it",
    ),
    "BioC gap": (
        BIOC.format("</passage><passage><offset>99999999999</offset><text>c</text>"),
        "3: the offset 99,999,999,999 is far behind the text before it",
    ),
    "BioC JSON": ('{"documents": [{"id": 1}]}', "1: document 1: there is no 'passages'"),
    "CoNLL-U tag": (CONLLU.replace("_\n", "NER=Q-X\n"), "1: word 1: 'Q-X' is not a tag"),
    "CoNLL-U columns": (CONLLU + "\n1\tb\n", "3: a line has 2 columns, not 10"),
    "CoNLL-U number": (CONLLU + CONLLU.replace("1", "x", 1), "2: 'x' is no number of a word"),
    "closing bracket": (CONLLU.replace("_\n", "Entity=e1)\n"), "1: the bracket 'e1') was not op"),
    "opening bracket": (CONLLU.replace("_\n", "Entity=(e1-X\n"), "1: the bracket (e1 is not cl"),
}  # fmt: skip


def read(path: Path, name: str = AUTO) -> None:
    reader, sources = find_sources(path, name)
    for source in sources:
        list(reader.read(source, FormatOptions()))


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_an_error_that_names_file_and_line(what: str, tmp_path: Path) -> None:
    content, message = BAD[what]
    path = tmp_path / "in.data"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CorpusError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:{message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.ann": "T1\tX 0 1\ta\n"}, "a.ann:1: there is no a.txt beside it"),
        ({"a.ann": "T1\tX 0 9\ta\n", "a.txt": "abc"}, "a.ann:1: a span goes from character 0 to 9"),
        ({"a.ann": "\nT1 X 0 1\n", "a.txt": "abc"}, "a.ann:2: this is no span"),
        ({"a.ann": "", "a.txt": b"a\n\xff"}, "a.txt:2: the file is not UTF-8"),
        ({"notes.md": "x"}, "has no files to read"),
        ({"a.jsonl": LINE, "b.iob": "a O\n"}, "different formats: "),
    ],
)
def test_bad_folders(files: dict[str, str | bytes], message: str, tmp_path: Path) -> None:
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
    with pytest.raises(CorpusError) as caught:
        read(tmp_path)
    assert message in str(caught.value)


def test_a_folder_without_annotation_is_no_folder_of_brat(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"has no \.ann files"):
        read(tmp_path, "brat")


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(" \n")
    with pytest.raises(CorpusError, match="is empty"):
        read(tmp_path / "a.jsonl", "prodigy")


def test_unknown_and_ambiguous_formats(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "spans": [], "label": []}')
    with pytest.raises(CorpusError, match=r"may be doccano or prodigy\. Say which by --format"):
        find_sources(path)
    assert find_sources(path, "doccano")[0].name == "doccano"
    with pytest.raises(ConfigError, match=r"no format 'spacy'\. Choose one of: bioc-json, bioc"):
        find_sources(path, "spacy")
    with pytest.raises(CascadeError, match="columns can only be read"):
        find_sources(path, "columns")[0].write([], path)


KEYS = (
    "text", "spans", "answer", "tokens", "start", "end", "label", "labels", "entities", "data",
    "start_offset", "end_offset", "annotations", "predictions", "result", "value", "ner_tags",
    "documents", "passages", "id", "offset", "infons", "type", "locations", "length", "sentences",
    "PubTator3", "annotator", "annotation_id", "hypertextlabels", "paragraphlabels",
    "globalOffsets", "startOffset", "endOffset", "relations",
)  # fmt: skip
VALUES = st.recursive(
    st.sampled_from(
        ["a b", "", "B-X", None, 0, 1, 7, -100, 0.5, True, "accept", "0", "/p[1]/text()[1]", "<p>a"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5), max_size=3))
def test_whatever_the_json_is_errors_are_those_of_the_package(rows: list[object]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "in.json"
        for content in (json.dumps(rows), "\n".join(map(json.dumps, rows))):
            path.write_text(content)
            for name in (AUTO, "prodigy", "doccano", "label-studio", "huggingface", "bioc-json"):
                with suppress(CascadeError):
                    read(path, name)
