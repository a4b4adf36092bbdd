"""`spacy cascade convert` of files of words, as spaCy's own command line runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import check_errors
from commands import run_command as run
from format_files import FILES, docs_in, entities_in, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.tags import Scheme, scheme_named

CORPUS = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nin IN I-PP O\n\nRome NNP I-NP I-LOC\nx X O -\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(tmp_path / "in.conll", CORPUS)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "new" / "out.spacy"


def test_the_last_line_counts(source: Path, output: Path) -> None:
    stdout, stderr = run("convert", source, output)
    assert stderr == ""
    lines = stdout.splitlines()
    assert lines[-1].endswith(
        "1 document, 2 sentences, 4 words, 2 entities (ORG 1, LOC 1), "
        f"1 word not annotated -> {output}"
    )
    assert "Tags read as iob1" in lines[0]
    assert entities_in(output) == [("EU", "ORG"), ("Rome", "LOC")]
    written(source, "".join(f"w B-L{n}\n" for n in range(12)))
    assert "12 entities (L0 1, " in (said := run("convert", source, output)[0])
    assert "L9 1, …)" in said


def test_what_was_done_about_spaces_is_said(source: Path, output: Path) -> None:
    written(source, "A B-X\n- I-X\nB I-X\n( O\n-LRB- O\n) O\n\n" * 9)
    stdout, _ = run("convert", source, output)
    assert "Spaces restored as in running text. The corpus splits words at - " in stdout
    assert "9 words stand for marks, such as -LRB-" in stdout
    assert docs_in(output)[0][:6].text == "A-B (-LRB-)"
    assert "Line breaks" not in stdout
    stdout, _ = run("convert", source, output, "--spacing", "words")
    assert ("paces" in stdout, "stand for" in stdout) == (False, False)
    assert docs_in(output)[0].has_unknown_spaces
    written(source, "play O\n##ing O\n")
    assert "Spaces are not restored: the words are pieces" in run("convert", source, output)[0]


def test_line_breaks_are_counted(source: Path, output: Path) -> None:
    stdout, _ = run("convert", source, output, "--n-sents", 0)
    assert "Line breaks follow 1 sentence without a final mark" in stdout
    assert "stand for" not in stdout
    assert docs_in(output)[0].text == "EU in\nRome x"
    assert "Line breaks" not in run("convert", source, output, "--spacing", "one-line")[0]
    assert docs_in(output)[0].text == "EU in Rome x"


def test_options_reach_the_docs(source: Path, output: Path) -> None:
    written(source, "0\tRome\tNNP\tB-LOC\tB-NP\n0\t's\tPOS\tO\tO\n\n0\tx\tNN\tO\tO\n")
    options = "--word-column 1 --tag-column -2 --pos-column 2 --chunk-column 4 --scheme iob2"
    more = "--separator tab --spans-key sc --chunks-key np --n-sents 1 --lang nl"
    stdout, _ = run("convert", source, output, *options.split(), *more.split())
    assert "Tags read as" not in stdout
    first, second = docs_in(output)
    assert [first.text, first[0].tag_] == ["Rome 's", "NNP"]
    assert [span.label_ for span in first.spans["sc"]] == ["LOC"]
    assert [span.label_ for span in first.spans["np"]] == ["NP"]
    assert second.text.strip() == "x"


def test_a_file_without_entities(source: Path, output: Path) -> None:
    written(source, "T\tNN\ncells\tNNS\n\nbind\tVBP\n")
    stdout, _ = run("convert", source, output, "--no-entities", "--pos-column", 1)
    assert "Tags read as" not in stdout
    assert "3 words, 0 entities, 3 words not annotated" in stdout
    (doc,) = docs_in(output)
    # A line break follows the first sentence, which has no final mark.
    assert [token.tag_ for token in doc] == ["NN", "NNS", "_SP", "VBP"]
    assert [token.is_sent_start for token in doc] == [True, False, False, True]
    assert not doc.has_annotation("ENT_IOB")


def test_errors_are_one_line(source: Path, output: Path, tmp_path: Path) -> None:
    bad, empty = (written(tmp_path / name, text) for name, text in
                  (("bad", "a O\nb X-foo\n"), ("empty", "")))  # fmt: skip
    check_errors(
        lambda *arguments, exit_code: run("convert", *arguments, exit_code=exit_code),
        ((bad, output), f"{bad}:2: 'X-foo' is not a tag, in 'b X-foo'."),
        ((empty, output), f"{empty} has no words"),
        ((source, output, "--tag-column", "5"), "--tag-column"),
        ((tmp_path / "no", output), "does not exist"),
        ((source, source / "o.spacy"), str(source)),
        ((source, tmp_path / "out.txt"), "does not end in .spacy"),
    )
    assert not output.exists()
    _, stderr = run("convert", source, output, "--spans-key", "\udcff", exit_code=2)
    assert "--spans-key" in stderr
    assert "It is not valid UTF-8" in stderr


def test_bad_words_stop_or_are_replaced(source: Path, output: Path) -> None:
    source.write_bytes(b"".join(b"x%d\xff\tO\n" % n for n in range(12)))
    _, stderr = run("convert", source, output, exit_code=1)
    assert "has words that spaCy cannot use: 12 in all" in stderr
    assert f"{source}:1: 'x0\\udcff' is not valid UTF-8" in stderr
    assert len(stderr.splitlines()) == 11
    stdout, stderr = run("convert", source, output, "--on-bad-word", "replace")
    assert "Replaced 12 words that spaCy cannot use with U+FFFD" in stderr
    assert len(stderr.splitlines()) == 11
    assert "12 words" in stdout
    assert docs_in(output)[0][0].text == "x0\ufffd"


def test_odd_characters_come_through(source: Path, output: Path) -> None:
    words = ["\x00", "a\u2028b", "a\xa0b", "\ufeffa", "\u200d", "a\rb", "\u202e", "a" * 10_000]
    lines = "".join(f"{word}\tO\r\n" for word in words)
    written(source, f"\ufeffSTAT5\tB-protein\r\n{lines}")
    run("convert", source, output)
    (doc,) = docs_in(output)
    assert [token.text for token in doc] == ["STAT5", *words]


@pytest.mark.parametrize("names", ["O,B-PER,I-PER,B-LOC", FILES / "tag_names.txt"])
def test_numbers_of_tags_have_names(names: object, output: Path) -> None:
    stdout, _ = run("convert", FILES / "tag_numbers.jsonl", output, "--tag-names", names)
    assert "2 entities (PER 1, LOC 1)" in stdout
    assert entities_in(output) == [("Ada Byron", "PER"), ("Paris", "LOC")]
    error = run("convert", FILES / "tag_numbers.jsonl", output, exit_code=1)[1]
    assert "--tag-names O,B-PER,I-PER" in error


def test_a_scheme_has_many_names(source: Path, output: Path) -> None:
    names = {"BIO": Scheme.IOB2, "bioes": Scheme.BILOU, "BILUO": Scheme.BILOU, "IOB1": Scheme.IOB1}
    assert {name: scheme_named(name) for name in names} == names
    with pytest.raises(CorpusError, match=r"no scheme 'x'. Choose one of: auto, iob1, iob2, bilou"):
        scheme_named("x")
    error = run("convert", source, output, "--scheme", "x", exit_code=2)[1]
    assert "There is no scheme 'x'" in " ".join(error.replace("│", " ").split())


def test_contradictions_are_in_sentences(source: Path, output: Path) -> None:
    for other in ("Rome B-ORG\nfell O\n", "Rome B-LOC\nfell I-LOC\n", "Rome O\nfell B-LOC\n"):
        written(source, f"Rome B-LOC\nfell O\n\nAda B-PER\n\n{other}\nRome -\nfell O\n")
        stdout, _ = run("convert", source, output)
        said = f"One text is annotated in different ways: 'Rome fell' ({source}:1; {source}:6)."
        assert said in stdout


def test_bad_sentences_are_skipped_when_asked(source: Path, output: Path) -> None:
    written(source, "Rome\tB-LOC\nfell\tO\n\nAda\tQ\n\nIt\tO\nwas\n\nRome\tB-LOC\n")
    error = run("convert", source, output, exit_code=1)[1]
    assert error.startswith("✘ 2 records or spans cannot be read.")
    assert not output.exists()
    stdout, stderr = run("convert", source, output, "--skip-bad")
    assert f"{source}:4: 'Q' is not a tag" in stderr
    assert f"{source}:7: expected 2 columns" in stderr
    assert "Left out, because it cannot be read: 2 records" in stdout
    assert entities_in(output) == [("Rome", "LOC")] * 2
    written(source, "Ada\tQ\nIt\tB-X\n")
    error = run("convert", source, output, "--skip-bad", exit_code=1)[1]
    assert "has no sentence that can be read, so nothing is written" in error
