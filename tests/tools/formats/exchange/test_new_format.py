"""A new format is one file and one entry point: here in a package of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import run_command as run
from spacy_cascade.tools.formats.exchange.registry import formats

MODULE = '''
from spacy_cascade.tools.formats.exchange.base import TextFormat
from spacy_cascade.tools.formats.texts import AnnotatedText, checked_mention
from spacy_cascade.files import replace_file


class Stars(TextFormat):
    """A text a line, with an entity between stars."""

    name = "stars"

    def recognises(self, source):
        return source.start.startswith("*stars*")

    def read(self, source, options):
        for number, line in enumerate(source.lines[1:], start=2):
            if not line:
                continue
            before, found, after = line.split("*")
            fail = lambda problem, advice: source.fail(number, problem, advice)
            text, start = before + found + after, len(before)
            mention = checked_mention(text, start, start + len(found), "STAR", fail)
            yield AnnotatedText(text, (mention,), where=f"{source.path}:{number}")

    def write(self, texts, path):
        lines = ["*stars*"]
        for text in texts:
            (one,) = text.mentions
            found = text.text[one.start : one.end]
            lines.append(f"{text.text[:one.start]}*{found}*{text.text[one.end:]}")
        replace_file(path, "\\n".join([*lines, ""]).encode())
'''


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "stars.py").write_text(MODULE)
    info = tmp_path / "stars-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stars\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[spacy_cascade_formats]\nstars = stars:Stars\n")
    monkeypatch.syspath_prepend(tmp_path)
    formats.cache_clear()
    yield tmp_path
    formats.cache_clear()


def test_one_file_and_one_entry_point_are_enough(other_package: Path) -> None:
    given, docs, again = (other_package / name for name in ("in.stars", "a.spacy", "out.stars"))
    source = "*stars*\nHere is *Ada Byron* again\n*Rome* burns\n"
    given.write_text(source)
    stdout, _ = run("convert", given, docs)
    assert "Read as stars" in stdout
    assert "2 entities (STAR 2)" in stdout
    run("convert", docs, again, "--to", "stars")
    assert again.read_text() == source
