"""What `spacy cascade init` holds out of a corpus that comes without Docs to score on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.util import load_config
from spacy.vocab import Vocab

from commands import check_errors, few_steps, run_command
from helpers import run_python, write_sample
from made_corpora import named_docs, write_docs
from spacy_cascade import ConfigError
from spacy_cascade.tools.init import command as init
from spacy_cascade.tools.init.holding_out import split

run = partial(run_command, "init")


def numbered(n: int) -> list[Doc]:
    return [Doc(Vocab(), words=[f"w{i}"]) for i in range(n)]


def texts(docs: list[Doc]) -> list[str]:
    return [doc.text.strip() for doc in docs]


def texts_in(path: str) -> list[str]:
    return texts(list(DocBin().from_disk(path).get_docs(Vocab())))


def test_it_is_spread_evenly_in_the_order_of_the_corpus() -> None:
    kept, held = map(texts, split(numbered(25), 0.2))
    assert held == ["w0", "w5", "w10", "w15", "w20"]
    assert kept == [f"w{i}" for i in range(25) if i % 5]


@pytest.mark.parametrize(("share", "n"), [(0.001, 1), (0.5, 5), (0.999, 9)])
def test_both_parts_have_docs(share: float, n: int) -> None:
    kept, held = split(numbered(10), share)
    assert (len(kept), len(held)) == (10 - n, n)


@pytest.mark.parametrize("share", [-0.1, 0.0, 1.0, 1.5, float("nan")])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(ConfigError, match="between 0 and 1"):
        split(numbered(10), share)


def test_docs_of_equal_text_stay_together() -> None:
    docs = [*numbered(6), *numbered(6), *numbered(2)]
    kept, held = map(texts, split(docs, 0.3))
    assert held == ["w0", "w3", "w0", "w3", "w0"]
    assert kept == ["w1", "w2", "w4", "w5", "w1", "w2", "w4", "w5", "w1"]
    same = numbered(1) * 3
    assert split(same, 0.3) == (same, [])


@pytest.mark.slow(kind="commands")
def test_the_printed_command_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sample(tmp_path / "all.spacy", n_docs=12)
    (tmp_path / "configs").mkdir()
    monkeypatch.chdir(tmp_path)
    stdout, _ = run("configs/ner.cfg", "--train", "all.spacy", "--hold-out", "0.25")
    assert "3 of the 12 Docs of all.spacy are held out" in stdout
    command = stdout.rpartition("Train it: python ")[2].split()
    result = run_python(*command, *few_steps(), timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    assert spacy.load("OUT/model-best").meta["performance"]["ents_f"] > 0


def test_parts_stand_beside_the_config_which_names_them(tmp_path: Path) -> None:
    docs = named_docs(Vocab(), 4)
    docs[1].spans["more"] = [docs[1][:2]]
    docs[1].user_data["from"] = "here"
    config, corpus = tmp_path / "new" / "my.ner.cfg", tmp_path / "all.spacy"
    DocBin(docs=docs, store_user_data=True).to_disk(corpus)
    run(config, "--train", corpus)
    paths = load_config(config)["paths"]
    assert paths["train"] == str(tmp_path / "new" / "my.ner.train.spacy")
    assert paths["dev"] == str(tmp_path / "new" / "my.ner.dev.spacy")
    assert [texts_in(paths[part]) for part in ("dev", "train")] == [
        texts(docs[:1]), texts(docs[1:])
    ]  # fmt: skip
    first = next(DocBin().from_disk(paths["train"]).get_docs(Vocab()))
    assert (len(first.spans["more"]), first.user_data["from"]) == (1, "here")
    assert [e.text for e in first.ents] == [e.text for e in docs[1].ents]
    before = [Path(paths[part]).read_bytes() for part in ("dev", "train")]
    config.unlink()
    run(config, "--train", corpus)  # The parts are there already, and the same.
    assert before == [Path(paths[part]).read_bytes() for part in ("dev", "train")]


def test_what_is_there_is_not_replaced(tmp_path: Path) -> None:
    config = tmp_path / "x.cfg"
    corpus = write_docs(tmp_path / "all.spacy", named_docs(Vocab(), 4))
    other = write_docs(tmp_path / "x.train.spacy", named_docs(Vocab(), 3))
    before = other.read_bytes()
    check_errors(
        partial(run, config),
        (("--train", corpus), "x.train.spacy already exists"),
        (("--train", other, "--force"), "would take the place of"),
        (("--train", tmp_path, "--force"), "would take the place of"),
        (("--train", corpus, "--dev", corpus, "--hold-out", 0.1), "Leave out one of both"),
        (("--train", corpus, "--hold-out", 1.5), "not 1.5"),
        (("--hold-out", 0.2), "--hold-out needs a corpus"),
    )
    assert other.read_bytes() == before
    assert not config.exists()
    run(config, "--train", corpus, "--force")
    assert len(texts_in(str(other))) == 3


@pytest.mark.parametrize(
    ("docs", "options", "warning"),
    [
        (named_docs(Vocab(), 4), ("--hold-out", 0), ""),
        (named_docs(Vocab(), 1), (), "Nothing is held out of"),
        ([*numbered(5), *named_docs(Vocab(), 3)], (), "the 1 Doc would have no entities"),
    ],
    ids=["as told", "one document", "the part has no entities"],
)
def test_where_nothing_is_held_out_the_commands_ask_for_dev(
    docs: list[Doc], options: tuple[object, ...], warning: str, tmp_path: Path
) -> None:
    config, corpus = tmp_path / "x.cfg", write_docs(tmp_path / "all.spacy", docs)
    stdout, _ = run(config, "--train", corpus, *options)
    assert warning in stdout
    assert ("Nothing is held out" in stdout) is bool(warning)
    command = f"python -m spacy train {config} --output OUT --paths.dev DEV.spacy"
    assert stdout.endswith(f"Train it: {command}\n")
    hint = "# It trains on the CPU: leave out --gpu-id.\n"
    assert f"# {command}\n{hint}" in config.read_text(encoding="utf8")
    paths = load_config(config)["paths"]
    assert (paths["train"], paths["dev"]) == (str(corpus), None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.spacy", "x.cfg"]
    train(config, None, overrides={"paths.dev": str(corpus), "training.max_steps": 1})


def test_questions_hold_out_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_is_terminal", lambda: True)
    config, corpus = tmp_path / "x.cfg", write_docs(tmp_path / "all.spacy", named_docs(Vocab(), 4))
    stdout, _ = run(config, answers=f"{corpus}\n" + 5 * "\n")
    assert "1 of the 4 Docs of" in stdout
    assert load_config(config)["paths"]["dev"] == str(tmp_path / "x.dev.spacy")
