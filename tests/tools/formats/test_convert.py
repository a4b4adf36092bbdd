"""`spacy cascade convert` as spaCy's own command line runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.cli._util import app as spacy_app
from typer.testing import CliRunner

from commands import run_command as run
from format_files import docs_in
from spacy_cascade.cli import app

CORPUS = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nin IN I-PP O\n\nRome NNP I-NP I-LOC\nx X O -\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.conll"
    path.write_text(CORPUS, encoding="utf-8")
    return path


def test_the_group_is_part_of_spacys_commands() -> None:
    result = CliRunner().invoke(spacy_app, ["--help"])
    assert "cascade" in result.stdout
    assert "convert" in run("--help")[0]
    assert CliRunner().invoke(app, ["convert", "--help"]).exit_code == 0


def test_help_tells_what_tags_mean() -> None:
    text = " ".join(run("convert", "--help")[0].split())
    for part in ["- or ? is not annotated", "ENT", "-DOCSTART-", "###MEDLINE:", "U+FFFD"]:
        assert part in text


def test_the_last_line_counts(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "new" / "out.spacy"
    stdout, stderr = run("convert", source, output)
    assert stderr == ""
    lines = stdout.splitlines()
    assert lines[-1].endswith(
        "1 document, 2 sentences, 4 words, 2 entities (ORG 1, LOC 1), "
        f"1 word not annotated -> {output}"
    )
    assert "Tags read as iob1" in lines[0]
    (doc,) = docs_in(output)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("EU", "ORG"), ("Rome", "LOC")]


def test_what_was_done_about_spaces_is_said(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    source.write_text("A B-X\n- I-X\nB I-X\n( O\n-LRB- O\n) O\n\n" * 9, encoding="utf-8")
    stdout, _ = run("convert", source, output)
    assert "Spaces restored as in running text. The corpus splits words at - " in stdout
    assert "9 words stand for marks, such as -LRB-" in stdout
    assert docs_in(output)[0][:6].text == "A-B (-LRB-)"
    assert "Line breaks" not in stdout
    stdout, _ = run("convert", source, output, "--spacing", "words")
    assert "paces" not in stdout
    assert docs_in(output)[0].has_unknown_spaces
    source.write_text("play O\n##ing O\n", encoding="utf-8")
    assert "Spaces are not restored: the words are pieces" in run("convert", source, output)[0]


def test_line_breaks_are_counted(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.spacy"
    stdout, _ = run("convert", source, output, "--n-sents", 0)
    assert "Line breaks follow 1 sentence without a final mark" in stdout
    assert docs_in(output)[0].text == "EU in\nRome x"
    assert "Line breaks" not in run("convert", source, output, "--spacing", "one-line")[0]
    assert docs_in(output)[0].text == "EU in Rome x"


def test_spacing_follows_the_language(source: Path, tmp_path: Path) -> None:
    source.write_text("zo O\n's O\n? O\n", encoding="utf-8")
    for lang, text in (("en", "zo's?"), ("nl", "zo 's?"), ("fr", "zo 's ?")):
        run("convert", source, tmp_path / "out.spacy", "--lang", lang)
        assert docs_in(tmp_path / "out.spacy")[0].text == text


def test_many_labels_are_cut_short(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("".join(f"w B-L{n}\n" for n in range(12)), encoding="utf-8")
    stdout, _ = run("convert", source, tmp_path / "out.spacy")
    assert "12 entities (L0 1, " in stdout
    assert "L9 1, …)" in stdout


def test_options_reach_the_docs(source: Path, tmp_path: Path) -> None:
    source.write_text("0\tRome\tNNP\tB-LOC\tB-NP\n\n0\tx\tNN\tO\tO\n", encoding="utf-8")
    output = tmp_path / "out.spacy"
    options = "--word-column 1 --tag-column -2 --pos-column 2 --chunk-column 4 --scheme iob2"
    more = "--separator tab --spans-key sc --chunks-key np --n-sents 1"
    stdout, _ = run("convert", source, output, *options.split(), *more.split())
    assert "Tags read as" not in stdout
    first, second = docs_in(output)
    assert [first[0].text, first[0].tag_] == ["Rome", "NNP"]
    assert [span.label_ for span in first.spans["sc"]] == ["LOC"]
    assert [span.label_ for span in first.spans["np"]] == ["NP"]
    assert second.text.strip() == "x"


def test_a_file_without_entities(source: Path, tmp_path: Path) -> None:
    source.write_text("T\tNN\ncells\tNNS\n\nbind\tVBP\n", encoding="utf-8")
    output = tmp_path / "out.spacy"
    stdout, _ = run("convert", source, output, "--no-entities", "--pos-column", 1)
    assert "Tags read as" not in stdout
    assert "3 words, 0 entities, 3 words not annotated" in stdout
    (doc,) = docs_in(output)
    # A line break follows the first sentence, which has no final mark.
    assert [token.tag_ for token in doc] == ["NN", "NNS", "_SP", "VBP"]
    assert [token.is_sent_start for token in doc] == [True, False, False, True]
    assert not doc.has_annotation("ENT_IOB")


@pytest.mark.parametrize(
    ("text", "options", "part"),
    [
        ("a O\nb X-foo\n", [], ":2: 'X-foo' is not a tag, in 'b X-foo'."),
        ("a O\nb I-X\n", ["--scheme", "iob2"], "Use --scheme iob1"),
        ("a O\nb O O\n", [], ":2: expected 2 columns as in line 1, but found 3, in 'b O O'."),
        ("a O\n", ["--tag-column", "5"], "--tag-column"),
        ("", [], "has no words"),
    ],
)
def test_errors_are_one_line_on_stderr(
    source: Path, tmp_path: Path, text: str, options: list[str], part: str
) -> None:
    source.write_text(text, encoding="utf-8")
    stdout, stderr = run("convert", source, tmp_path / "o.spacy", *options, exit_code=1)
    assert stdout == ""
    assert stderr.count("\n") == 1
    assert str(source) in stderr
    assert part in stderr
    assert not (tmp_path / "o.spacy").exists()


def test_errors_are_red(source: Path, tmp_path: Path) -> None:
    arguments = ["convert", str(source), str(tmp_path / "out.txt")]
    result = CliRunner().invoke(app, arguments, color=True)
    assert result.exit_code == 1
    assert result.stderr.startswith("\x1b[38;5;1m")


def test_missing_input_and_unwritable_output(source: Path, tmp_path: Path) -> None:
    assert "does not exist" in run("convert", tmp_path / "no", "o.spacy", exit_code=1)[1]
    stderr = run("convert", source, source / "o.spacy", exit_code=1)[1]
    assert stderr.count("\n") == 1
    assert str(source) in stderr


def test_bad_words_stop_or_are_replaced(source: Path, tmp_path: Path) -> None:
    source.write_bytes(b"".join(b"x%d\xff\tO\n" % n for n in range(12)))
    output = tmp_path / "out.spacy"
    _, stderr = run("convert", source, output, exit_code=1)
    assert "has words that spaCy cannot use: 12 in all" in stderr
    assert f"{source}:1: 'x0\\udcff' is not valid UTF-8" in stderr
    assert len(stderr.splitlines()) == 11
    stdout, stderr = run("convert", source, output, "--on-bad-word", "replace")
    assert "Replaced 12 words that spaCy cannot use with U+FFFD" in stderr
    assert len(stderr.splitlines()) == 11
    assert "12 words" in stdout
    assert docs_in(output)[0][0].text == "x0\ufffd"


def test_a_key_that_is_no_unicode_is_refused(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "a.spacy"
    _, stderr = run("convert", source, output, "--spans-key", "\udcff", exit_code=2)
    assert "--spans-key" in stderr
    assert "It is not valid UTF-8" in stderr
    assert not output.exists()


def test_odd_characters_come_through(tmp_path: Path) -> None:
    words = ["\x00", "a\u2028b", "a\xa0b", "\ufeffa", "\u200d", "a\rb", "\u202e", "a" * 10_000]
    lines = "".join(f"{word}\tO\r\n" for word in words)
    source, output = tmp_path / "a.iob2", tmp_path / "a.spacy"
    source.write_bytes(f"\ufeffSTAT5\tB-protein\r\n{lines}".encode())
    run("convert", source, output)
    (doc,) = docs_in(output)
    assert [token.text for token in doc] == ["STAT5", *words]
