"""`spacy cascade debug-data`: what it says of a corpus, and what it warns of."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin, Span

from commands import check_errors, run_command
from helpers import PROJECT, SENTENCES, blank, gold_doc
from spacy_cascade.pipeline.spans.left_out import left_out_span
from spacy_cascade.pipeline.spans.parts import part_id
from spacy_cascade.tools.tokenizers.lost_spans import keep_lost

CONFIG = PROJECT / "configs/memb.cfg"


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Train and dev with one Doc in common and a label that is in dev only."""
    vocab = blank().vocab
    docs = [gold_doc(vocab, *sentence) for sentence in SENTENCES]
    extra = gold_doc(vocab, "The factor ( AP-1 binds RNA .", [(1, 4, "protein"), (5, 6, "RNA")])
    DocBin(docs=[*docs, gold_doc(vocab, "Few ( cells .", [(1, 3, "cell")])]).to_disk(
        tmp_path / "train.spacy"
    )
    DocBin(docs=[docs[1], extra]).to_disk(tmp_path / "dev.spacy")
    return [f"--paths.{name}={tmp_path / name}.spacy" for name in ("train", "dev")]


run = partial(run_command, "debug-data")


def test_counts_and_warnings(paths: list[str]) -> None:
    minimum = "--components.cascade_segmenter.model.min_count=1"
    stdout, stderr = run(CONFIG, *paths, minimum)
    assert stderr == ""
    lines = [line.split() for line in stdout.splitlines()]
    assert lines[lines.index(["train", "dev"]) + 2 :][:6] == [
        ["documents", "7", "2"],
        ["sentences", "unknown", "unknown"],
        ["tokens", "44", "13"],
        ["entities", "13", "4"],
        ["documents", "without", "entities", "1", "0"],
        ["tokens", "without", "annotation", "0", "0"],
    ]
    assert ["protein", "5", "2"] in lines
    assert ["cell", "5", "0"] in lines
    text = " ".join(stdout.split())
    assert "The corpus does not say where spaces are" in text
    assert "WholeNamesTokenizer" not in text
    assert "is not among the labels" not in text
    assert "'RNA' occurs in dev only: it cannot be learnt." in text
    assert "'cell' has only 5 entities in train: it is hard to learn." in text
    assert "An entity has an unbalanced bracket: 1 time in train. ( cells" in text
    assert "50.0 % of the documents in dev are also in train." in text
    assert "so are 50.0 % of its entities, with the same words and label" in text
    sizes = {line[0]: line[1:3] for line in lines if line and line[0].startswith("cascade_")}
    assert set(sizes) == {"cascade_segmenter", "cascade_classifier"}
    assert int(sizes["cascade_segmenter"][0].replace(",", "")) > 100


def test_what_the_longest_segment_leaves_out(paths: list[str]) -> None:
    config, setting = PROJECT / "configs/semi.cfg", "--components.cascade_segmenter.model"
    stdout, stderr = run(config, *paths, f"{setting}.min_count=1", f"{setting}.longest=2")
    assert "'cascade_segmenter'" not in stdout + stderr
    stdout, stderr = run(config, *paths, f"{setting}.min_count=1", f"{setting}.longest=1")
    text = " ".join((stdout + stderr).split())
    assert "'cascade_segmenter' looks at segments of up to 1 token. 7 of 13" in text
    assert "gold spans are longer and left out of training." in text


def test_labels_that_the_config_leaves_out(paths: list[str], tmp_path: Path) -> None:
    text = CONFIG.read_text(encoding="utf8")
    sections = (
        "\n[initialize]\n[initialize.components]\n[initialize.components.cascade_classifier]\n"
        'labels = ["DNA", "protein"]\n'
    )
    (tmp_path / "two.cfg").write_text(text + sections, encoding="utf8")
    stdout, _ = run(tmp_path / "two.cfg", *paths)
    assert "'cell' is not among the labels" in " ".join(stdout.split())
    assert "'DNA' is not among" not in stdout


def split_corpus(folder: Path) -> list[str]:
    """A corpus that splits words at hyphens, in natural spacing."""
    vocab = blank().vocab
    words = ["The", "NF", "-", "kappa", "gene", "binds", "IL", "-", "2", "."]
    spaces = [True, False, False, True, True, True, False, False, False, False]
    docs = []
    for _ in range(8):
        doc = Doc(vocab, words=words, spaces=spaces)
        doc.set_ents([Span(doc, 1, 2, label="protein"), Span(doc, 6, 9, label="DNA")])
        docs.append(doc)
    for name in ("train", "dev"):
        DocBin(docs=docs).to_disk(folder / f"{name}.spacy")
    return [f"--paths.{name}={folder / name}.spacy" for name in ("train", "dev")]


