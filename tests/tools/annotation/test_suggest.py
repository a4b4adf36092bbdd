"""Suggestions: the least sure sentences, without repetitions, as a stream for annotation tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import DocBin, Span
from typer.testing import CliRunner

from helpers import SENTENCES, TEXTS, blank, gold_doc, make_doc
from spacy_cascade import uncertainty
from spacy_cascade.cli import app
from spacy_cascade.errors import ConfigError, CorpusError
from spacy_cascade.tools.annotation import suggest as suggesting
from spacy_cascade.tools.annotation.learn import read_returned
from spacy_cascade.tools.annotation.stream import read_pool, record_of
from spacy_cascade.tools.annotation.suggest import Options, choose_diverse, suggest

NEW = [
    "Mice lack the NFAT gene .", "mice  lack the NFAT gene .", "Monocytes express CD4 .",
    "Human monocytes express CD8 .", "The site of STAT5 is known .", "Nothing is known .",
]  # fmt: skip


def run(*arguments: object, exit_code: int = 0) -> Any:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == exit_code, result.output
    return result


@pytest.mark.parametrize("measure", ["entropy", "margin", "least_confident"])
def test_without_diversity_the_values_alone_decide(trained: Language, measure: str) -> None:
    texts = NEW[:1] + NEW[2:] + TEXTS
    values = [uncertainty(trained, trained(text), measure)[0].value for text in texts]
    found = suggest(trained, texts, Options(4, measure, diversity=0.0))
    assert [each.source for each in found] == sorted(
        range(len(texts)), key=lambda i: -values[i]
    )[:4]  # fmt: skip
    for each in found:
        assert each.sentence.value == pytest.approx(values[each.source])


def test_copies_are_suggested_once_and_batches_do_not_matter(
    trained: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggesting, "AT_ONCE", 20)
    texts = [*NEW, *(f"Filler {'x' * i} ." for i in range(30)), *NEW]
    found = suggest(trained, texts, Options(len(texts)))
    words = [" ".join(each.doc.text.lower().split()) for each in found]
    assert len(set(words)) == len(words)
    n = len(texts)
    alone = [each.source for each in suggest(trained, NEW, Options(n, diversity=0.0))]
    among_others = [each.source for each in suggest(trained, texts, Options(n, diversity=0.0))]
    assert [i for i in among_others if i < len(NEW)] == alone
    in_batches = [each.source for each in found]
    monkeypatch.setattr(suggesting, "AT_ONCE", 1000)
    assert [each.source for each in suggest(trained, texts, Options(n))] == in_batches


@pytest.mark.parametrize("measure", ["margin", "least_confident"])
def test_in_a_document_the_least_sure_span_decides(trained: Language, measure: str) -> None:
    """Of its sentences, where it is one sequence; a document beside it changes nothing."""
    assert trained.get_pipe("cascade_segmenter").of_sentences is False
    doc = make_doc(trained.vocab, f"{NEW[2]} {NEW[0]}", [0, 4])
    for sentence in uncertainty(trained, doc, measure):
        expected = max((span.value for span in sentence.spans), default=0.0)
        assert sentence.value == pytest.approx(expected)
    found = suggest(trained, [doc, NEW[4]], Options(9, measure, diversity=0.0))
    alone = uncertainty(trained, make_doc(trained.vocab, NEW[4]), measure)[0].value
    assert alone == pytest.approx(next(e.sentence.value for e in found if e.source))


def test_sentences_of_documents_are_suggested_by_themselves(trained: Language) -> None:
    doc = make_doc(trained.vocab, f"{NEW[2]} {NEW[0]}", [0, 4])
    found = suggest(trained, [make_doc(trained.vocab, NEW[4]), doc], Options(9, diversity=0.0))
    places = {(each.source, each.sentence.start, each.sentence.end) for each in found}
    assert places == {(0, 0, 7), (1, 0, 4), (1, 4, 10)}
    record = record_of(next(e for e in found if e.sentence.start == 4), "entropy", "here")
    assert record["text"] == NEW[0]
    assert [token["id"] for token in record["tokens"]] == [0, 1, 2, 3, 4, 5]
    found[0].doc.set_ents([Span(found[0].doc, 0, 1, "x")])
    (span,) = record_of(found[0], "entropy", "here")["spans"]
    assert (span["label"], span["score"]) == ("x", None), "of another component"
    for span in [*record["spans"], *record["meta"]["unsure"]]:
        words = record["tokens"][span["token_start"] : span["token_end"] + 1]
        assert words[0]["start"] == span["start"]
        assert words[-1]["end"] == span["end"]
    for token in record["tokens"]:
        assert record["text"][token["start"] : token["end"]] == token["text"]


def test_the_command_writes_a_stream_that_can_be_learnt(
    trained: Language, model: Path, tmp_path: Path
) -> None:
    texts, picks = tmp_path / "texts.txt", tmp_path / "picks.jsonl"
    texts.write_text("\n".join([*NEW, ""]), encoding="utf8")
    result = run("suggest", model, texts, "--output", picks, "--sentences", 3, "--labels", "DNA")
    assert "3 sentences of 6 texts" in result.stdout
    records = [json.loads(line) for line in picks.read_text(encoding="utf8").splitlines()]
    assert len(records) == 3
    for record in records:
        assert {span["label"] for span in record["meta"]["unsure"]} <= {"DNA"}
        doc = trained(record["text"])
        assert [(s["start"], s["end"], s["label"]) for s in record["spans"]] == [
            (entity.start_char, entity.end_char, entity.label_) for entity in doc.ents
        ]
        assert [s["score"] for s in record["spans"]] == pytest.approx(
            [entity._.confidence for entity in doc.ents], abs=1e-4
        )
    rows = [line.split() for line in result.stdout.splitlines() if line.endswith("[DNA]")]
    unsure = [span for record in records for span in record["meta"]["unsure"]]
    values = sorted((f"{span['entropy']:.2f}" for span in unsure), reverse=True)
    assert [row[0] for row in rows] == values[:10], "the least sure ones"
    examples = read_returned(picks, trained).examples
    assert [e.reference.text for e in examples] == [record["text"] for record in records]


def test_long_sentences_are_cut_on_the_screen_alone(model: Path, tmp_path: Path) -> None:
    fits, longer = (f"STAT5 binds the «AP-1» site of {'é' * n} ." for n in (27, 28))
    assert (len(fits), len(longer)) == (60, 61)
    texts, picks = tmp_path / "texts.txt", tmp_path / "picks.jsonl"
    texts.write_text(f"{fits}\n{longer}\n", encoding="utf8")
    stdout = run("suggest", model, texts, "--output", picks).stdout
    assert f"  {fits}\n" in stdout
    assert f"  {longer[:59]}…\n" in stdout
    assert run("suggest", model, texts).stdout == stdout[: stdout.index("✔")]
    written = picks.read_text(encoding="utf8")
    assert f'"{fits}"' in written
    assert f'"{longer}"' in written


def test_texts_are_called_by_their_files_and_places(trained: Language, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One .\n\n Two .\n", encoding="utf8")
    (tmp_path / "b.jsonl").write_text('{"text": "Three ."}\n', encoding="utf8")
    doc = make_doc(trained.vocab, "Four . Five .", [0, 2])
    DocBin(docs=[make_doc(trained.vocab, ""), doc]).to_disk(tmp_path / "c.spacy")
    texts, where = read_pool(tmp_path, trained)
    assert [str(text).strip() for text in texts] == ["One .", "Two .", "Three .", "Four . Five ."]
    assert where == ["a.txt #1", "a.txt #2", "b.jsonl #1", "c.spacy #1"]


def test_answers_decide_what_is_learnt(trained: Language, tmp_path: Path) -> None:
    span = {"start": 0, "end": 4, "label": "cell"}
    records = [
        {"text": "Mice run .", "spans": [span, {"start": 5, "end": 7, "label": "DNA"}]},
        {"text": "Mice eat .", "spans": [span], "answer": "reject"},
        {"text": "Mice sleep .", "answer": "ignore"},
    ]
    path = tmp_path / "back.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf8")
    found = read_returned(path, trained)
    assert found.left_out == {"texts answered reject": 1, "texts answered ignore": 1}
    assert [one.mention.text_in(one.text.text) for one in found.lost] == ["ru"]
    assert len(found.examples) == 1
    reference = found.examples[0].reference
    assert [(token.ent_iob_, token.ent_type_) for token in reference] == [
        ("B", "cell"), ("", ""), ("O", ""),
    ]  # fmt: skip


@pytest.mark.slow(kind="commands")
def test_better_pipelines_are_kept_and_the_way_is_told(model: Path, tmp_path: Path) -> None:
    def write(name: str, sentences: list[Any]) -> Path:
        docs = [gold_doc(trained_vocab, *sentence) for sentence in sentences]
        DocBin(docs=docs).to_disk(tmp_path / name)
        return tmp_path / name

    trained_vocab = blank().vocab
    virus = [("HIV infects primary monocytes .", [(0, 1, "virus"), (2, 4, "cell")])]
    old, dev = write("old.spacy", SENTENCES), write("dev.spacy", [*SENTENCES, *virus])
    new = tmp_path / "new.jsonl"
    spans = [{"start": 0, "end": 3, "label": "virus"}, {"start": 12, "end": 29, "label": "cell"}]
    new.write_text(json.dumps({"text": virus[0][0], "spans": spans}), encoding="utf8")
    out = tmp_path / "out"
    stdout = run("adapt", model, new, out, "--train", old, "--dev", dev).stdout
    assert {"as it was", "adapted", "retrained"} <= {
        line.split("  ")[0] for line in stdout.splitlines()
    }
    assert "as it was ->" not in stdout
    assert (out / "config.cfg").exists()
    known = tmp_path / "known.jsonl"
    known.write_text(json.dumps({"text": "Mice .", "spans": []}), encoding="utf8")
    kept = run("adapt", model, known, out, "--dev", old)
    assert "no way to learn is better on DEV" in " ".join(kept.stdout.split())
    assert "Pipeline, as it was ->" in kept.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"', ":1: the JSON that begins here is cut"),
        ('{"spans": []}', ":1: none of the known formats"),
        ('{"text": "a", "spans": [{"start": 0}]}', "offsets 0 and None are not whole"),
        ('{"text": "a", "answer": "reject"}', "no accepted annotation"),
    ],
)
def test_other_streams_are_refused(
    trained: Language, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf8")
    with pytest.raises(CorpusError, match=message):
        read_returned(path, trained)


def test_words_without_a_text_can_be_learnt(trained: Language, tmp_path: Path) -> None:
    """The words stay, and those that are not annotated."""
    path = tmp_path / "back.iob2"
    path.write_text("Jurkat B-cell\ncells I-cell\nexpress O\nAP- -\n1 -\n. O\n", encoding="utf8")
    (example,) = read_returned(path, trained).examples
    words = [token.text for token in example.reference]
    assert words == ["Jurkat", "cells", "express", "AP-", "1", "."]
    assert [(e.text, e.label_) for e in example.reference.ents] == [("Jurkat cells", "cell")]
    assert [token.ent_iob_ for token in example.reference][2:] == ["O", "", "", "O"]


def test_what_cannot_be_suggested_is_refused(
    trained: Language, model: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="1 or more, not 0"):
        suggest(trained, NEW, Options(0))
    assert suggest(trained, []) == suggest(trained, [""]) == []
    empty = tmp_path / "empty.txt"
    empty.write_text("\n", encoding="utf8")
    assert "has no text" in run("suggest", model, empty, exit_code=1).stderr
    assert (
        "no label 'x'"
        in run("suggest", model, _texts(tmp_path), "--labels", "x", exit_code=1).stderr
    )


def _texts(folder: Path) -> Path:
    path = folder / "texts.txt"
    path.write_text("\n".join(NEW), encoding="utf8")
    return path


def plain_choice(
    n: int, values: list[float], words: list[dict[int, float]], copies: list[int], diversity: float
) -> list[int]:
    """The same, sentence by sentence."""
    chosen: list[int] = []
    while len(chosen) < n:
        gains = {}
        for i, own in enumerate(words):
            if values[i] <= 0 or any(copies[i] == copies[j] for j in chosen):
                continue
            left = {w: (1 - diversity) ** sum(w in words[j] for j in chosen) for w in own}
            gains[i] = values[i] * (sum(own[w] * left[w] for w in own) if own else 1.0)
        if not gains:
            break
        chosen.append(max(gains, key=lambda i: gains[i]))
    return chosen


@pytest.mark.parametrize("diversity", [0.0, 0.3, 1.0])
def test_the_choice_is_the_greedy_one(diversity: float) -> None:
    rng = np.random.default_rng(0)
    values = [*rng.uniform(0.5, 2.0, 24).tolist(), 0.0]
    words = []
    for _ in values:
        own = rng.choice(12, size=rng.integers(0, 4), replace=False).tolist()
        shares = rng.dirichlet(np.ones(len(own))).tolist() if own else []
        words.append(dict(zip(own, shares, strict=True)))
    copies = [i // 2 for i in range(len(values))]
    starts = np.cumsum([0, *map(len, words)])
    flat = np.array([word for own in words for word in own], dtype=np.int64)
    shares = np.array([share for own in words for share in own.values()])
    for n, n_found in ((10, 10), (25, 12)):
        found = choose_diverse(n, np.array(values), starts, flat, shares, copies, diversity)
        assert found == plain_choice(n, values, words, copies, diversity)
        assert len(found) == n_found


def test_a_diversity_out_of_range_is_refused() -> None:
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(ConfigError, match="from 0 to 1, not 2"):
        choose_diverse(1, np.zeros(0), np.zeros(1, np.int64), none, np.zeros(0), [], 2.0)
