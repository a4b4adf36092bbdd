"""WebAnno TSV 3: layers, annotations of several words, marks that are escaped, parts of words."""

from __future__ import annotations

from pathlib import Path

import pytest

from format_files import entities_of, texts_in, written
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.exchange.registry import find_sources
from spacy_cascade.tools.formats.texts import AnnotatedText

NER = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value"
POS = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|coarseValue|PosValue"


def document(tmp_path: Path, layers: list[str], *lines: str) -> AnnotatedText:
    content = "\n".join(["#FORMAT=WebAnno TSV 3.3", *layers, "", "", *lines, ""])
    path = written(tmp_path / "case.tsv", content)
    assert find_sources(path)[0].name == "webanno"
    (text,) = texts_in(path)
    return text


def test_sentences_words_and_entities(tmp_path: Path) -> None:
    text = document(
        tmp_path, [NER],
        "#Text=Mira Tolland  joined Quexo.",
        "1-1\t0-4\tMira\t*[1]\tPER[1]\t",
        "1-2\t5-12\tTolland\t*[1]\tPER[1]\t",
        "1-3\t14-20\tjoined\t_\t_\t",
        "1-4\t21-26\tQuexo\t*\tORG\t",
        "1-5\t26-27\t.\t_\t_\t",
        "",
        "#Text=😀 Quexo grew.",
        "2-1\t28-30\t😀\t_\t_\t",
        "2-2\t31-36\tQuexo\t*\tORG\t",
        "2-3\t37-41\tgrew\t_\t_\t",
        "2-4\t41-42\t.\t_\t_\t",
    )  # fmt: skip
    assert text.text == "Mira Tolland  joined Quexo.\n😀 Quexo grew."
    assert text.name == "case"
    assert entities_of(text) == [("Mira Tolland", "PER"), ("Quexo", "ORG"), ("Quexo", "ORG")]
    assert text.sentences == (0, 28)
    assert [text.text[slice(*pair)] for pair in text.words] == [
        "Mira", "Tolland", "joined", "Quexo", ".", "😀", "Quexo", "grew", ".",
    ]  # fmt: skip


def test_other_layers_and_annotations_of_the_same_word(tmp_path: Path) -> None:
    """Chains have two columns, relations one for each feature and one for the target."""
    layers = [
        POS, "#T_SP=webanno.custom.Flag|", NER,
        "#T_CH=x.CoreferenceLink|referenceRelation|referenceType",
        "#T_RL=x.Dependency|DependencyType|BT_x.POS",
    ]  # fmt: skip
    text = document(
        tmp_path, layers,
        "#Text=Bank of Oslo",
        "1-1\t0-4\tBank\tNOUN\tNN\t*\t*[1]\tORG[1]\t_\t_\t_\t_\t",
        "1-2\t5-7\tof\tADP\tIN\t_\t*[1]\tORG[1]\t_\t_\tcase\t1-1\t",
        "1-3\t8-12\tOslo\tPROPN\tNNP\t_\t*[1]|*[2]\tORG[1]|LOC[2]\t*->1-1\t*\t_\t_\t",
    )  # fmt: skip
    assert entities_of(text) == [("Bank of Oslo", "ORG"), ("Oslo", "LOC")]
    text = document(
        tmp_path, [NER],
        "#Text=Bank of",
        "1-1\t0-4\tBank\t*[2]|*[1]\tLOC[2]|ORG[1]\t",
        "1-2\t5-7\tof\t*[1]\tORG[1]\t",
    )  # fmt: skip
    assert entities_of(text) == [("Bank of", "ORG"), ("Bank", "LOC")]


