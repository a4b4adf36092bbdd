"""`spacy cascade combine jackknife`: its files, options and messages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from commands import check_errors, run_command
from helpers import PROJECT, take_interrupts
from spacy_cascade.workflows import jackknife as workflow
from spacy_cascade.workflows.jackknife import Jackknifed

CONFIG = PROJECT / "configs/tagger.cfg"
SETTINGS = ("--components.cascade_tagger.model.min_count", 1, "--training.max_epochs=2")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jackknife") / "corpus.spacy"
    vocab = Vocab()
    docs = [Doc(vocab, words=[f"w{i}", "binds"], tags=["NN", "VBZ"]) for i in range(4)]
    DocBin(docs=docs).to_disk(path)
    return path


run = partial(run_command, "combine", "jackknife")


def test_it_writes_the_corpus_and_says_how_good_it_is(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "new/out.spacy"
    stdout, _ = run(CONFIG, corpus, output, "--dev", corpus, "--folds", 2, *SETTINGS)
    assert "4 Docs in 2 folds with 2 trainings, tags accuracy 100.00 -> " in stdout
    assert stdout.count("\n") == 1
    docs = list(DocBin().from_disk(output).get_docs(Vocab()))
    assert [[token.tag_ for token in doc] for doc in docs] == [["NN", "VBZ"]] * 4
    assert [doc[0].text for doc in docs] == ["w0", "w1", "w2", "w3"]


def test_another_corpus_to_learn_from(corpus: Path, tmp_path: Path) -> None:
    vocab = Vocab()
    untagged = tmp_path / "untagged.spacy"
    DocBin(docs=[Doc(vocab, words=["it", "binds"])] * 2).to_disk(untagged)
    output = tmp_path / "out.spacy"
    data = ("--train", corpus, "--dev", corpus)
    stdout, _ = run(CONFIG, untagged, output, "--folds", 2, *data, *SETTINGS)
    assert "2 Docs in 2 folds with 1 training, tags (no gold) -> " in stdout
    assert [doc[1].tag_ for doc in DocBin().from_disk(output).get_docs(vocab)] == ["VBZ", "VBZ"]


def test_errors_are_one_line(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "o/out.spacy"
    data = (CONFIG, corpus, output, "--dev", corpus)
    check_errors(
        run,
        ((*data, "--folds", 5), "too few for 5 folds"),
        ((*data, "--flods", 5), "no option or argument --flods"),
        ((*data, "stray"), "no option or argument stray"),
        ((*data, "--train.x", 5, 6), "no option or argument 6"),
        ((*data, "--nowhere.x", 5), "nowhere -> x"),
        ((*data, "--folds", 2, "--components.cascade_tagger.overwrite", "[1]"), "overwrite"),
        ((*data, "--folds", 2, "--train", tmp_path / "nowhere.spacy"), "nowhere.spacy"),
        ((tmp_path / "nowhere.cfg", corpus, output, "--dev", corpus), "nowhere.cfg"),
        ((CONFIG, corpus, tmp_path / "out.json", "--dev", corpus), "does not end in .spacy"),
        ((*data[:-1], tmp_path / "nodev.spacy", "--folds", 2), "nodev.spacy"),
    )
    assert not output.exists()


def test_only_what_is_set_is_told_of_and_data_of_users_stay(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = [Doc(Vocab(), words=["a"], user_data={"from": "here"})]
    found = Jackknifed(docs, 2, sets_tags=False, tag_accuracy=None, span_f1={"a": 0.5, "b": None})
    monkeypatch.setattr(workflow, "jackknife", lambda *_, **__: found)
    output = tmp_path / "out.spacy"
    stdout, _ = run(CONFIG, corpus, output, "--dev", corpus)
    assert "1 Doc in 5 folds with 2 trainings, spans 'a' F1 50.00, spans 'b' (no gold)" in stdout
    (doc,) = DocBin().from_disk(output).get_docs(Vocab())
    assert doc.user_data == {"from": "here"}


@pytest.mark.parametrize(
    ("done", "message"),
    [
        (0, "Stopped before the end. What was there before is unchanged."),
        (2, "Stopped after 2 trainings. The same command goes on from"),
    ],
)
def test_ctrl_c_says_how_to_go_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int, message: str
) -> None:
    def stop(*_: object, work: Path, **__: object) -> None:
        work.mkdir()
        for i in range(done):
            (work / f"training-{i}-digest").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow, "jackknife", stop)
    stdout, stderr = run(CONFIG, corpus, tmp_path / "out.spacy", "--dev", corpus, exit_code=130)
    assert message in stderr
    assert stdout == ""


@pytest.mark.slow(kind="commands")
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_ctrl_c_keeps_the_trainings_that_are_done(tmp_path: Path) -> None:
    sample, output = tmp_path / "sample.spacy", tmp_path / "out.spacy"
    vocab = Vocab()
    words = [[f"w{(i * j) % 97}" for j in range(200)] for i in range(96)]
    docs = [Doc(vocab, words=of, tags=[f"T{len(word)}" for word in of]) for of in words]
    DocBin(docs=docs).to_disk(sample)
    work = tmp_path / "out.spacy.work"
    slow = "--components.cascade_tagger.trainer.passes=200"
    arguments = [CONFIG, sample, output, "--dev", sample, "--folds", 3, *SETTINGS, slow]
    command = [
        sys.executable,
        "-m",
        "spacy",
        "cascade",
        "combine",
        "jackknife",
        *map(str, arguments),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=take_interrupts,
    )  # fmt: skip
    until = time.monotonic() + 300
    while not list(work.glob("training-0-*")) and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    begin = time.monotonic()
    _, stderr = process.communicate(timeout=60)
    assert time.monotonic() - begin < 5  # under two seconds on a machine that does nothing else
    assert process.returncode == 130
    assert "Stopped after 1 training. The same command goes on from" in stderr
    assert "Traceback" not in stderr
    assert not output.exists()
    stdout, _ = run(*arguments)
    assert "in 3 folds with 3 trainings" in stdout
    assert output.exists()
    assert not work.exists()
