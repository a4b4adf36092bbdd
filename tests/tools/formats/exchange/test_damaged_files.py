"""Bad input: an error that names the file and the line, and what is read of the rest."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_files import texts_in, written
from spacy_cascade.errors import CascadeError, ConfigError, CorpusError
from spacy_cascade.tools.formats.bad_records import check_none
from spacy_cascade.tools.formats.exchange.base import FormatOptions
from spacy_cascade.tools.formats.exchange.registry import AUTO, find_sources, formats
from spacy_cascade.tools.formats.exchange.source import Source
from spacy_cascade.tools.formats.texts import AnnotatedText, LeftOut


def read(path: Path, name: str = AUTO) -> None:
    reader, sources = find_sources(path, name)
    for source in sources:
        list(reader.read(source, FormatOptions()))


def error_of(path: Path) -> str:
    """The first error of a file, which ends its reading."""
    with pytest.raises(CorpusError) as caught:
        read(path)
    return str(caught.value)


def read_all(path: Path) -> tuple[list[AnnotatedText], list[str]]:
    """The texts of a file, and the errors of what is bad in it."""
    bad: list[CorpusError] = []
    return texts_in(path, on_bad=bad.append), list(map(str, bad))


def prodigy(text: str, *spans: dict[str, Any]) -> str:
    return json.dumps({"text": text, "spans": spans})


def task(text: object, *values: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"text": text}, "annotations": [{"result": [{"value": v} for v in values]}]}


def bioc(text: str, *locations: tuple[int, int]) -> dict[str, Any]:
    annotations = [
        {"infons": {"type": "X"}, "text": "", "locations": [{"offset": start, "length": length}]}
        for start, length in locations
    ]
    return {"id": text, "passages": [{"offset": 0, "text": text, "annotations": annotations}]}


SPAN = {"start": 0, "end": 1, "label": "X"}
LABELS = {"start": 0, "end": 1, "labels": ["X"]}
XML = "<document><id>{0}</id><passage><offset>0</offset><text>{0}</text>{1}</passage></document>"
XML_SPAN = '<annotation><infon key="type">X</infon><location offset="{}" length="1"/></annotation>'
BAD_ROWS = [
    ('{"text": "x', "2: the JSON that begins here is cut"),
    ('{"text": "x", "spans": [', "2: the JSON that begins here is cut"),
    ('"x"', "2: a JSON object was expected"),
    ('{"spans": []}', "2: there is no text, in"),
    ('{"text": 3, "spans": []}', "2: the text is int, not a string"),
    ('{"text": "\\ud83d", "spans": []}', "2: the text has half of a surr"),
    (prodigy("x").replace("}", ', "answer": "yes"}'), "2: the answer is 'yes'"),
    ('{"text": "a", "spans": {}}', "2: 'spans' is no list"),
]
BAD_SPANS: list[tuple[Any, Any, str]] = [
    # of Prodigy, of Doccano, what is said
    ({**SPAN, "end": 3}, [0, 3, "X"], "a span goes from character 0 to 3, but the text has 2"),
    ({**SPAN, "start": 2}, [2, 1, "X"], "a span goes from character 2 to 1"),
    ({**SPAN, "start": "0"}, ["0", 1, "X"], "the offsets '0' and 1 are not whole numbers"),
    ({**SPAN, "label": None}, [0, 1, None], "the label None is not a"),
]
TASKS = json.dumps([task("ab", LABELS), task("x"), task("cd")], indent=2).replace('"x"', "x")
CASES = [
    # content, number of bad spans, what is said
    *[("\n".join([prodigy("ab", SPAN), row, prodigy("cd")]), 0, said) for row, said in BAD_ROWS],
    *[
        (f"{prodigy('ab', SPAN, span)}\n{prodigy('cd')}", 1, f"1: {said}")
        for span, said in [*((one, said) for one, _, said in BAD_SPANS),
                           (3, "a span or token is no JSON object")]
    ],
    *[
        (json.dumps({"text": "ab", "label": [[0, 1, "X"], span]}) + '\n{"text": "cd", "label": []}',
         1, f"1: {said}")
        for span, said in [*((one, said) for _, one, said in BAD_SPANS),
                           ([2], "'label' has [2], not [start, end, l")]
    ],
    (json.dumps([task("ab", LABELS), task(None), task("cd")]), 0, "1: there is no text"),
    (TASKS, 0, "22: the JSON that begins here is cut"),
    (json.dumps([task("ab", {**LABELS, "end": 3}, LABELS), task("cd")]), 1, "1: a span goes from"),
    ("1|t|ab\n1\t0\t1\ta\tX\n\n2|x|x\n\n3|t|cd\n", 0, "4: there is no title"),
    ("1|t|ab\n1\t0\t3\tab\tX\n1\t0\t1\ta\tX\n\n3|t|cd\n", 1, "2: a span goes from"),
    (json.dumps({"documents": [bioc("ab", (0, 1)), {"id": 2}, bioc("cd")]}), 0,
     "1: document 2: there is no 'passages'"),
    (json.dumps({"documents": [bioc("ab", (0, 1), (0, 3)), bioc("cd")]}), 1,
     "1: document ab: a span goes from character 0 to 3"),
    ("<collection>" + XML.format("ab", XML_SPAN.format(0))
     + XML.format("x", "").replace(">0<", ">-1<") + XML.format("cd", "") + "</collection>", 0,
     "1: the offset '-1' is no number from 0"),
    ("<collection>" + XML.format("ab", XML_SPAN.format(0) + XML_SPAN.format(2))
     + XML.format("cd", "") + "</collection>", 1, "1: a span goes from character 2 to 3"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "n_bad_spans", "message"), CASES)
def test_the_rest_is_read(content: str, n_bad_spans: int, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "in.data", content)
    texts, (bad,) = read_all(path)
    assert [text.text for text in texts] == ["ab", "cd"]
    assert [len(text.mentions) for text in texts] == [1, 0]
    assert [text.bad_spans for text in texts] == [n_bad_spans, 0]
    assert error_of(path) == bad
    assert bad.startswith(f"{path}:{message}")
    assert "nothing behind it" not in bad


def test_documents_of_brat_are_read_one_by_one(tmp_path: Path) -> None:
    files = {"a.ann": "T1\tX 0 1\ta\nT2\tX 1 9\tb\n", "a.txt": "ab", "b.ann": "", "c.ann": "",
             "c.txt": "cd"}  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    texts, bad = read_all(tmp_path)
    assert [(one.text, len(one.mentions), one.bad_spans) for one in texts] == [
        ("ab", 1, 1), ("cd", 0, 0),
    ]  # fmt: skip
    assert [error.split(": ")[0] for error in bad] == [
        f"{tmp_path / 'a.ann'}:2", f"{tmp_path / 'b.ann'}:1",
    ]  # fmt: skip


def test_damage_on_the_same_line_and_in_the_first_record(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps([task("ab"), task("x"), task("cd")]).replace('"x"', "x"))
    texts, bad = read_all(path)
    assert [text.text for text in texts] == ["ab"]
    assert "nothing behind it can be read either" in bad[0]
    path.write_text('{"text": "x\n{"text": "ab", "spans": []}\n')
    texts, bad = read_all(path)
    assert [text.text for text in texts] == ["ab"]
    assert bad[0].startswith(f"{path}:1: the JSON that begins here is cut or damaged")
    path.write_text('{"text": "ab", "spans": []}\n{"text": "x')
    assert "nothing behind it" not in read_all(path)[1][0]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["good", '{"x', "[1", "{}}", "7", '{"a": "\\ud83d"']), min_size=1))
def test_each_line_is_read_or_named(lines: list[str]) -> None:
    """Also where bad lines follow each other; a line that says more than one thing is named."""
    good = '{"text": "ab"}'
    bad: list[CorpusError] = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "in.jsonl"
        path.write_text("\n".join(good if line == "good" else line for line in lines))
        rows = list(Source(path).rows(bad.append))
    named = {str(error).removeprefix(f"{path}:").split(":")[0] for error in bad}
    found = {str(row.line) for row in rows if row.value}
    assert found == {str(i) for i, line in enumerate(lines, 1) if line == "good"}
    assert named == {str(i) for i, line in enumerate(lines, 1) if line != "good"}


def test_errors_are_told_with_their_number() -> None:
    check_none([])
    errors = [CorpusError(f"in:{i}: odd.") for i in range(1, 1_234)]
    with pytest.raises(CorpusError, match=r"^in:1: odd\. Or leave it out: --skip-bad\.$"):
        check_none(errors[:1])
    with pytest.raises(CorpusError) as caught:
        check_none(errors)
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("1,233 records or spans cannot be read. Correct them, or")
    assert lines[1:] == [f"  in:{i}: odd." for i in range(1, 21)]


ROW = "{}\t{}\t_\t_\t_\t_\t0\t_\t_\t{}\n"


def conllu(*sentences: tuple[str, str]) -> str:
    return "\n".join(ROW.format(1, word, misc) for word, misc in sentences)


@pytest.mark.parametrize(
    ("content", "words", "lines"),
    [
        (conllu(("a", "NER=B-X"), ("b", "NER=Q"), ("c", "NER=B-X"), ("d", "_")), "acd", [3]),
        (conllu(("a", "Entity=(e1-X)"), ("b", "Entity=(e1-X"), ("c", "_")), "ac", [3]),
        (conllu(("a", "NER=B-X")) + "\n1\tb\n\n" + conllu(("c", "_")), "ac", [3]),
        (
            '{"tokens": ["a"], "ner_tags": ["B-X"]}\n{"tokens": ["b"], "ner_tags": []}\n'
            '{"tokens": ["c"], "ner_tags": ["Q-X"]}\n{"tokens": [""], "ner_tags": ["O"]}\n'
            '{"tokens": ["d"\n{"tokens": ["e"], "ner_tags": ["O"]}', "ae", [2, 3, 4, 5],
        ),
        ("a\tB-X\n\nb\tQ\n\nx\tO\nc\n\nd\tI-X\n\ne\tB-X\n", "ade", [3, 6]),
        ("a\tU-X\n\nb\tI-X\nb\tO\n\nc\tB-X\n\nd\tO\n", "ad", [3, 6]),
        ("a\tB-X\n\nb\tO\tO\nb\n\n\nc\tO\n", "ac", [3, 4]),
    ],
)  # fmt: skip
def test_the_rest_of_files_of_words_is_read(
    content: str, words: str, lines: list[int], tmp_path: Path
) -> None:
    path, bad = tmp_path / "in.data", list[CorpusError]()
    path.write_text(content, encoding="utf8")
    reader, (source,) = find_sources(path)
    found = list(reader.read(source, FormatOptions(on_bad=bad.append)))
    texts = [
        one.text
        if isinstance(one, AnnotatedText)
        else " ".join(sum((s.words for s in one.sentences), ()))
        for one in found
        if not isinstance(one, LeftOut)
    ]
    assert " ".join(texts).split() == list(words)
    named = sorted(int(str(error).removeprefix(f"{path}:").split(":")[0]) for error in bad)
    assert named == lines
    with pytest.raises(CorpusError):
        list(reader.read(source, FormatOptions()))


LINE = '{"text": "a b", "spans": [], "answer": "accept"}\n'
TASK = {"data": {"text": "a b"}, "annotations": [{"result": []}]}
BIOC = (
    "<collection>\n<document><id>1</id><passage><offset>0</offset><text>a b</text>\n{}"
    "</passage></document></collection>"
)
ELEMENT = '<annotation id="1"><infon key="type">X</infon>{}<text>a</text></annotation>'
CONLLU = "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n"


def labelled(start: object, end: object, labels: list[object]) -> str:
    value = {"start": start, "end": end, "labels": labels}
    result = [{"type": "labels", "value": value}]
    return json.dumps([{**TASK, "annotations": [{"result": result}]}])


BAD = {
    "cut list": (json.dumps([TASK, TASK])[:-9], "1: the JSON that begins here is cut"),
    "list without end": (f"[{json.dumps(TASK)},\n", "2: the JSON that begins here is cut"),
    "latin-1": (LINE.encode() + '{"text": "é"}'.encode("latin-1"), "2: the file is not UTF-8"),
    "task label": (labelled(0, 1, [1]), "1: the label 1 is not a text"),
    "field": ('[{"data": {"body": "a"}, "annotations": []}]', "1: there is no text under 'text'"),
    "unknown JSON": ('{"words": []}', "1: none of the known formats"),
    "unknown XML": ("<?xml version='1.0'?><x/>", "1: none of the known formats"),
    "no words": ('{"tokenized_text": [], "ner": []}', "1: there are no words"),
    "span of words": ('{"tokenized_text": ["a"], "ner": [[0, "x", "X"]]}', "1: 'ner' has [0, 'x'"),
    "BioC text": ('{"id": 1, "passages": [{"offset": 0, "text": 3}]}', "1: document 1: the text"),
    "BioC offset": ('{"id": 1, "passages": [{"offset": -1, "text": "a"}]}', "1: document 1: the o"),
    "BioC list": ('{"documents": [{"id": 1, "passages": 3}]}', "1: document 1: 'passages' is"),
    "BioC lists": ('{"documents": [{"id": 1, "passages": [3]}]}', "1: document 1: 'passages' is"),
    "BioC infons": (
        '{"id": 1, "passages": [{"offset": 0, "text": "a", "annotations": [{"infons": 3}]}]}',
        "1: document 1: there is no 'type'",
    ),
    "type in brackets": (CONLLU.replace("_\n", "Entity=(e1)\n"), "1: the bracket '(e1' has no"),
    "tag number": ('{"tokens": ["a"], "ner_tags": [1]}', "1: the tag 1 has no name"),
    "tag count": ('{"tokens": ["a"], "ner_tags": []}', "1: 1 tokens have 0 ner_tags"),
    "tag": ('\n{"tokens": ["a"], "ner_tags": ["Q-X"]}', "2: word 1: 'Q-X' is not a tag"),
    "no tokens": ('{"tokens": ["a"], "ner_tags": ["O"]}\n{"id": 3}', "2: there are no tokens"),
    "no tags": ('{"tokens": ["a"], "ner_tags": ["O"]}\n{"tokens": ["a"]}', "2: there are no ner_t"),
    "annotation": ('[{"data": {"text": "a"}, "annotations": [3]}]', "1: an annotation is no JSON"),
    "token": ('{"tokens": [""], "ner_tags": ["O"]}', "1: the word '' is empty"),
    "pubtator fields": ("1|t|a\n1\t0\n", "2: there are 2 fields"),
    "pubtator name": ("1|t|a\n2\t0\t1\ta\tX\n", "2: a line of document '1' was expected"),
    "cut XML": (BIOC.format("")[:-9], "3: the XML is cut or damaged"),
    "BioC location": (BIOC.format(ELEMENT.format("")), "3: the annotation has no location"),
    "BioC offsets": (
        BIOC.format(ELEMENT.format('<location offset="2" length="4"/>')),
        "3: a span goes from character 2 to 6",
    ),
    "BioC number": (
        BIOC.format(ELEMENT.format('<location offset="x" length="4"/>')),
        "3: the location 'x', 4 is no pair of numbers",
    ),
    "BioC passages": (
        BIOC.format(
            "</passage><passage><offset>1</offset><text>c</text>"
            + ELEMENT.format('<location offset="1" length="1"/>')
        ),
        "3: the text at offset 1 begins before the end of the one before it",
    ),
    "BioC gap": (
        BIOC.format("</passage><passage><offset>99999999999</offset><text>c</text>"),
        "3: the offset 99,999,999,999 is far behind the text before it",
    ),
    "CoNLL-U tag": (CONLLU.replace("_\n", "NER=Q-X\n"), "1: word 1: 'Q-X' is not a tag"),
    "CoNLL-U columns": (CONLLU + "\n1\tb\n", "3: a line has 2 columns, not 10"),
    "CoNLL-U number": (CONLLU + CONLLU.replace("1", "x", 1), "2: 'x' is no number of a word"),
    "closing bracket": (CONLLU.replace("_\n", "Entity=e1)\n"), "1: the bracket 'e1') was not op"),
    "brackets": (CONLLU.replace("_\n", "Entity=(e1-X(e2-Y))\n"), "1: the bracket (e1 is not cl"),
    "opening bracket": (CONLLU.replace("_\n", "Entity=(e1-X\n"), "1: the bracket (e1 is not cl"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_an_error_that_names_file_and_line(what: str, tmp_path: Path) -> None:
    content, message = BAD[what]
    path = written(tmp_path / "in.data", content)
    assert error_of(path).startswith(f"{path}:{message}")
    assert "\n" not in error_of(path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.ann": "T1\tX 0 1\ta\n"}, "a.ann:1: there is no a.txt beside it"),
        ({"a.ann": "T1\tX 0 9\ta\n", "a.txt": "abc"}, "a.ann:1: a span goes from character 0 to 9"),
        ({"a.ann": "\nT1 X 0 1\n", "a.txt": "abc"}, "a.ann:2: this is no span"),
        ({"a.ann": "", "a.txt": b"\n\xff"}, "a.txt:2: the file is not UTF-8"),
        ({"notes.md": "x"}, "has no files to read"),
        ({"a.jsonl": LINE, "b.iob": "a O\n"}, "different formats: "),
    ],
)
def test_bad_folders(files: dict[str, str | bytes], message: str, tmp_path: Path) -> None:
    for name, content in files.items():
        written(tmp_path / name, content)
    assert message in error_of(tmp_path)


def test_nothing_to_read_in_a_given_format(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"has no \.ann files"):
        read(tmp_path, "brat")
    with pytest.raises(CorpusError, match="is empty"):
        read(written(tmp_path / "a.jsonl", " \n"), "prodigy")


def test_unknown_and_ambiguous_formats(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "spans": [], "label": []}')
    with pytest.raises(CorpusError, match=r"may be doccano or prodigy\. Say which by --format"):
        find_sources(path)
    assert find_sources(path, "doccano")[0].name == "doccano"
    with pytest.raises(ConfigError, match=r"no format 'spacy'\. Choose one of: argilla, bioc-json"):
        find_sources(path, "spacy")
    with pytest.raises(CorpusError, match="no words, so there is nothing to write to columns"):
        find_sources(path, "columns")[0].write([], path)


KEYS = (
    "text", "spans", "answer", "tokens", "start", "end", "label", "labels", "entities", "data",
    "start_offset", "end_offset", "annotations", "predictions", "result", "value", "ner_tags",
    "documents", "passages", "id", "offset", "infons", "type", "locations", "length", "sentences",
    "PubTator3", "annotator", "annotation_id", "hypertextlabels", "paragraphlabels",
    "globalOffsets", "startOffset", "endOffset", "relations", "content", "annotation", "points",
    "document", "entityLabel", "fields", "responses", "suggestions", "status", "prediction",
    "tokenized_text", "ner", "ner.responses", "ner.suggestion",
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


@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5), max_size=3))
def test_whatever_the_json_is_errors_are_those_of_the_package(rows: list[object]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "in.json"
        for content in (json.dumps(rows), "\n".join(map(json.dumps, rows))):
            path.write_text(content)
            for name in (AUTO, *(name for name in formats() if name != "brat")):
                with suppress(CascadeError):
                    read(path, name)


CELLS = st.sampled_from(
    ["", "a", "B-X", "O", "text", "word", "tag", "entities", "sentence #", '"', '""', "[", "[]",
     "[(0, 1, 'X')]", "['a']", "['O']", "{'entities': [(0, 1, 'X')]}", "1-1", "0-1", "*[1]", "_",
     "X[1]|Y[2]", "#Text=a", "#T_SP=x|value", "#FORMAT=WebAnno TSV 3.3", "\r", "é"]
)  # fmt: skip


@settings(max_examples=60)
@given(
    st.lists(st.lists(CELLS, max_size=4), max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["in.csv", "in.tsv", "in.txt"]),
)
def test_whatever_the_cells_are_errors_are_those_of_the_package(
    rows: list[list[str]], separator: str, name: str
) -> None:
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        path = Path(folder) / name
        path.write_text("\n".join(separator.join(row) for row in rows), newline="")
        for form in (AUTO, "csv-words", "csv-texts", "webanno"):
            with suppress(CascadeError):
                read(path, form)