def test_a_better_tokenizer_is_suggested(tmp_path: Path) -> None:
    paths = split_corpus(tmp_path)
    minimum = "--components.cascade_segmenter.model.min_count=1"
    stdout, _ = run(CONFIG, *paths, minimum)
    text = " ".join(stdout.split())
    assert "8 entities in train (50.00 %) do not match the token boundaries" in text
    rows = {line.rsplit(maxsplit=4)[0]: line.split()[-4:] for line in stdout.splitlines() if line}
    assert rows["the config's"] == ["8", "50.00", "20.00", "100.00"]
    assert rows["spacy_cascade.PunctuationTokenizer.v1"] == ["0", "0.00", "100.00", "100.00"]
    assert "suits this corpus better than the config's tokenizer" in text
    lines = stdout.splitlines()
    begin = lines.index("[nlp.tokenizer]")
    assert lines[begin - 1].endswith(" in place of [nlp.tokenizer]:")
    assert lines[begin + 1] == '@tokenizers = "spacy_cascade.PunctuationTokenizer.v1"'


def test_spans_that_are_not_learnt_are_listed(tmp_path: Path) -> None:
    lost = tmp_path / "lost.jsonl"
    paths = split_corpus(tmp_path)
    docs = list(DocBin().from_disk(tmp_path / "dev.spacy").get_docs(blank().vocab))
    keep_lost(docs[1], [left_out_span("", docs[1].text, [(0, 2)], "X", "of several parts")])
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "dev.spacy")
    run(CONFIG, *paths, "--components.cascade_segmenter.model.min_count=1", "--lost", lost)
    rows = [json.loads(line) for line in lost.read_text().splitlines()]
    cut = [row for row in rows if row["reason"] == "that cut a token"]
    assert [row["document"] for row in cut] == [
        f"{part}, document {n}" for part in ("train", "dev") for n in range(1, 9)
    ]
    first = docs[0].text[cut[0]["start"] : cut[0]["end"]]
    assert (cut[0]["text"], cut[0]["label"]) == (first, "protein")
    (other,) = [row for row in rows if row not in cut]
    assert list(other.values())[0:3] == ["dev, document 2", 0, 2]


def test_spans_are_listed_where_none_can_be_learnt(tmp_path: Path) -> None:
    lost, vocab = tmp_path / "lost.csv", blank().vocab
    doc = Doc(vocab, words=["ฉันอยู่ที่", "กรุงเทพ"], spaces=[False, False])
    doc.set_ents([Span(doc, 1, 2, "LOC")])
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    paths = [f"--paths.{name}={tmp_path / 'in.spacy'}" for name in ("train", "dev")]
    error = run(CONFIG, *paths, "--lost", lost, exit_code=1)[1]
    assert "cannot learn 1 of 1 gold spans" in error
    # Without a list to write, nothing else is read that may fail first.
    assert run(CONFIG, paths[0], "--paths.dev=nowhere.spacy", exit_code=1)[1] == error
    assert "spacy_cascade.CharacterTokenizer.v1" in error
    assert lost.read_text(encoding="utf-8-sig").splitlines()[1:] == [
        f'"{part}, document 1",10,17,กรุงเทพ,LOC,that cut a token' for part in ("train", "dev")
    ]


def test_long_texts_are_cut(tmp_path: Path) -> None:
    vocab = blank().vocab
    docs = [gold_doc(vocab, f"( {'a' * n} runs .", [(0, 2, "cell")]) for n in (58, 59)]
    DocBin(docs=docs).to_disk(tmp_path / "in.spacy")
    paths = [f"--paths.{name}={tmp_path / 'in.spacy'}" for name in ("train", "dev")]
    stdout, _ = run(CONFIG, *paths, "--components.cascade_segmenter.model.min_count=1")
    shown = stdout[stdout.index("An entity has an unbalanced bracket: 2 times in train. ") :]
    assert shown.splitlines()[0].endswith(f" ( {'a' * 58}; ( {'a' * 55}...")


def test_discontinuous_annotation_is_told(tmp_path: Path) -> None:
    vocab = blank().vocab
    docs = [gold_doc(vocab, *sentence) for sentence in SENTENCES]
    docs[0].spans["sc"] = [Span(docs[0], n, n + 1, "x", span_id=part_id("T1")) for n in (0, 2)]
    DocBin(docs=docs).to_disk(tmp_path / "in.spacy")
    paths = [f"--paths.{name}={tmp_path / 'in.spacy'}" for name in ("train", "dev")]
    stdout, _ = run(CONFIG, *paths, "--components.cascade_segmenter.model.min_count=1")
    assert "1 annotations are discontinuous: 2 parts." in stdout


def test_errors_are_one_line(paths: list[str], tmp_path: Path) -> None:
    vocab = blank().vocab
    DocBin(docs=[gold_doc(vocab, SENTENCES[4][0], [])]).to_disk(tmp_path / "none.spacy")
    check_errors(
        run,
        ((tmp_path / "nowhere.cfg",), "nowhere.cfg"),
        ((CONFIG,), "config"),
        ((CONFIG, *paths, f"--paths.train={tmp_path / 'none.spacy'}"), "no labelled gold span"),
        (
            (CONFIG, *paths, f"--paths.train={tmp_path / 'none.spacy'}", "--nlp.pipeline=[]"),
            "The training corpus has no entities in doc.ents. Check --paths.train.",
        ),
        ((CONFIG, *paths, "--trian", "x"), "no option or argument --trian"),
    )