def test_columns_of_other_layers_may_stand_first(tmp_path: Path) -> None:
    layers = ["#T_CH=x.Link|a|b", "#T_RL=x.Dependency|kind|BT_x.POS", "#T_SP=x.Role|ROLE_x|", NER]
    text = document(
        tmp_path, layers,
        "#Text=of Oslo",
        "1-1\t0-2\tof\t*->1-1\t*\tX\t1-1\tY\tY\tY\t_\t_\t",
        "1-2\t3-7\tOslo\t_\t_\t_\t_\t_\t_\t_\t*\tLOC\t",
    )  # fmt: skip
    assert entities_of(text) == [("Oslo", "LOC")]


def test_the_first_layer_of_spans_where_none_is_of_entities(tmp_path: Path) -> None:
    text = document(
        tmp_path, ["#T_SP=webanno.custom.Gene|kind|value"],
        "#Text=p53 acts",
        "1-1\t0-3\tp53\tx\t*\t",
        "1-2\t4-8\tacts\t_\t_\t",
    )  # fmt: skip
    assert entities_of(text) == [("p53", "ENT")]
    lines = ("#Text=p53", "1-1\t0-3\tp53\tx\t*\t")
    assert entities_of(document(tmp_path, ["#T_SP=x.Gene|kind|more"], *lines)) == [("p53", "x")]


def test_marks_that_are_escaped(tmp_path: Path) -> None:
    text = document(
        tmp_path, [NER],
        r"#Text=a\tb\\c \[1\] \_",
        "1-1\t0-3\ta\\tb\\\\c\t_\t_\t",
        "1-2\t6-9\t\\[1\\]\t*\tX\\|Y\\[2\\]\t",
        "1-3\t10-11\t\\_\t*\tA\\_B\t",
    )  # fmt: skip
    assert text.text == "a\tb\\c [1] _"
    assert entities_of(text) == [("[1]", "X|Y[2]"), ("_", "A_B")]


def test_parts_of_words_and_texts_of_several_lines(tmp_path: Path) -> None:
    text = document(
        tmp_path, [NER],
        "#Text=😀anti-anti",
        "#Text=side",
        "1-1\t10-21\t😀anti-anti\t_\t_\t",
        "1-1.1\t12-16\tanti\t*\tA\t",
        "1-1.2\t17-21\tanti\t*\tB\t",
        "1-2\t22-26\tside\t_\t_\t",
    )  # fmt: skip
    assert (text.text, text.sentences) == ("😀anti-anti\nside", (0,))
    assert [(one.start, one.end, one.label) for one in text.mentions] == [(1, 5, "A"), (6, 10, "B")]
    assert len(text.words) == 2


@pytest.mark.parametrize(
    ("layers", "line", "message"),
    [
        ([], "1-1\t0-1\ta\t_\t", ":1: there is no layer of spans"),
        ([NER], "1-1\t0-1\ta", ":6: expected 5 columns, but found 3"),
        ([NER], "1-1\t0-1\tb\t_\t_\t", ":6: the word 'b' is not in its #Text"),
        ([NER], "1-1\tx-1\ta\t_\t_\t", ":6: the word 'a' is not in its #Text"),
    ],
)
def test_damaged_files_name_the_line(
    layers: list[str], line: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError) as caught:
        document(tmp_path, layers, "#Text=a", line)
    assert message.replace(":6", f":{5 + len(layers)}") in str(caught.value)


@pytest.mark.parametrize(("offsets", "part", "is_there"), [
    ("10-12", "an", True), ("12-14", "ti", True), ("12-14", "an", False), ("9-11", " an", False),
    ("9-10", "n", False), ("10-10", "", True), ("9-9", "", False),
])  # fmt: skip
def test_a_part_stands_in_its_word(offsets: str, part: str, is_there: bool, tmp_path: Path) -> None:
    lines = ("#Text=anti", "1-1\t10-14\tanti\t_\t_\t", f"1-1.1\t{offsets}\t{part}\t*\tA\t")
    if is_there:
        assert entities_of(document(tmp_path, [NER], *lines)) == [(part, "A")]
        return
    with pytest.raises(CorpusError, match=rf":7: the word '{part}' is not in its #Text"):
        document(tmp_path, [NER], *lines)
