"""Offsets that count something else than characters, as tools in other languages write them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

import pytest

from format_files import entities_of, texts_in
from spacy_cascade.tools.formats.exchange.offsets import (
    Counting,
    Ruler,
    Span,
    Unit,
    best_counting,
)
from spacy_cascade.tools.formats.placing import misfit_of
from spacy_cascade.tools.formats.texts import Mention

PLACES = ("Astra Labs", "Kiel")


def utf16(before: str) -> int:
    return len(before.encode("utf-16-le")) // 2


def spans(text: str, count: Callable[[str], int]) -> list[tuple[int, int, str]]:
    """Start, end and text of each place, where `count` says how many units stand before one."""
    found = [(text.index(place), place) for place in PLACES]
    return [(count(text[:at]), count(text[: at + len(place)]), place) for at, place in found]


def prodigy(text: str, found: list[tuple[int, int, str]], has_text: bool) -> dict[str, Any]:
    own = [{"text": one} if has_text else {} for _, _, one in found]
    made = [
        {"start": start, "end": end, "label": "X", **more}
        for (start, end, _), more in zip(found, own, strict=True)
    ]
    return {"text": text, "spans": made}


def doccano(text: str, found: list[tuple[int, int, str]], has_text: bool) -> dict[str, Any]:
    return {"text": text, "label": [[start, end, "X"] for start, end, _ in found]}


def entities(path: Path) -> tuple[list[str], set[str]]:
    """The texts of all spans, and how their offsets were read."""
    texts = texts_in(path)
    return [found for found, _ in entities_of(*texts)], {text.reading for text in texts}


TEXTS = {
    "emoji": ("🚀🚀 Launch by Astra Labs in Kiel", utf16, "UTF-16 code units"),
    "bytes": ("Übung für Astra Labs in Kiel", lambda s: len(s.encode()), "bytes of UTF-8"),
    "line ends once": (
        "One\r\ntwo\r\nby Astra Labs in\r\nKiel", lambda s: len(s.replace("\r\n", "\n")),
        "each line end once",
    ),
    "line ends twice": (
        "One\ntwo\nby Astra Labs in\nKiel", lambda s: len(s.replace("\n", "\r\n")),
        "each line end twice",
    ),
    "both": (
        "🚀 One\r\nby Astra Labs in\r\nKiel", lambda s: utf16(s.replace("\r\n", "\n")),
        "UTF-16 code units, each line end once",
    ),
    "form feeds": (
        "One\x0c two\x0cby Astra Labs in\x0cKiel", lambda s: len(s.replace("\x0c", "")),
        "no form feeds and characters without width",
    ),
    "no width": (
        "On\u200be two\u200b by Astra Labs\u200b in Kiel", lambda s: len(s.replace("\u200b", "")),
        "no form feeds and characters without width",
    ),
}  # fmt: skip


@pytest.mark.parametrize("has_text", [True, False])
@pytest.mark.parametrize("tool", [prodigy, doccano])
@pytest.mark.parametrize("what", TEXTS)
def test_json_counts_otherwise(
    what: str, tool: Callable[..., dict[str, Any]], has_text: bool, tmp_path: Path
) -> None:
    text, count, name = TEXTS[what]
    rows = [tool(text, spans(text, count), has_text), tool("Kiel, Astra Labs", [], has_text)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found, reading = entities(tmp_path / "in.jsonl")
    assert (found, reading) == (list(PLACES), {f"offsets that count {name}"})


def write_brat(folder: Path, text: str, found: list[tuple[int, int, str]]) -> None:
    (folder / "a.txt").write_bytes(text.encode())
    lines = [f"T{i}\tX {start} {end}\t{one}\n" for i, (start, end, one) in enumerate(found)]
    (folder / "a.ann").write_bytes("".join(lines).encode())


@pytest.mark.parametrize("what", TEXTS)
def test_brat_counts_otherwise_or_as_it_should(what: str, tmp_path: Path) -> None:
    text, count, name = TEXTS[what]
    write_brat(tmp_path, text, spans(text, count))
    assert entities(tmp_path) == (list(PLACES), {f"offsets that count {name}"})
    write_brat(tmp_path, text, spans(text, len))
    assert entities(tmp_path) == (list(PLACES), {""})
    row = doccano(text, spans(text, len), False)
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    assert entities(tmp_path / "in.jsonl") == (list(PLACES), {""})


@pytest.mark.parametrize("is_counted", [True, False])
def test_byte_order_marks_of_brat(is_counted: bool, tmp_path: Path) -> None:
    text = "By Astra Labs in Kiel"
    write_brat(tmp_path, "\ufeff" + text, spans(text, lambda s: len(s) + is_counted))
    found, reading = entities(tmp_path)
    assert (found, any(reading)) == (list(PLACES), is_counted)


@pytest.mark.parametrize(("n_fits", "has_mark"), [(5, True), (6, False)])
def test_offsets_begin_with_one_where_half_of_the_spans_do_not_fit(
    n_fits: int, has_mark: bool
) -> None:
    found = [Span(((0, 1),), "x")] * n_fits + [Span(((2, 3),), "x")] * (10 - n_fits)
    assert best_counting([("xx", found)]).has_mark == has_mark


def test_a_text_beyond_the_end_tells_in_a_language_without_spaces(tmp_path: Path) -> None:
    text = "🚀在阿文代尔市"
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": text, "label": [[3, 8, "LOC"]]}))
    assert entities(tmp_path / "in.jsonl")[0] == ["阿文代尔市"]


def test_tokens_of_prodigy_are_moved_with_the_spans(tmp_path: Path) -> None:
    row = prodigy("🚀 in Kiel now", [(6, 10, "Kiel")], False)
    row["tokens"] = [
        {"text": one, "start": start, "end": start + len(one), "id": i}
        for i, (start, one) in enumerate([(3, "in"), (6, "Kiel"), (11, "now")])
    ]
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    assert entities(tmp_path / "in.jsonl")[0] == ["Kiel"]


def test_all_texts_of_a_file_count_the_same() -> None:
    """A span that fits in characters by chance is moved where most others do not fit."""
    clear = ("🚀🚀 by Astra Labs in Kiel", [Span(((8, 18),)), Span(((22, 26),))])
    chance = ("🚀 a b", [Span(((2, 3),))])
    assert best_counting([clear, clear, chance]).unit is Unit.UTF16
    assert best_counting([chance]) == Counting()
    damaged = (clear[0], [Span(((7, 9),)), Span(((6, 16),)), Span(((20, 24),))])
    assert best_counting([damaged]) == Counting()


def test_the_counting_that_gains_most_is_taken() -> None:
    """One that fits as many spans moves one that fits in characters by chance."""
    span = [Span(((5, 6),), "a")]
    texts = [("🚀xaxaxx", span)] * 8 + [("🚀xaxaax", span), ("🚀xxxaxx", span)]
    assert best_counting(texts).unit is Unit.UTF16
    assert best_counting(texts[:8]).unit is Unit.BYTES
    for n_by_chance, unit in ((5, Unit.UTF16), (6, Unit.CHARACTERS)):
        mixed = [texts[8]] * n_by_chance + [texts[9]] * (10 - n_by_chance)
        assert best_counting(mixed).unit is unit


def test_the_first_spans_that_move_tell() -> None:
    clear = ("🚀🚀 by Astra Labs in Kiel", [Span(((8, 18),)), Span(((22, 26),))])
    other = ("🚀🚀 by Astra Labs in Kiel", [Span(((6, 16),)), Span(((20, 24),))])
    assert best_counting([clear] * 250 + [other] * 500).unit is Unit.UTF16
    assert best_counting([clear] * 50 + [other] * 500) == Counting()


def test_no_more_countings_are_tried_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """None where all spans fit; else those before the first that makes all of them fit."""
    tried, real = list[Counting](), Counting.in_characters

    def in_characters(self: Counting, text: str) -> Any:
        tried.append(self)
        return real(self, text)

    monkeypatch.setattr(Counting, "in_characters", in_characters)
    assert best_counting([("🚀 Kiel", [Span(((2, 6),), "Kiel")])]) == Counting()
    assert tried == []
    found = best_counting([("🚀 Kiel", [Span(((3, 7),), "Kiel")])])
    assert (found, tried[-1]) == (Counting(Unit.UTF16), found)
    assert not any(one.has_mark or not one.has_unseen for one in tried)


def test_spans_without_own_texts_fit_where_words_begin_and_end() -> None:
    text = "ab cats b.c -de"
    pieces = [(found.start(), found.end()) for found in re.finditer(r"\w+|\W", text)]
    starts, ends = zip(*pieces, strict=True)
    for start, end in combinations(range(len(text) + 1), 2):
        is_word = not (text[start].isspace() or text[end - 1].isspace())
        expected = is_word and start in starts and end in ends
        assert Span(((start, end),)).fits(text) == expected, text[start:end]
    assert not Span(((2, 2),)).fits(text)
    assert not Span(((12, 16),)).fits(text)
    assert Span(((0, 2), (3, 7))).fits(text)
    assert not Span(((0, 2), (3, 6))).fits(text)
    assert Span(((1, 2),)).fits("在阿文")


@pytest.mark.parametrize(
    ("unit", "text", "widths"),
    [
        (Unit.CHARACTERS, "é🚀", None), (Unit.BYTES, "ab", None),
        (Unit.BYTES, "aé漢🚀", [1, 2, 3, 4]),
        (Unit.UTF16, "é\uffff", None), (Unit.UTF16, "", None),
        (Unit.UTF16, "a\uffff\U00010000", [1, 1, 2]),
    ],
)  # fmt: skip
def test_characters_have_widths_where_they_differ(
    unit: Unit, text: str, widths: list[int] | None
) -> None:
    assert unit.widths(text) == widths
    ruler, ends = Ruler(text, unit), list(accumulate(widths or [1] * len(text), initial=0))
    assert [ruler.character(end) for end in ends] == list(range(len(text) + 1))
    assert (ruler.size, ruler.character(-2)) == (ends[-1], -2)
    assert ruler.character(ends[-1] + 3) == len(text) + 3


def test_only_own_texts_tell_that_offsets_begin_with_one(tmp_path: Path) -> None:
    assert best_counting([("Kiel now", [Span(((1, 5),), "Kiel")])]).has_mark
    assert best_counting([("Kiel now", [Span(((1, 5),))])]) == Counting()
    rows = [prodigy("Kiel now", [(1, 5, "Kiel")], has_text) for has_text in (True, False)]
    for row, found in zip(rows, ("Kiel", "iel "), strict=True):
        (tmp_path / "in.jsonl").write_text(json.dumps(row))
        assert entities(tmp_path / "in.jsonl")[0] == [found]


@pytest.mark.parametrize("found", ["Astra\u200b Labs", "Astra  Labs", "Astra\r\nLabs"])
def test_white_space_and_what_has_no_width_make_no_other_text(found: str) -> None:
    mention = Mention(((3, 13),), "X", found)
    assert misfit_of("By Astra Labs", mention) == (None, ((3, 13),))
