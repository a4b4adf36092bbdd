"""Lexicons from made pages whose truth is known, from damaged ones and from hostile ones."""

from __future__ import annotations

import time

import pytest

from spacy_cascade import ConfigError
from spacy_cascade.systems.dictionaries.growing.evidence import (
    Evidence,
    Found,
    GrownTerm,
    ranked_terms,
)
from spacy_cascade.systems.dictionaries.growing.formatting import Thresholds, from_pages, of_group
from spacy_cascade.systems.dictionaries.growing.pages import MOST_CHARACTERS, read_items

SEEDS = ["Rome", "Oslo", "Bern"]
LIST = b"<ul><li>Rome</li><li><a href=x>Oslo</a></li><li>Paris [1]</li><li>Lima,</li></ul>"
TABLE = (
    b"<table><tr><th>City<th>Country<tr><td>Bern<td>Switzerland"
    b"<tr><td>Rome<td>Italy<tr><td>Kyiv<td>Ukraine</table>"
)
MENU = b"<div class=menu><p class=m1>Home</p><p class=m2>Rome</p><p class=m3>News</p></div>"


def terms(*pages: bytes, **settings: float) -> list[GrownTerm]:
    thresholds = Thresholds(**settings)  # type: ignore[arg-type]
    found = from_pages(SEEDS, [(f"{n}.html", page) for n, page in enumerate(pages)], thresholds)
    return ranked_terms(found.evidence)


def texts(*pages: bytes, **settings: float) -> dict[str, float]:
    return {term.text: term.score for term in terms(*pages, **settings)}


def test_terms_of_the_same_list_or_column_are_found() -> None:
    assert set(texts(LIST)) == {"Paris", "Lima"}
    scores = texts(TABLE)
    assert set(scores) == {"Kyiv", "Switzerland", "Italy", "Ukraine"}  # no heading
    assert scores["Kyiv"] > 0.6 > 0.3 > scores["Italy"]
    assert set(texts(MENU)) == set()
    assert set(texts(MENU, seeds=1)) == {"Home", "News"}


def test_more_pages_and_more_seeds_are_more_evidence() -> None:
    one, two = texts(LIST), texts(LIST, LIST)
    assert 0 < one["Paris"] < two["Paris"] < 1
    more = texts(LIST.replace(b"</ul>", b"<li>Bern</ul>"))
    assert one["Paris"] < more["Paris"]


def test_a_long_list_with_all_seeds_is_trusted_and_a_long_pattern_is_not() -> None:
    names = [*SEEDS, *(f"Town{chr(65 + n)}" for n in range(20))]
    of_list = "<ul>" + "".join(f"<li>{name}</li>" for name in names) + "</ul>"
    of_pattern = "".join(f"<p class=x>{name}</p>" for name in names)
    assert texts(of_list.encode())["TownA"] > 0.6
    assert texts(of_pattern.encode())["TownA"] < 0.2


def test_scores_and_evidence() -> None:
    assert from_pages(SEEDS, [("a", LIST), ("b", TABLE)]).found_seeds == 3
    (kyiv,) = (term for term in terms(LIST, TABLE) if term.text == "Kyiv")
    (evidence,) = kyiv.evidence
    assert evidence[:4] == ("1.html", "column 1 of table 0: td", 2, 3)
    assert kyiv.score == pytest.approx(1 - (1 - 1.5 / 4) * (1 - 1.5 / 4))
    assert of_group("p", "pattern x", 2, 3, 3).probability == pytest.approx(1.5 / 4)


def test_the_best_evidence_and_the_best_terms_come_first() -> None:
    """Of equals the first source, the smaller group and the first term."""
    given = [
        ("Kyiv", "b", 9, 0.5), ("kyiv", "a", 9, 0.5), ("KYIV", "c", 2, 0.75),
        ("Riga", "a", 3, 0.5), ("Lima", "a", 3, 0.5), ("Bonn", "a", 4, 0.5),
    ]  # fmt: skip
    found = ranked_terms((text, Evidence(source, "g", 1, *rest)) for text, source, *rest in given)
    assert [term.text for term in found] == ["Kyiv", "Lima", "Riga", "Bonn"]
    assert [evidence.source for evidence in found[0].evidence] == ["c", "a", "b"]
    assert found[0].score == 1 - 0.5 * 0.5 * 0.25


def test_a_text_belongs_to_the_list_and_column_around_it_and_to_a_pattern() -> None:
    """Of nested ones to the inner one; its pattern has three elements around it."""
    cell = b"<td><ol><li class='b12 a3 7'><i><b>Rome</b></i></ol>"
    table = b"<table><tr><td>1<td>2" + cell + b"</table>"
    page = b"<ul><li><table><tr><th>3<td>" + table + b"</table></ul>"
    *_, (text, formatting) = read_items(page)
    assert text == "Rome"
    assert formatting == (
        "list 3: b < i < li",
        "column 3 of table 2: b < i < li < ol < td",
        "pattern b < i < li.a.b < ol",
    )


@pytest.mark.parametrize("hidden", [b"<!-- no -->", b"<?php no ?>"])
def test_what_no_reader_sees_changes_nothing(hidden: bytes) -> None:
    """Nor does it make a text shorter that is too long with the marks at its end."""
    page = b"<ul><li>Rome%s</ul><p>" + b"x" * (MOST_CHARACTERS - 2) + b" %s ,,"
    assert read_items(page.replace(b"%s", hidden)) == read_items(page.replace(b"%s", b""))


def test_seeds_that_occur_nowhere_give_an_empty_list() -> None:
    assert from_pages(["Atlantis"], [("a", LIST)]) == Found([], 0)
    with pytest.raises(ConfigError, match="no seeds"):
        from_pages([" "], [("a", LIST)])
    with pytest.raises(ConfigError, match="share from 0 to 1"):
        Thresholds(share=2.0)


def test_scripts_and_long_texts_are_left_out() -> None:
    page = b"<ul><li>a<script>b</script><li>" + b"x" * (MOST_CHARACTERS + 1) + b"<li>7 8</ul>"
    assert [item.text for item in read_items(page)] == ["a"]


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"\x00\xff\xfe",
        b"no tags",
        LIST[:37],
        b"<ul><li>Rome<ul><td>Oslo</li></table><li>Paris",
        b"<div>" * 100_000 + LIST,
        b"<" * 10_000,
        b"<li " + b"a=b " * 50_000 + b">Rome",
        b"<ul>" * 300 + b"<li>Rome<li>Oslo<li>Lima",
        "<ul><li>Röm<li>日本</ul>".encode("utf-16"),
    ],
    ids=range(10),
)
def test_damaged_and_hostile_pages_survive(page: bytes) -> None:
    begin = time.perf_counter()
    assert {"Paris", "Lima"} <= texts(page, LIST).keys()
    assert time.perf_counter() - begin < 5
    for item in read_items(page):
        assert item.text == item.text.strip()
        assert item.formatting


@pytest.mark.slow
def test_fifty_megabytes_of_one_page() -> None:
    row = b"<li class=c><b>Town %c%d</b> and more words than any term has, so it is long: %s"
    rows = b"".join(row % (65 + n % 26, n, b"x" * 60) for n in range(360_000))
    page = b"<ul><li>Rome<li>Oslo<li>Lima</ul><ol>" + rows + b"</ol>"
    assert len(page) > 50_000_000
    begin = time.perf_counter()
    assert list(texts(page)) == ["Lima"]
    assert time.perf_counter() - begin < 300
