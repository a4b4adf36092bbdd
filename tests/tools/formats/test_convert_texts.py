"""What `spacy cascade convert` makes of files of texts, and what it says of the rest."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.util import load_config

import spacy_cascade
from commands import run_command as run
from format_files import FILES, doccano, docs_in, entities_in, written
from spacy_cascade.tools.formats.annotated import TextSummary
from spacy_cascade.tools.formats.converted import print_texts, print_without_place
from spacy_cascade.tools.formats.placing import LostSpan, Misfit
from spacy_cascade.tools.formats.texts import AnnotatedText, Mention
from spacy_cascade.tools.tokenizers import languages
from spacy_cascade.tools.tokenizers.lost_spans import count_lost

Span = tuple[int, int, str]
SPAN = {"start": 0, "end": 3, "label": "PER"}
GOOD = ("Ada saw Rome.", [(0, 3, "PER"), (8, 12, "LOC")])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "in.jsonl"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.spacy"


def test_the_format_and_what_was_left_out_are_told(output: Path) -> None:
    stdout, stderr = run("convert", FILES / "prodigy.jsonl", output)
    assert stderr == ""
    assert "Read as prodigy" in stdout
    assert "Left out, texts answered reject: 1" in stdout
    assert "Left out, texts answered ignore: 1" in stdout
    assert "2 documents, 12 words, 3 entities (protein 2, cell 1), 6 words not ann" in stdout
    assert [doc[0].text for doc in docs_in(output)] == ["IL-2", "In"]
    option = ("--tokenizer", "spacy_cascade.PunctuationTokenizer.v1")
    run("convert", FILES / "prodigy.jsonl", output, *option)
    assert [token.text for token in docs_in(output)[0]][:3] == ["IL", "-", "2"]
    error = run("convert", FILES / "prodigy.jsonl", output, "--tokenizer", "no", exit_code=1)[1]
    assert "There is no tokenizer with --tokenizer no" in error


def test_spans_that_no_token_can_express_are_counted_and_shown(source: Path, output: Path) -> None:
    text = "The IL-2_mutant T cells"
    spans = [(5, 8, "protein"), (4, 8, "protein"), (16, 23, "cell"), (18, 23, "cell")]
    doccano(source, (text, spans))
    stdout, _ = run("convert", source, output, "--accept-loss")
    assert "No entity for 2 spans that cut a token:" in stdout
    place = f"{source}:1, characters 5-8: protein in 'The I[L-2]_mutant T cells'"
    assert place in stdout
    assert "No entity for 1 span overlapping another span:" in stdout
    assert "--spans-key sc" in stdout
    assert "--tokenizer spacy_cascade.PunctuationTokenizer.v1 has token boundaries at 1" in stdout
    option = ("--tokenizer", "spacy_cascade.PunctuationTokenizer.v1", "--spans-key", "sc")
    stdout, _ = run("convert", source, output, *option)
    assert "No entity for 1 span that cut a token:" in stdout
    assert "1 span overlapping another span: in doc.spans['sc'] alone, no entity." in stdout
    (doc,) = docs_in(output)
    assert count_lost([doc]) == {"that cut a token": 1}
    assert [span.text for span in doc.ents] == ["IL-2", "T cells"]
    assert [span.text for span in doc.spans["sc"]] == ["IL-2", "T cells", "cells"]


def test_nothing_annotated_is_an_error(source: Path, output: Path) -> None:
    written(source, '{"text": "a", "meta": {}}\n{"text": " ", "spans": []}\n')
    error = run("convert", source, output, exit_code=1)[1]
    assert "texts that nobody annotated 1, empty texts 1" in error
    assert error.count("\n") == 1
    assert not output.exists()


def test_predictions_another_field_and_a_folder_of_files(tmp_path: Path, output: Path) -> None:
    stdout, _ = run("convert", FILES / "label_studio.json", output, "--predictions")
    assert "2 documents," in stdout
    folder = tmp_path / "exports"
    folder.mkdir()
    task = {"data": {"body": "IL-2"}, "annotations": [{"result": []}]}
    for name in ("a.json", "b.json"):
        written(folder / name, json.dumps([task]))
    assert "2 documents, 2 words" in run("convert", folder, output, "--field", "body")[0]
    assert "Set --field to one of: body" in run("convert", folder, output, exit_code=1)[1]


def test_a_library_that_is_missing_is_named(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def absent(module: str, *rest: Any) -> Any:
        if module.startswith("lxml"):
            raise ImportError
        return real(module, *rest)

    monkeypatch.setattr("spacy_cascade.extras.import_module", absent)
    error = run("convert", FILES / "bioc.xml", output, exit_code=1)[1]
    assert "needs lxml, which is not installed" in error
    assert 'pip install "spacy-cascade[formats]"' in error


def test_bad_records_and_spans_are_skipped_when_asked(source: Path, output: Path) -> None:
    """Words of a text with a bad span are not taken as outside."""
    rome = ("Rome fell.", [(0, 4, "LOC"), (5, 99, "X")])
    doccano(source, GOOD, rome)
    with source.open("a") as file:
        file.write('{"text": "cut\n')
    error = run("convert", source, output, "--accept-loss", exit_code=1)[1]
    assert error.startswith("✘ 2 records or spans cannot be read")
    assert f"\n  {source}:2: a span goes from character 5 to 99" in error
    assert f"\n  {source}:3: the JSON that begins here is cut" in error
    assert not output.exists()
    stdout, stderr = run("convert", source, output, "--skip-bad")
    assert f"{source}:2: a span goes from character 5 to 99" in stderr
    assert "annotated in different ways" not in stdout
    assert f"{source}:3: the JSON that begins here is cut" in stderr
    assert "Left out, because it cannot be read: 1 record and 1 span" in stdout
    assert entities_in(output) == [("Ada", "PER"), ("Rome", "LOC"), ("Rome", "LOC")]
    whole, partial = docs_in(output)
    assert [token.ent_iob_ for token in whole] == ["B", "O", "B", "O"]
    assert [token.ent_iob_ for token in partial] == ["B", "", ""]


def test_what_is_annotated_in_part_contradicts_nothing(source: Path, output: Path) -> None:
    """A text with a span that cannot be read, or of which one span alone was looked at."""
    doccano(source, GOOD, (GOOD[0], [(5, 99, "X")]))
    assert "different ways" not in run("convert", source, output, "--skip-bad")[0]
    assert entities_in(output) == [("Ada", "PER"), ("Rome", "LOC")]
    tasks = [{"text": GOOD[0], "spans": []}, {"text": GOOD[0], "spans": [SPAN], "_view_id": "ner"}]
    written(source, "\n".join(map(json.dumps, tasks)))
    assert "different ways" not in run("convert", source, output)[0]
    del tasks[1]["_view_id"]
    written(source, "\n".join(map(json.dumps, tasks)))
    said = f"annotated in different ways: 'Ada saw Rome.' ({source}:1; {source}:2)."
    assert said in run("convert", source, output)[0]
    for one, other in (((0, 3), (0, 7)), ((0, 7), (4, 7))):
        doccano(source, (GOOD[0], [(*one, "PER")]), (GOOD[0], [(*other, "PER")]))
        assert said in run("convert", source, output)[0]


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("+-++", "Texts without a span: 1 of 4. To leave"),
        ("+--+---", "Texts without a span: 5 of 7, 3 of them at the end. Training takes"),
        ("---", "Texts without a span: 3 of 3. Training takes"),
        ("+" * 60 + "---", "Texts without a span: 3 of 63, 3 of them at the end. Training takes"),
        ("+-" * 9 + "+-", "Texts without a span: 10 of 20. To leave"),
        ("+" * 60 + "-", "Texts without a span: 1 of 61. To leave"),
    ],
)
def test_texts_without_a_span_are_counted(
    pattern: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_texts(TextSummary(has_span=[mark == "+" for mark in pattern]))
    assert said in capsys.readouterr().out


def test_what_was_made_of_texts_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"left_out": Counter(b=1_200, a=1), "readings": Counter(x=2), "trimmed": 1}
    print_texts(TextSummary(has_span=[True], **counts))  # type: ignore[arg-type]
    assert [line[2:] for line in capsys.readouterr().out.splitlines()] == [
        "Left out, a: 1", "Left out, b: 1,200", "Read with x: 2 documents",
        "1 span had white space at an end, which is left out of the entity",
    ]  # fmt: skip
    text = AnnotatedText("A long text before Rome and more than that", name="d", where="in:1")
    lost = [LostSpan(Misfit.CUTS, Mention(((19, 23),), "LOC"), text)] * 4
    print_without_place([])
    print_without_place(lost)
    first, *shown = capsys.readouterr().out.splitlines()
    assert first[2:] == "No entity for 4 spans. Their words count as not annotated:"
    place = "in:1 (document d), characters 19-23: LOC in"
    assert shown == [f"  {place} 'ng text before [Rome] and more than '"] * 3


def test_texts_without_a_span_are_left_out_when_asked(source: Path, output: Path) -> None:
    doccano(source, GOOD, ("Nothing.", []), ("More of it.", []))
    assert "Texts without a span: 2 of 3, 2 of them" in run("convert", source, output)[0]
    stdout, _ = run("convert", source, output, "--skip-empty")
    assert "Left out, texts without a span: 2" in stdout
    assert [doc.text for doc in docs_in(output)] == ["Ada saw Rome."]
    assert "Texts without a span" not in stdout
    # One that cannot be read is a span, too.
    doccano(source, GOOD, ("More of it.", [(0, 99, "X")]))
    stdout, _ = run("convert", source, output, "--skip-empty", "--skip-bad")
    assert ("1 span" in stdout, len(docs_in(output))) == (True, 2)
    assert "without a span" not in stdout
    error = run("convert", doccano(source, ("a", [])), output, "--skip-empty", exit_code=1)[1]
    assert f"text to write to {output}: texts without a span 1. Annotate some." in error


def test_a_run_that_loses_most_spans_is_an_error(source: Path, output: Path) -> None:
    text = "The pIL-2_mut and qIL-2_mut"
    doccano(source, (text, [(5, 9, "X"), (19, 23, "X"), (18, 27, "Y")]))
    error = run("convert", source, output, exit_code=1)[1]
    assert error.startswith("✘ 2 of 3 spans would be lost (2 that cut a token)")
    assert "The tokenizer ends tokens elsewhere." in error
    assert "To go on all the same: --accept-loss." in error
    assert not output.exists()
    assert run("convert", source, output, "--accept-loss")[1] == ""
    assert entities_in(output) == [("qIL-2_mut", "Y")]
    doccano(source, (text, [(5, 9, "X"), (0, 3, "Y")]))
    assert run("convert", source, output)[1] == ""
    # No tokenizer ends tokens within a word, save the one for languages without spaces.
    doccano(source, ("Mississippi", [(2, 5, "X")]))
    error = run("convert", source, output, exit_code=1)[1]
    assert "No known tokenizer ends tokens where these spans end: see docs/formats.md." in error


@pytest.mark.parametrize("other", [(0, 7, "PER"), (4, 7, "PER"), (0, 3, "ORG")])
def test_another_span_of_the_same_text_is_a_contradiction(
    other: Span, source: Path, output: Path
) -> None:
    twice = [("Ada saw Rome.", [span]) for span in ((0, 3, "PER"), other)]
    stdout, _ = run("convert", doccano(source, *twice, twice[0]), output)
    said = f"One text is annotated in different ways: 'Ada saw Rome.' ({source}:1; {source}:2)."
    assert said in stdout


def test_what_a_span_is_not_is_no_loss(source: Path, output: Path) -> None:
    doccano(source, ("Anna Berg likes Rome", [(0, 9, "!LOC"), (16, 20, "LOC"), (0, 9, "!ORG")]))
    said, error = run("convert", source, output)
    assert "2 spans whose label begins with '!'" in said + error
    assert entities_in(output) == [("Rome", "LOC")]


@pytest.mark.parametrize(
    ("spans", "cause"),
    [
        ([(0, 12, "X"), (0, 3, "Y"), (8, 12, "Z")], "Spans that overlap"),
        ([(3, 4, "X"), (8, 12, "Z"), (7, 8, "Y")], "The offsets belong to"),
        (
            [(8, 12, "Z"), (8, 99, "X"), (9, 99, "X")],
            "The offsets belong to another text, or do not count characters",
        ),
    ],
)
def test_the_likely_cause_is_named(
    spans: list[Span], cause: str, source: Path, output: Path
) -> None:
    doccano(source, ("Ada saw Rome.", spans))
    error = run("convert", source, output, "--skip-bad", exit_code=1)[1]
    assert "2 of 3 spans would be lost" in error
    assert f"The likely cause: {cause}" in error
    if "overlap" in cause:
        run("convert", source, output, "--spans-key", "sc")


def test_what_offsets_count_is_read_or_named(tmp_path: Path, output: Path) -> None:
    """BRAT has the text of each span: where only some fit in a unit, it is named, not taken."""
    written(tmp_path / "a.txt", "🙂🙂 in Rome again and again")
    lines = ["T1\tX 8 12\tRome", "T2\tX 13 18\tagain", "T3\tX 10 14\tRome", "T4\tX 9 13\tRome"]
    written(tmp_path / "a.ann", "\n".join(lines))
    error = run("convert", tmp_path, output, "--format", "brat", exit_code=1)[1]
    assert "2 of these 4 spans have offsets that count UTF-16 code units" in error
    written(tmp_path / "a.ann", "T1\tX 1 5\tOslo\n")
    error = run("convert", tmp_path, output, "--format", "brat", exit_code=1)[1]
    assert "another text, or the text was changed after the annotation." in error
    written(tmp_path / "a.ann", "\n".join(lines[:2]))
    stdout, _ = run("convert", tmp_path, output, "--format", "brat")
    assert "Read with offsets that count UTF-16 code units: 1 document" in stdout
    assert entities_in(output) == [("Rome", "X"), ("again", "X")]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("艾达在罗马。", "--lang zh has token boundaries at 1"),
        ("エイダはローマにいる。", "--lang ja"),
    ],
)
def test_a_language_without_spaces_is_proposed(
    text: str, option: str, source: Path, output: Path
) -> None:
    doccano(source, (text, [(0, 2, "PER")]))
    assert option in run("convert", source, output, exit_code=1)[1]
    if "zh" in option:
        assert run("convert", source, output, "--lang", "zh")[1] == ""
        assert entities_in(output) == [("艾达", "PER")]
        options = ("--lang", "zh", "--tokenizer", "spacy_cascade.SpaceTokenizer.v1")
        error = run("convert", source, output, *options, exit_code=1)[1]
        assert ("--lang" in error, "CharacterTokenizer.v1 has" in error) == (False, True)


@pytest.mark.slow(kind="commands")
def test_init_and_debug_data_see_what_was_lost(source: Path, output: Path, tmp_path: Path) -> None:
    """The tokenizer that lost spans is not the best one, and the next run keeps them."""
    text = "The IL-2_mut binds IL-2 in cells."
    doccano(source, *[(text, [(4, 8, "X"), (19, 23, "X"), (27, 32, "Y")])] * 8)
    assert "No entity for 8 spans that cut" in run("convert", source, output)[0]
    config = tmp_path / "ner.cfg"
    said = "8 spans of the annotation became no entity in `convert`: 8 that cut a token."
    assert said in run("init", config, "--train", output, "--dev", output)[0]
    assert "0 of 24 entities do not begin" in " ".join(config.read_text().split()).replace("# ", "")
    assert said in run("debug-data", config)[0]
    assert "No entity" not in run("convert", source, output, "--tokenizer", config)[0]
    assert entities_in(output) == [("IL-2", "X"), ("IL-2", "X"), ("cells", "Y")] * 8
    assert "became no entity" not in run("init", config, "--train", output, "--force")[0]


@pytest.mark.slow(kind="commands")
def test_init_proposes_the_language(
    source: Path, output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(languages, "is_usable", lambda code: code != "ja")
    rows = [("艾达在罗马。", [(0, 2, "PER")]), ("Ada saw Rome.", [(0, 3, "PER")])]
    run("convert", doccano(source, *rows), output, "--accept-loss")
    run("init", tmp_path / "zh.cfg", "--train", output)
    assert load_config(tmp_path / "zh.cfg")["nlp"]["lang"] == "en"
    run("convert", doccano(source, rows[0], rows[0]), output, "--lang", "zh")
    run("init", tmp_path / "zh.cfg", "--train", output, "--force")
    config = load_config(tmp_path / "zh.cfg")
    assert config["nlp"]["lang"] == "zh"
    assert config["nlp"]["tokenizer"]["@tokenizers"] == "spacy.zh.ChineseTokenizer"
    run("convert", doccano(source, ("エイダはローマ", [(0, 7, "PER")])), output)
    assert 'pip install "spacy[ja]"' in run("init", tmp_path / "ja.cfg", "--train", output)[0]


@pytest.mark.slow(kind="commands")
def test_text_without_spaces_is_learnt_by_characters(
    source: Path, output: Path, tmp_path: Path
) -> None:
    """Without the package of the language, from `convert` to a trained pipeline."""
    cities = ("กรุงเทพ", "ขอนแก่น", "ภูเก็ต")
    rows = [(f"ฉันอยู่ที่{city}มานาน", [(10, 10 + len(city), "LOC")]) for city in cities]
    option = "--tokenizer spacy_cascade.CharacterTokenizer.v1"
    doccano(source, *rows * 4)
    error = run("convert", source, output, "--lang", "xx", exit_code=1)[1]
    assert f"{option} has token boundaries at 12 of these 12 spans" in error
    run("convert", source, output, "--lang", "xx", "--accept-loss")
    config = tmp_path / "th.cfg"
    error = run("init", config, "--train", output, exit_code=1)[1]
    assert "12 spans of the annotation cut tokens in `convert`, such as 'กรุงเทพ'." in error
    run("convert", source, output, "--lang", "xx", *option.split())
    run("init", config, "--train", output, "--lang", "xx")
    made = load_config(config)
    assert made["nlp"]["tokenizer"] == {"@tokenizers": "spacy_cascade.CharacterTokenizer.v1"}
    nlp = spacy.blank("xx", config={"nlp": {"tokenizer": made["nlp"]["tokenizer"]}})
    spacy_cascade.fit(nlp, rows, rows, updates=1)
    assert [[span.text for span in nlp(text).ents] for text, _ in rows] == [[c] for c in cities]


@pytest.mark.slow(kind="commands")
def test_contradictions_are_said_with_their_places(
    source: Path, output: Path, tmp_path: Path
) -> None:
    once, twice = ("Ada saw Rome.", [(0, 3, "PER")]), ("Ada saw Rome.", [(8, 12, "per")])
    stdout, _ = run("convert", doccano(source, once, twice), output)
    case_only = "The labels 'PER' (1) and 'per' (1) differ in case only. 'per': "
    assert f"{case_only}{source}:2." in stdout
    assert f"annotated in different ways: 'Ada saw Rome.' ({source}:1; {source}:2)." in stdout
    config = tmp_path / "ner.cfg"
    for command in (("init", config, "--train", output, "--dev", output), ("debug-data", config)):
        stdout, _ = run(*command)
        assert f"{case_only.replace('(1)', '(2)')}train, document 2; dev, document 2." in stdout
        assert "'Ada saw Rome.' (train, document 1; train, document 2)." in stdout
