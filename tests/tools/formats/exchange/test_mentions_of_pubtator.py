"""PubTator: offsets and mentions that do not agree, and lines that are no annotation."""

from __future__ import annotations

from pathlib import Path

import pytest

from format_files import records_in, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.placing import Misfit, misfit_of
from spacy_cascade.tools.formats.texts import AnnotatedText, LeftOut, Mention, Record

TEXT = "Role of TNF-α and IL‑6 in β-cell failure."
HEAD = "7|t|" + TEXT + "\n"


def records(tmp_path: Path, content: str) -> list[Record]:
    return records_in(written(tmp_path / "in.txt", content))


def only_text(tmp_path: Path, *lines: tuple[int, int, str]) -> AnnotatedText:
    rows = [f"7\t{start}\t{end}\t{found}\tX\n" for start, end, found in lines]
    (text,) = records(tmp_path, HEAD + "".join(rows))
    assert isinstance(text, AnnotatedText)
    return text


def kept(text: AnnotatedText) -> list[str]:
    return [m.text_in(text.text) for m in text.mentions if misfit_of(text.text, m)[0] is None]


def place(found: str) -> tuple[int, int]:
    return TEXT.index(found), TEXT.index(found) + len(found)


@pytest.mark.parametrize(
    ("found", "mention"),
    [
        ("TNF-α", "TNF-a"), ("TNF-α", "tumor necrosis factor"), ("IL‑6", "IL-6"),
        ("β-cell failure", "Beta cell failure"),
    ],
)  # fmt: skip
def test_a_mention_may_be_a_normal_form(found: str, mention: str, tmp_path: Path) -> None:
    text = only_text(tmp_path, (*place(found), mention))
    assert kept(text) == [found]
    assert text.reading == "mentions that are normal forms of the text"


def test_mentions_of_the_text_are_read_as_they_are(tmp_path: Path) -> None:
    """Also a part of a word, where the mention is this part."""
    text = only_text(tmp_path, (*place("TNF-α"), "TNF-α"), (*place("fail"), "fail"))
    assert text.mentions == tuple(Mention((place(one),), "X") for one in ("TNF-α", "fail"))
    assert text.reading == ""


def test_offsets_in_bytes_are_told_by_the_mentions(tmp_path: Path) -> None:
    data = TEXT.encode()
    lines = []
    for found in ("TNF-α", "IL‑6", "β-cell", "failure"):
        start = data.index(found.encode())
        lines.append((start, start + len(found.encode()), found))
    text = only_text(tmp_path, *lines)
    assert kept(text) == ["TNF-α", "IL‑6", "β-cell", "failure"]
    assert text.reading == "offsets that count bytes of UTF-8"


def test_offsets_that_cut_words_are_wrong(tmp_path: Path) -> None:
    """One of them leaves the others as they are; where most do, none is trusted."""
    start, end = place("failure")
    text = only_text(tmp_path, (*place("TNF-α"), "TNF-a"), (start + 2, end, "failure"))
    assert kept(text) == ["TNF-α"]
    assert misfit_of(text.text, text.mentions[1])[0] == Misfit.DIFFERS
    shifted = [(start + 1, end + 1, found) for found in ("failure", "TNF-α", "in")]
    text = only_text(tmp_path, *shifted[:2], (*place("and"), "TNF-α"), (*place("of"), "of"))
    assert kept(text) == ["of"]
    assert text.reading == ""


def test_relations_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = "7\tCID\tD1\tD2\n7\tBind\tD1\tD2\tNovel\n7\t0\t4\tRole\tX\tD1\n"
    found = records(tmp_path, HEAD + rows)
    assert found[:-1] == [LeftOut("relations")] * 2
    assert isinstance(found[-1], AnnotatedText)
    assert kept(found[-1]) == ["Role"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7\t0\t4\tRole", "there are 4 fields"),
        ("7\t0\t4", "there are 3 fields"),
        (f"7\t0\t{'9' * 19}\tRole\tX", r"the offsets \['0', '9{19}'\] are not whole numbers"),
        ("7\tx0\t4\tRole\tX", r"the offsets \['x0', '4'\] are not whole numbers"),
        ("7\t0\t-4\tRole\tX", r"the offsets \['0', '-4'\] are not whole numbers"),
        ("7\tx\ty\tRole\tX\tD1", r"the offsets \['x', 'y'\] are not whole numbers"),
        ("7\t0\t4²\tRole\tX", r"the offsets \['0', '4²'\] are not whole numbers"),
    ],
)
def test_an_annotation_with_damaged_fields_is_no_relation(
    line: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError, match=rf"in\.txt:2: {message}"):
        records(tmp_path, HEAD + line + "\n")
