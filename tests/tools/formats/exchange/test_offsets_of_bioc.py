"""BioC as files have it: offsets in other units, from passages, in texts that were changed."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, NoReturn
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_files import entities_of, left_out_of, records_in, texts_of, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.exchange.passages import Gaps
from spacy_cascade.tools.formats.exchange.passages import Passage as Placed
from spacy_cascade.tools.formats.texts import AnnotatedText, Mention, Record


class Span(NamedTuple):
    offset: int
    length: int
    text: str
    label: str = "Gene"


class Passage(NamedTuple):
    offset: int
    text: str
    spans: Sequence[Span] = ()


def as_xml(passages: Sequence[Passage], element: str = "passage") -> str:
    def annotation(span: Span) -> str:
        location = f'<location offset="{span.offset}" length="{span.length}"/>'
        infon = f'<infon key="type">{span.label}</infon>'
        return f"<annotation>{infon}{location}<text>{escape(span.text)}</text></annotation>"

    made = "".join(
        f"<{element}><offset>{one.offset}</offset><text>{escape(one.text)}</text>"
        f"{''.join(map(annotation, one.spans))}</{element}>\n"
        for one in passages
    )
    if element == "sentence":
        made = f"<passage><offset>{passages[0].offset}</offset>{made}</passage>"
    return f"<collection><document><id>1</id>\n{made}</document></collection>"


def as_json(passages: Sequence[Passage], element: str = "passage") -> str:
    def annotation(span: Span) -> dict[str, Any]:
        location = {"offset": span.offset, "length": span.length}
        return {"infons": {"type": span.label}, "text": span.text, "locations": [location]}

    made: list[dict[str, Any]] = [
        {
            "offset": one.offset, "text": one.text,
            "annotations": [annotation(span) for span in one.spans],
        }
        for one in passages
    ]  # fmt: skip
    if element == "sentence":
        made = [{"offset": passages[0].offset, "sentences": made}]
    return json.dumps({"documents": [{"id": "1", "passages": made}]})


WRITERS = [as_xml, as_json]


def records(content: str, form: str = "auto") -> list[Record]:
    with TemporaryDirectory() as folder:
        return records_in(written(Path(folder) / "in", content), form)


def only_text(content: str, form: str = "auto") -> AnnotatedText:
    (text,) = texts_of(records(content, form))
    return text


def size_in(unit: str) -> Callable[[str], int]:
    if unit == "characters":
        return len
    code, width = ("utf-8", 1) if unit == "bytes of UTF-8" else ("utf-16-le", 2)
    return lambda text: len(text.encode(code)) // width


WORDS = st.text("abcdéβ漢😀", min_size=1, max_size=5)


@pytest.mark.parametrize("element", ["passage", "sentence"])
@pytest.mark.parametrize("write", WRITERS)
@settings(max_examples=25)
@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=4),
    st.sampled_from(["characters", "bytes of UTF-8", "UTF-16 code units"]),
    st.booleans(),
    st.integers(0, 3),
)
def test_the_texts_of_annotations_tell_what_offsets_count(
    write: Callable[..., str], element: str, texts: list[list[str]], unit: str, is_relative: bool,
    gap: int,
) -> None:  # fmt: skip
    """Each word is annotated; words differ, so that only one reading can have all of them."""
    numbered = [[f"{word}{i}.{j}" for j, word in enumerate(words)] for i, words in enumerate(texts)]
    size, offset, passages = size_in(unit), gap, []
    for words in numbered:
        whole = " ".join(words)
        spans, at = [], 0
        for word in words:
            spans.append(Span(at + (0 if is_relative else offset), size(word), word))
            at += size(word) + 1
        passages.append(Passage(offset, whole, spans))
        offset += size(whole) + gap
    text = only_text(write(passages, element))
    # `place` leaves out white space at the ends of a span.
    found = [one.strip() for one, _ in entities_of(text)]
    assert found == [word for words in numbered for word in words]
    assert "".join(text.text.split()) == "".join("".join(words) for words in numbered)


@pytest.mark.parametrize("write", WRITERS)
def test_what_offsets_count_is_told(write: Callable[..., str]) -> None:
    title, body = "β-catenin and p53.", "We saw MDM2."
    offset = len(title.encode()) + 1
    passages = [
        Passage(0, title, [Span(0, 10, "β-catenin"), Span(15, 3, "p53")]),
        Passage(offset, body, [Span(offset + 7, 4, "MDM2")]),
    ]
    text = only_text(write(passages))
    assert (text.text, len(text.mentions)) == (f"{title}\n{body}", 3)
    assert text.reading == "offsets that count bytes of UTF-8"
    passages = [Passage(0, "p53 é", [Span(0, 3, "p53")]), Passage(6, "p53", [Span(6, 3, "p53")])]
    text = only_text(write(passages))  # as BioC says
    assert (text.text, text.reading) == ("p53 é\np53", "")
    assert [mention.start for mention in text.mentions] == [0, 6]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("overlap", [1, 4])
@pytest.mark.parametrize("start", [0, 30])
def test_passages_that_overlap_are_read_where_annotations_fit(
    write: Callable[..., str], overlap: int, start: int
) -> None:
    first, second = "Levels of tollin rose", "Quexin binds MIR7."
    offset = start + len(first) - overlap
    passages = [
        Passage(start, first, [Span(start + 10, 6, "tollin"), Span(start + 17, 4, "rose")]),
        Passage(offset, second, [Span(offset, 6, "Quexin"), Span(offset + 13, 4, "MIR7")]),
    ]
    text = only_text(write(passages))
    assert text.text == " " * start + f"{first}\n{second}"
    assert [found for found, _ in entities_of(text)] == ["tollin", "rose", "Quexin", "MIR7"]
    assert text.reading == "passages that overlap"
    shifted = [passages[0], passages[1]._replace(spans=[Span(offset + 1, 6, "Quexin")])]
    with pytest.raises(CorpusError, match=rf"at offset {offset} begins before the end of the one"):
        records(write(shifted))


def with_annotation(content: str, offset: int, found: str) -> str:
    """The JSON with an annotation that is in no passage."""
    value = json.loads(content)
    place = [{"offset": offset, "length": len(found)}]
    annotation = {"infons": {"type": "Other"}, "text": found, "locations": place}
    value["documents"][0]["annotations"] = [annotation]
    return json.dumps(value)


def test_annotations_of_the_document_count_from_its_start() -> None:
    """Also where a passage begins inside of another, and where others count from passages."""
    first, second = "Levels rose", "se Quexin binds."
    overlapping = as_json([Passage(3, first), Passage(12, second)])
    text = only_text(with_annotation(overlapping, 10, "ro"))
    assert (entities_of(text), text.mentions[0].parts) == ([("ro", "Other")], ((10, 12),))
    reverse = as_json([Passage(9, "p53 binds"), Passage(0, "MIR7 and")])
    text = only_text(with_annotation(reverse, 5, "and"))
    assert (text.text[9:], entities_of(text)) == ("p53 binds\nMIR7 and", [("and", "Other")])
    relative = [
        Passage(0, "p53 é"),
        Passage(6, "p53 MIR7", [Span(0, 3, "p53"), Span(4, 4, "MIR7")]),
    ]
    text = only_text(with_annotation(as_json(relative), 2, "3"))
    assert entities_of(text) == [("3", "Other"), ("p53", "Gene"), ("MIR7", "Gene")]
    assert text.reading == "offsets from the start of a passage"


def test_a_document_without_passages_has_no_place_for_annotations() -> None:
    assert only_text(as_json([])).text == ""
    without_text = as_json([Passage(0, "p53", [Span(0, 3, "p53")])]).replace(
        ', "text": "p53", "loc', ', "loc'
    )
    assert only_text(without_text).mentions == (Mention(((0, 3),), "Gene"),)
    with pytest.raises(CorpusError, match="a span goes from character 2 to 5, but the text has 0"):
        records(with_annotation(as_json([]), 2, "p53"))


def test_relations_are_left_out_and_counted() -> None:
    relation = '<annotation id="R"><infon key="type">Binds</infon><infon key="a">T1</infon>{}'
    for rest in ("</annotation>", "<text></text></annotation>"):
        content = as_xml([Passage(0, "p53", [Span(0, 3, "p53")])]).replace(
            "</passage>", relation.format(rest) + '<relation id="R2"/></passage>'
        )
        left_out = left_out_of(records(content))
        assert left_out == ["relations", "relations written as annotations"]
        assert entities_of(only_text(content)) == [("p53", "Gene")]
    document = json.loads(as_json([Passage(0, "p53", [Span(0, 3, "p53")])]))
    (passage,) = document["documents"][0]["passages"]
    passage["relations"] = [{"id": "R2"}]
    passage["annotations"].append({"infons": {"type": "Relation", "a": "T1"}, "text": "p53 binds"})
    left_out = left_out_of(records(json.dumps(document)))
    assert left_out == ["relations", "relations written as annotations"]


def test_sentences_count_where_the_text_of_their_passage_is_empty() -> None:
    content = as_xml([Passage(0, "p53", [Span(0, 3, "p53")])], "sentence")
    text = only_text(content.replace("<passage>", "<passage><text/>"))
    assert (text.text, entities_of(text)) == ("p53", [("p53", "Gene")])


@pytest.mark.parametrize("element", ["document", "sentence"])
def test_annotations_in_odd_places_are_not_lost(element: str) -> None:
    """They count from the start of the document."""
    content = as_xml([Passage(0, "p53 x", [Span(0, 3, "p53")])], "sentence")
    other = '<annotation><infon key="type">Y</infon><location offset="4" length="1"/>{}'
    odd = f"<sentence>{other.format('<text>x</text></annotation>')}</sentence>"
    text = only_text(content.replace(f"</{element}>", f"{odd}</{element}>"))
    assert entities_of(text) == [("x", "Y"), ("p53", "Gene")]


@pytest.mark.parametrize(
    "inside",
    [
        "b<!-- x -->c",
        "b<?x y?>c",
        "<![CDATA[bc]]>",
        "<i>b</i>c",
        "<i>" * 300 + "b" + "</i>" * 300 + "c",
    ],
    ids=range(5),
)
def test_nothing_inside_of_a_text_cuts_it(inside: str) -> None:
    content = as_xml([Passage(0, "a@ d", [Span(3, 1, "d")])]).replace("@", inside)
    content = content.replace('offset="3"', 'offset="4"')
    text = only_text(content)
    assert (text.text, entities_of(text)) == ("abc d", [("d", "Gene")])


@pytest.mark.parametrize("inside", ["<!-- x -->", "<?x y?>"])
def test_nothing_inside_of_other_elements_cuts_them(inside: str) -> None:
    content = as_xml([Passage(12, "p53", [Span(12, 3, "p53")])])
    for found in ("<id>1", "<offset>1", ">Ge"):
        content = content.replace(found, found + inside)
    text = only_text(content.replace("</id>", "7</id>"))
    assert (text.name, text.text) == ("17", " " * 12 + "p53")
    assert [(one.start, one.label) for one in text.mentions] == [(12, "Gene")]


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ('<!DOCTYPE collection [<!ENTITY a "zz">]>', "b&a;c"),
        ('<!DOCTYPE collection SYSTEM "BioC.dtd">', "b&nbsp;c"),
        ("", "b&nbsp;c"),
    ],
)
def test_entities_are_an_error(declared: str, text: str) -> None:
    content = declared + as_xml([Passage(0, "@", [])]).replace("@", text)
    with pytest.raises(CorpusError, match=r"in:2: .*(entity &\w+; is not expanded|Entity 'nbsp')"):
        records(content, "bioc-xml")


def test_no_file_is_read_by_way_of_an_entity(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the key is 4711")
    declared = f"<!DOCTYPE collection [<!ENTITY a SYSTEM {quoteattr(secret.as_uri())}>]>"
    content = declared + as_xml([Passage(0, "a @ b", [])]).replace("@", "&a;")
    with pytest.raises(CorpusError, match="entity &a; is not expanded") as caught:
        records(content, "bioc-xml")
    assert "4711" not in str(caught.value)


def test_gaps_may_be_filled_up_to_a_limit() -> None:
    """The passages themselves add to what may be filled."""
    gaps, told = Gaps(left=5), list[str]()

    def fail(problem: str, advice: str) -> NoReturn:
        told.append(problem)
        raise CorpusError(problem)

    gaps.fill([Placed(6, "a", fail), Placed(5, "bc", fail), Placed(9, "d", fail)])
    assert (gaps.left, told) == (1, [])
    with pytest.raises(CorpusError):
        Gaps(left=5).fill([Placed(7, "a", fail)])
    assert told == ["the offset 7 is far behind the text before it"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_small_file_cannot_fill_the_memory(write: Callable[..., str]) -> None:
    content = write([Passage(n * 600_000, "a") for n in range(400)])
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match=r"the offset 1,200,000 is far behind"):
            records(content)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_gaps_are_white_space_and_limited_for_all_documents_of_a_file() -> None:
    for gap in (1, 2, 30):
        text = only_text(as_json([Passage(0, "a"), Passage(1 + gap, "b")])).text
        assert text == "a\n" + " " * (gap - 1) + "b"
    one = json.loads(as_json([Passage(700_000, "a")]))["documents"]
    with pytest.raises(CorpusError, match="the offset 700,000 is far behind"):
        records(json.dumps({"documents": one * 2}))
