"""Exports of Label Studio: texts, pages of HTML, dialogues, and what else a project may have."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from format_files import entities_of, left_out_of, records_in, texts_of, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.exchange.base import FormatOptions
from spacy_cascade.tools.formats.exchange.label_studio import annotated_task
from spacy_cascade.tools.formats.exchange.registry import find_sources, format_named
from spacy_cascade.tools.formats.exchange.source import Row, Source
from spacy_cascade.tools.formats.placing import Misfit, misfit_of
from spacy_cascade.tools.formats.texts import AnnotatedText, Record

Value = dict[str, Any]


def region(value: Value, kind: str = "labels", label: str = "PER", **rest: Any) -> Value:
    return {"type": kind, "value": {kind: [label], **value}, **rest}


def ends(first: Any, start: int, last: Any, end: int, **rest: Any) -> Value:
    """The place of a region: a node or turn, and the character in it, for each end."""
    return {"start": first, "startOffset": start, "end": last, "endOffset": end, **rest}


def task(data: Value, *results: Any, **rest: Any) -> Value:
    return {"id": 1, "data": data, "annotations": [{"result": list(results)}], **rest}


def records(tasks: object, **options: Any) -> list[Record]:
    with TemporaryDirectory() as folder:
        path = written(Path(folder) / "in.json", json.dumps(tasks))
        assert find_sources(path)[0].name == "label-studio"
        return records_in(path, **options)


def texts(tasks: object, **options: Any) -> list[AnnotatedText]:
    return texts_of(records(tasks, **options))


def left_out(tasks: object) -> list[str]:
    return left_out_of(records(tasks))


def entities(text: AnnotatedText) -> list[tuple[str, str]]:
    assert not any(misfit_of(text.text, mention)[0] for mention in text.mentions)
    return entities_of(text)


PAGE = (
    "<h1>On <i>IL-2</i> &amp; β</h1><p>Seen by Ada<br>Byron.</p>\n"
    "<ul><li>Rome</li><li>Oslo</li></ul>"
)
"""Global offsets count `On IL-2 & βSeen by Ada⏎Byron.⏎RomeOslo`."""
SHOWN = "On IL-2 & β\nSeen by Ada\nByron.\nRome\nOslo"
OF_PAGE: list[tuple[str, str, tuple[str, int, str, int], tuple[int, int]]] = [
    # What is found, the text that the region has itself, its ends, and its global offsets.
    ("IL-2", "IL-2", ("/h1[1]/i[1]/text()[1]", 0, "/h1[1]/i[1]/text()[1]", 4), (3, 7)),
    ("Ada\nByron", "Ada\n\nByron", ("/p[1]/text()[1]", 8, "/p[1]/text()[2]", 5), (19, 28)),
    ("β\nSeen", "βSeen", ("/h1[1]/text()[2]", 3, "/p[1]/text()[1]", 4), (10, 15)),
    ("Oslo", "Oslo", ("/ul[1]/li[2]/text()[1]", 0, "/ul[1]/li[2]/text()[1]", 4), (34, 38)),
    ("Rome", "Rome", ("/ul[1]/li[1]/text()[1]", 0, "/ul[1]/li[2]", 0), (30, 34)),
]


@pytest.mark.parametrize("kind", ["hypertextlabels", "labels", "htmllabels"])
@pytest.mark.parametrize("has_text", [True, False])
@pytest.mark.parametrize(("shown", "own", "place", "offsets"), OF_PAGE)
def test_labels_on_a_page(
    shown: str, own: str, place: tuple[str, int, str, int], offsets: tuple[int, int],
    has_text: bool, kind: str,
) -> None:  # fmt: skip
    value = ends(*place, **({"text": own} if has_text else {}))
    start, end = offsets
    offsets_given = [{"start": start, "end": end}, {"start": None, "end": end}, {"start": start}]
    for given in (value, *(value | {"globalOffsets": one} for one in offsets_given)):
        made = region(given, "hypertextlabels")
        made["value"][kind] = made["value"].pop("hypertextlabels")
        (text,) = texts([task({"text": PAGE}, made)])
        assert text.text == SHOWN
        assert [found.strip() for found, _ in entities(text)] == [shown]


def test_global_offsets_count_utf16_or_styles_if_the_texts_of_regions_say_so() -> None:
    head, body = "<style>p { color: red }</style>", "<p>😀 and Ada Byron</p>"
    hidden = len("p { color: red }")
    for page, start in ((body, 6), (body, 7), (head + body, 6), (head + body, 7 + hidden)):
        value = {"globalOffsets": {"start": start, "end": start + 9}, "text": "Ada Byron"}
        (text,) = texts([task({"text": page}, region(value, "hypertextlabels"))])
        assert (text.text, entities(text)) == ("😀 and Ada Byron", [("Ada Byron", "PER")])


@pytest.mark.parametrize(
    ("page", "path", "shown"),
    [
        ("<table><tr><td>x</td><td>Ada</td></tr></table>",
         "/table[1]/tbody[1]/tr[1]/td[2]/text()[1]", "x\nAda"),
        ("<div>a<!-- b -->Ada</div>", "/div[1]/text()[2]", "aAda"),
        ("<p>Ada</p><p>x</p>", "/p/text()", "Ada\nx"),
        ("<ul><li>Ada</li><li>x</li></ul>", "/ul[1]", "Ada\nx"),
        ("<html><head><title>t</title></head><body><div>Ada</div></body></html>",
         "/div[1]/text()[1]", "Ada"),
        ("<pre>\nAda\r\n</pre>", "/pre[1]/text()[1]", "Ada\n"),
        ("Ada", "/text()[1]", "Ada"),
        ("Ada<p>x <b>y</b>z</p>", "/text()[1]", "Ada\nx yz"),
        ("<p>Ada</p>x", "/p[1]/text()[1]", "Ada\nx"),
        ("<noscript><b>x</b></noscript>Ada", "/text()[1]", "Ada"),
        ("<html><body>Ada</body>\n</html>", "/text()[1]", "Ada"),
        ("<i>" * 300 + "Ada", "/i[1]" * 300 + "/text()[1]", "Ada"),
        ("<script>let x = '<p>';</script><b>Ada</b>", "/b[1]/text()[1]", "Ada"),
    ],
)  # fmt: skip
def test_paths_are_those_of_a_browser(page: str, path: str, shown: str) -> None:
    value = ends(path, 0, path, 3, text="Ada")
    (text,) = texts([task({"text": page}, region(value, "hypertextlabels"))])
    assert (text.text, entities(text)) == (shown, [("Ada", "PER")])


def test_a_page_may_lack_a_body() -> None:
    value = {"globalOffsets": {"start": 0, "end": 3}, "text": "Ada"}
    pages = ("<html><!-- <body --></html>", "<p>Ada</p>")
    tasks = [task({"text": page}, region(value, "hypertextlabels")) for page in pages]
    bad: list[CorpusError] = []
    assert [text.text for text in texts(tasks, on_bad=bad.append)] == ["", "Ada"]
    assert len(bad) == 1


def test_each_region_is_where_it_fits() -> None:
    """One may count characters, and another one of the same text UTF-16 code units."""
    places = [(2, "Ada"), (11, "Eve"), (19, "Bob"), (5, "the")]
    results = [region({"start": start, "end": start + 3, "text": found}) for start, found in places]
    (text,) = texts([task({"text": "😀 Ada met Eve and Bob."}, *results)])
    fits = [misfit_of(text.text, mention)[0] is None for mention in text.mentions]
    assert fits == [True, True, True, False]
    assert [one.start for one in text.mentions[:3]] == [2, 10, 18]


def test_a_page_without_labels_and_a_region_that_does_not_fit() -> None:
    """All texts of a file with pages are pages; a region that does not fit is kept as such."""
    value = {"globalOffsets": {"start": 0, "end": 3}, "text": "Eve"}
    tasks = [
        task({"text": "<p>Nobody</p>"}),
        task({"text": "<p>Ada</p>"}, region(value, "hypertextlabels")),
    ]
    found = texts(tasks)
    assert [text.text for text in found] == ["Nobody", "Ada"]
    found += texts([task({"text": "Ada"}, region({**SPAN, "text": " "}))])
    for text in found[1:]:
        (mention,) = text.mentions
        assert misfit_of("Ada", mention)[0] == Misfit.DIFFERS


TURNS = [
    {"author": "Ada Byron", "text": "I met Eve."},
    {"author": "Eve", "text": "In Rome 😀, with Bob."},
]


@pytest.mark.parametrize("number", [str, int])
def test_labels_in_paragraphs(number: type) -> None:
    places = [((0, 6, 0, 9), "Eve"), ((0, 6, 1, 7), "Eve.\n\nIn Rome"), ((1, 17, 1, 20), "Bob")]
    regions = [
        region(ends(number(first), start, number(last), end, text=text), "paragraphlabels")
        for (first, start, last, end), text in places
    ]
    (text,) = texts([task({"dialogue": TURNS}, *regions)])
    assert text.text == "I met Eve.\nIn Rome 😀, with Bob."
    assert [found for found, _ in entities(text)] == ["Eve", "Eve.\nIn Rome", "Bob"]
    regions[2]["value"] |= {"startOffset": 16, "endOffset": 19}
    assert entities(texts([task({"dialogue": TURNS}, *regions)])[0])[2] == ("Bob", "PER")


@pytest.mark.parametrize("names", [("role", "content"), ("speaker", "phrase"), ("a", "text")])
def test_turns_have_their_text_under_many_names(names: tuple[str, str]) -> None:
    turns = [dict(zip(names, turn.values(), strict=True)) for turn in TURNS]
    value = ends("1", 3, "1", 7)
    for own in ({}, {"text": "Rome"}):
        made = region(value | own, "paragraphlabels")
        for data, field in (({"chat": turns}, "text"), ({"chat": turns, "text": "x"}, "chat")):
            (text,) = texts([task(data, made)], field=field)
            assert entities(text) == [("Rome", "PER")]


@pytest.mark.parametrize(
    ("first", "start"),
    [("2", 0), (2, 0), (-1, 0), ("x", 0), (None, 0), (0.0, 0), ("0", "x"), ("0", None)],
)
def test_a_region_of_no_turn_is_an_error(first: Any, start: Any) -> None:
    for value in (ends(first, start, "1", 3), ends("0", 0, first, start)):
        with pytest.raises(CorpusError, match="a region does not say where it is"):
            texts([task({"dialogue": TURNS}, region(value, "paragraphlabels"))])


@pytest.mark.parametrize("turns", [[{"text": "a"}, {"n": 1}], [{"text": "a"}, 3], [], "", [["a"]]])
def test_other_lists_are_no_dialogue(turns: Any) -> None:
    with pytest.raises(
        CorpusError, match=r"there is no text under 'text'.*Set --field to one of: "
    ):
        texts([task({"chat": turns})])


def test_the_text_of_a_turn_may_have_another_name_than_usual() -> None:
    turns = [{"text": "one two", "caption": "Ada came"}]
    value = ends("0", 0, "0", 3, text="Ada")
    (text,) = texts([task({"d": turns}, region(value, "paragraphlabels"))])
    assert text.text == "Ada came"


SPAN = {"start": 0, "end": 3}
BOX = {"x": 1, "y": 1, "width": 1, "height": 1, "rectanglelabels": ["Stamp"]}
OTHERS = [
    ({"type": "relation", "from_id": "a", "to_id": "b", "labels": ["knows"]}, "relations"),
    ({"type": "choices", "value": {"choices": ["news"]}}, "choices"),
    ({"type": "choices", "value": {**SPAN, "choices": ["sure"]}}, "choices"),
    ({"type": "taxonomy", "value": {"taxonomy": [["a", "b"]]}}, "choices"),
    ({"type": "rectanglelabels", "value": BOX}, "boxes"),
    ({"type": "textarea", "value": {"text": ["x"]}}, "results of the type textarea"),
    ({"type": "labels", "value": SPAN}, "regions without a label"),
    ({"type": "labels", "value": {**SPAN, "labels": []}}, "regions without a label"),
    ({"type": "labels", "value": {**SPAN, "": True}}, "regions without a label"),
    ({"value": {**SPAN, "labels": "PER"}}, "results of the type unknown"),
    (region({"start": 0.5, "end": 1.5, "channel": 0}), "regions of audio or video"),
    (region({"start": 0.5, "end": 1.5}, original_length=9.0), "regions of audio or video"),
]


@pytest.mark.parametrize(("other", "reason"), OTHERS)
def test_what_is_no_span_is_left_out_and_counted(other: Value, reason: str) -> None:
    data = {"text": "Ada came", "title": "On Ada"}
    tasks = [task(data, other, region(SPAN), other), task(data, other)]
    assert left_out(tasks) == [reason] * 3
    assert [entities(text) for text in texts(tasks)] == [[("Ada", "PER")], []]
    alone = [task(data, other), task(data, other)]
    assert texts(alone) == []
    assert left_out(alone)[-1].startswith("texts whose annotation has no spans")


def test_regions_of_another_text_are_left_out() -> None:
    data = {"text": "Ada came", "title": "On Eve"}
    own, other = region(SPAN, to_name="text"), region({"start": 3, "end": 6}, to_name="title")
    tasks = [task(data, own, other), task(data, other)]
    assert left_out(tasks) == ["regions of another text (--field title reads it)"] * 2
    assert [entities(text) for text in texts(tasks)] == [[("Ada", "PER")], []]
    titles = texts(tasks, field="title")
    assert [entities(text) for text in titles] == [[("Eve", "PER")]] * 2
    made = task({"text": "Eve", "body": "Ada came"}, region(SPAN, to_name="text"))
    assert entities(texts([made], field="body")[0]) == [("Ada", "PER")]  # no name of the data


def test_a_small_export_of_choices_has_no_annotated_text() -> None:
    small = {"id": 1, "text": "Ada", "topic": "news", "annotator": 1, "annotation_id": 7}
    assert left_out([small]) == [
        "texts whose annotation has no spans of text, in a file without any"
    ]
    (text,) = texts([task({"text": "Ada"})])  # one without results has no entities
    assert (text.is_annotated, text.mentions) == (True, ())


def test_an_export_with_the_numbers_of_predictions() -> None:
    made = task({"text": "Ada came"}, region(SPAN), predictions=[25], drafts=[])
    assert entities(texts([made])[0]) == [("Ada", "PER")]
    assert entities(texts([made], predictions=True)[0]) == [("Ada", "PER")]
    with pytest.raises(CorpusError, match="only the numbers of predictions"):
        texts([made | {"annotations": []}], predictions=True)


def test_annotators_are_named() -> None:
    people: list[tuple[Any, str]] = [
        (5, "5"), ({"id": 5, "email": "a@b.example"}, "a@b.example"), ({"id": 5}, "5"), (None, ""),
        ({}, ""),
    ]  # fmt: skip
    work = [{"result": [region(SPAN)], "completed_by": person} for person, _ in people]
    found = texts([task({"text": "Ada came"}) | {"annotations": work}], all_annotators=True)
    assert [text.annotator for text in found] == [name for _, name in people]
    small = {"id": 1, "text": "Ada came", "label": [{**SPAN, "labels": ["PER"]}], "annotator": 7}
    assert [text.annotator for text in texts([small])] == ["7"]


def test_the_annotation_of_a_task_that_counts() -> None:
    """As the backend of Label Studio reads one."""
    works = [{"result": [region(SPAN)], "was_cancelled": True}, {"result": [region(SPAN)]}]
    made = task({"text": "Ada came", "title": "b"}) | {"annotations": works}
    works[1]["result"] += [region(SPAN, to_name="title"), region(SPAN, to_name="text")]
    cancelled, other, text = annotated_task(Row(made, 1, Path("in")), FormatOptions())
    assert left_out_of([cancelled, other]) == [
        "cancelled annotations", "regions of another text (--field title reads it)",
    ]  # fmt: skip
    assert isinstance(text, AnnotatedText)
    assert entities(text) == [("Ada", "PER")] * 2


def test_the_annotation_marked_as_ground_truth_counts() -> None:
    made = task({"text": "Ada came"}, region(SPAN))
    old = {**made, "completions": made["annotations"]}
    del old["annotations"]  # as old versions have it
    assert entities(texts([old])[0]) == [("Ada", "PER")]
    made["annotations"].append({"ground_truth": True, "result": [region({"start": 4, "end": 8})]})
    assert entities(texts([made])[0]) == [("came", "PER")]
    assert left_out([made]) == ["further annotations of the same text"]


@pytest.mark.parametrize(
    ("field", "content", "value"),
    [
        ("text", "Ada came", {**SPAN, "labels": ["PER"]}),
        ("text", "<p>Ada came</p>",
         ends("/p[1]/text()[1]", 0, "/p[1]/text()[1]", 3, globalOffsets=SPAN,
              hypertextlabels=["PER"])),
        ("dialogue", [{"author": "x", "text": "Ada came", "start": 0.5, "end": 2}],
         ends("0", 0, "0", 3, paragraphlabels=["PER"])),
    ],
)  # fmt: skip
def test_json_min(field: str, content: Any, value: Value) -> None:
    small = {"id": 1, field: content, "label": [value], "topic": "news", "boxes": [BOX]}
    empty = {"id": 2, field: content, "topic": "news", "annotation_id": 3, "annotator": 1}
    first, second = texts([small, empty])
    assert [entities(text) for text in (first, second)] == [[("Ada", "PER")], []]
    assert (first.text, second.text) == ("Ada came", "Ada came")
    assert left_out([small]) == ["boxes"]


@pytest.mark.parametrize(
    "other",
    [
        [{"text": "Ada", "tokens": [{"text": "Ada", **SPAN, "entityLabel": "P"}]}],
        [{"text": "Ada", "annotator": "x", "marks": [{**SPAN, "type": "P"}]}],
        [{"data": {"text": "Ada"}, "marks": [{**SPAN, "type": "P"}]}],
    ],
)  # fmt: skip
def test_files_of_other_tools_are_not_taken_for_its_own(other: object, tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(other))
    with pytest.raises(CorpusError, match="none of the known formats"):
        find_sources(path)


def test_the_small_export_is_a_list(tmp_path: Path) -> None:
    small = {"text": "Ada", "label": [{**SPAN, "labels": ["PER"]}]}
    exported = {"text": "Ada", "annotator": 1, "lead_time": 2.5}
    mixed = {"text": "Ada", "label": [*small["label"], {"x": 1}]}
    for one, is_small in ((small, True), (exported, True), (mixed, False)):
        for content, expected in ((json.dumps([one]), is_small), (json.dumps(one), False)):
            source = Source(written(tmp_path / "in.json", content))
            assert format_named("label-studio").recognises(source) == expected


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (region(ends("/p[7]/text()[1]", 0, "/p[7]/text()[1]", 1), "hypertextlabels"),
         "a region does not say where it is"),
        (region(ends("4", 0, "4", 1), "paragraphlabels"),
         "the offsets '4' and '4' are not whole numbers"),
        (region(ends("/p[1]/text()[1]", None, "/p[1]/text()[1]", 1), "hypertextlabels"),
         "a region does not say where it is"),
        (region({"start": 0, "end": None, "text": "x"}), "the offsets 0 and None are not whole"),
        (region({"start": 0, "end": None}), "the offsets 0 and None are not whole numbers"),
        ({"type": "labels"}, "a result of the type labels has no value"),
        (3, "a result is no JSON object"),
    ],
)  # fmt: skip
def test_a_region_that_cannot_be_read_is_an_error(result: Any, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        records([task({"text": "<p>Ada</p>"}, result)])
