"""Jackknifed tags and spans: each Doc by a pipeline that has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.vocab import Vocab
from thinc.api import Config

from helpers import PROJECT, blank, bounds, make_doc
from spacy_cascade import ConfigError, CorpusError, TrainingError
from spacy_cascade.workflows import jackknife as module
from spacy_cascade.workflows.folds import with_corpora
from spacy_cascade.workflows.jackknife import Jackknifed, jackknife, plan, read_config

VOCAB = Vocab()
CORPORA = ("corpus", "train", "dev")
NOUNS = ["gene", "cell", "site", "factor", "protein", "promoter", "kinase", "receptor"]
NO_MORE: dict[str, Any] = {"patterns": {}, "lexicons": {}}
CHUNKER: dict[str, Any] = {
    "factory": "cascade_segmenter",
    "spans_key": "chunks",
    "gold_key": "chunks",
    "typed": True,
    "set_ents": True,
    "model": {
        "@architectures": "spacy_cascade.LinearChain.v1",
        "min_count": 1,
        "templates": {"@misc": "spacy_cascade.Templates.v1", "templates": ["tag"], **NO_MORE},
    },
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "C": 1.0, "passes": 5},
}
"""Finds chunks by the tag of the token alone."""


def tagger_config() -> Config:
    return read_config(
        PROJECT / "configs/tagger.cfg",
        {"components.cascade_tagger.model.min_count": 1, "components.cascade_tagger.trainer.C": 1},
    )


def chunker_config() -> Config:
    """A tagger, and a chunker that is trained on its predictions."""
    config = tagger_config()
    config["nlp"]["pipeline"] = ["cascade_tagger", "chunker"]
    config["components"]["chunker"] = CHUNKER
    config["training"]["annotating_components"] = ["cascade_tagger"]
    config["training"]["score_weights"] = {"tag_acc": 1.0, "segments_f": 1.0}
    return config


def sentence(noun: str, vocab: Vocab = VOCAB) -> Doc:
    """`The NOUN binds it now .`, with tags and a chunk."""
    words = ["The", noun, "binds", "it", "now", "."]
    doc = Doc(vocab, words=words, tags=["DT", "NN", "VBZ", "PRP", "RB", "."])
    doc.spans["chunks"] = [Span(doc, 0, 2, "NP"), Span(doc, 3, 4, "NP")]
    return doc


def write(path: Path, docs: Iterable[Doc]) -> Path:
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


def own_tags(n: int) -> list[Doc]:
    """Docs with a word and its tag that no other Doc has."""
    return [
        Doc(VOCAB, words=[f"w{i}", "binds", "it"], tags=[f"T{i}", "VBZ", "PRP"]) for i in range(n)
    ]


def tags(doc: Doc) -> str:
    return " ".join(token.tag_ for token in doc)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """First words of the Docs of each training; nothing is trained, all tags are X."""
    trainings: list[list[str]] = []

    def fake(config: Config, docs: Iterable[Doc], dev_path: Path) -> Language:
        trainings.append([doc[0].text for doc in docs])
        nlp = blank()
        ruler = nlp.add_pipe("attribute_ruler")
        ruler.add([[{}]], {"TAG": "X"})
        return nlp

    monkeypatch.setattr(module, "train_pipeline", fake)
    return trainings


@pytest.mark.slow(kind="workflows")
def test_no_doc_is_tagged_by_a_tagger_that_has_seen_it(tmp_path: Path) -> None:
    docs = own_tags(6)
    path = write(tmp_path / "corpus.spacy", docs)
    found = jackknife(tagger_config(), path, path, folds=3)
    assert found.n_trainings == 3
    assert [doc.text for doc in found.docs] == [doc.text for doc in docs]
    for i, doc in enumerate(found.docs):
        assert doc[0].tag_ != f"T{i}"
        assert tags(doc[1:]) == "VBZ PRP"
    assert found.tag_accuracy == pytest.approx(2 / 3)
    assert found.span_f1 == {}
    again = jackknife(tagger_config(), path, path, folds=3)
    assert [tags(doc) for doc in again.docs] == [tags(doc) for doc in found.docs]


def test_each_fold_is_left_out_once(tmp_path: Path, seen: list[list[str]]) -> None:
    path = write(tmp_path / "corpus.spacy", own_tags(5))
    # The same file by another name is the corpus itself, too.
    other = tmp_path / "." / "corpus.spacy"
    found = jackknife(Config(), path, path, train_path=other, folds=2)
    assert seen == [["w1", "w3"], ["w0", "w2", "w4"]]
    assert [doc[0].text for doc in found.docs] == ["w0", "w1", "w2", "w3", "w4"]


def test_a_stopped_run_goes_on(
    tmp_path: Path, seen: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, work = write(tmp_path / "corpus.spacy", own_tags(6)), tmp_path / "work"
    whole = jackknife(Config(), path, path, folds=3)
    trained, fake = list(seen), module.train_pipeline
    seen.clear()

    def stopped(config: Config, docs: Iterable[Doc], dev_path: Path) -> Language:
        if len(seen) == 2:
            raise KeyboardInterrupt
        return fake(config, docs, dev_path)

    monkeypatch.setattr(module, "train_pipeline", stopped)
    with pytest.raises(KeyboardInterrupt):
        jackknife(Config(), path, path, folds=3, work=work)
    assert len(list(work.glob("training-*"))) == 2
    monkeypatch.setattr(module, "train_pipeline", fake)
    found = jackknife(Config(), path, path, folds=3, work=work)
    assert seen == trained
    assert [doc.to_bytes() for doc in found.docs] == [doc.to_bytes() for doc in whole.docs]


@pytest.mark.parametrize("what", ["config", "folds", "version", "corpus", "train", "dev"])
def test_another_task_has_nothing_to_go_on_from(
    what: str, tmp_path: Path, seen: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    work, config, folds = tmp_path / "work", Config(), 3
    paths = {name: write(tmp_path / f"{name}.spacy", own_tags(6)) for name in CORPORA}

    def run() -> Jackknifed:
        corpus, train, dev = (paths[name] for name in CORPORA)
        return jackknife(config, corpus, dev, train_path=train, folds=folds, work=work)

    run()
    n = len(seen)
    assert run().n_trainings == n == len(seen)
    if what == "config":
        config = Config({"nlp": {"lang": "en"}})
    elif what == "folds":
        folds = 2
    elif what == "version":
        monkeypatch.setattr(module, "__version__", "another")
    else:
        write(paths[what], own_tags(7))
    found = run()
    assert len(seen) == n + found.n_trainings
    assert [doc[0].text for doc in found.docs] == [f"w{i}" for i in range(len(found.docs))]


def test_a_folder_is_all_of_its_files(tmp_path: Path, seen: list[list[str]]) -> None:
    folder, work = tmp_path / "corpus", tmp_path / "work"
    folder.mkdir()
    for n, name in enumerate(("a", "b"), start=2):
        write(folder / f"{name}.spacy", own_tags(n))
    for n_more in (0, 1):
        write(folder / "b.spacy", own_tags(3 + n_more))
        found = jackknife(Config(), folder, folder, folds=2, work=work)
        assert len(found.docs) == 5 + n_more
        assert len(seen) == 2 + 2 * n_more


def test_docs_that_share_a_sentence_with_the_fold_are_left_out() -> None:
    def doc(text: str, starts: Sequence[int] = ()) -> Doc:
        return make_doc(VOCAB, text, starts)

    corpus = [doc("a b c d e f g h i", (0, 5)), doc("k l m n o")]
    shared = doc("x y a b c d e", (0, 2))
    others = [doc("A b c d e"), doc("f g h i"), doc("a b c d e f"), doc("k l m n o"), doc("")]
    assert plan(corpus, [shared, *others], 2) == [(1, 2, 3, 4, 5), (0, 1, 2, 3, 5)]
    for own, kept in (
        ([*corpus, shared, doc("z"), doc("z")], [(1, 3), (0, 2, 4)]),
        ([*corpus, doc("z"), shared, doc("z")], [(1,), (2, 4)]),
    ):
        assert plan(own, own, 2) == kept


def test_later_components_see_what_earlier_ones_predict_and_none_sees_gold(tmp_path: Path) -> None:
    """Gold tags and chunks of the corpus are all wrong; chunks can be found by tags alone."""
    train = write(tmp_path / "train.spacy", [sentence(noun) for noun in NOUNS[:4]])
    docs = [sentence(noun) for noun in NOUNS[4:]]
    for doc in docs:
        for token in doc:
            token.tag_ = "DT"
        doc.spans["chunks"] = [Span(doc, 4, 6, "NP")]
    corpus = write(tmp_path / "corpus.spacy", docs)
    found = jackknife(chunker_config(), corpus, train, train_path=train, folds=2)
    assert found.n_trainings == 1
    for doc in found.docs:
        assert tags(doc) == "DT NN VBZ PRP RB ."
        assert bounds(doc.spans["chunks"]) == [(0, 2, "NP"), (3, 4, "NP")]
        assert not doc.ents
    assert found.tag_accuracy == pytest.approx(1 / 6)
    assert found.span_f1 == {"chunks": 0.0}


def test_all_else_stays(tmp_path: Path) -> None:
    """Of Docs with entities, sentence starts, groups and user data; one has no tokens."""
    docs = []
    for noun in NOUNS:
        words, starts = ["The", noun, "binds", "it", "now", "."], [True, *[False] * 5]
        doc = Doc(VOCAB, words=words, spaces=[True] * 5 + [False], sent_starts=starts)
        doc.set_ents([Span(doc, 1, 2, "DNA")], default="outside")
        doc.spans["other"] = [Span(doc, 2, 4, "X")]
        doc.user_data["source"] = noun
        doc.cats["c"] = 1.0
        docs.append(doc)
    docs.insert(3, Doc(VOCAB))
    corpus = write(tmp_path / "corpus.spacy", docs)
    train = write(tmp_path / "train.spacy", [sentence(noun) for noun in ("a", "b", "c")])
    found = jackknife(chunker_config(), corpus, train, train_path=train, folds=2)
    assert found.tag_accuracy is None
    assert found.span_f1 == {"chunks": None}
    saved = write(tmp_path / "out.spacy", found.docs)
    kept = ["ORTH", "SPACY", "ENT_IOB", "ENT_TYPE", "SENT_START"]
    for doc, old in zip(DocBin().from_disk(saved).get_docs(Vocab()), docs, strict=True):
        assert doc.to_array(kept).tolist() == old.to_array(kept).tolist()
        assert doc.has_unknown_spaces == old.has_unknown_spaces
        if len(old):
            assert (doc.user_data["source"], doc.cats) == (old[1].text, {"c": 1.0})
            assert bounds(doc.spans["other"]) == [(2, 4, "X")]
            assert bounds(doc.spans["chunks"]) == [(0, 2, "NP"), (3, 4, "NP")]
            assert tags(doc) == "DT NN VBZ PRP RB ."


@pytest.mark.parametrize("inputs", [[], ["tags"]])
def test_tags_that_the_reader_gives_are_not_predicted(
    inputs: list[str], tmp_path: Path, seen: list[list[str]]
) -> None:
    dev = {"@readers": "spacy_cascade.Corpus.v1", "given": inputs or ["sentences"]}
    path = write(tmp_path / "corpus.spacy", own_tags(2))
    attempt = of_corpus(Config({"corpora": {"dev": dev}}), folds=2)
    if inputs:
        with pytest.raises(ConfigError, match=r"set neither token\.tag"):
            attempt(path)
    else:
        assert attempt(path).sets_tags


def test_groups_come_with_all_that_belongs_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Except the record of their confidences, which is of another Doc; not all Docs have one."""

    @Language.component("grouping")
    def group(doc: Doc) -> Doc:
        if doc[0].text != "w1":
            span = Span(doc, 0, 2, "NP", kb_id="Q1", span_id="s1")
            attributes = {"scores": [0.5], "scored": b"", "note": "x"}
            doc.spans["chunks"] = SpanGroup(doc, name="own", attrs=attributes, spans=[span])
        return doc

    def fake(config: Config, docs: Iterable[Doc], dev_path: Path) -> Language:
        nlp = blank()
        nlp.add_pipe("grouping")
        return nlp

    monkeypatch.setattr(module, "train_pipeline", fake)
    docs = own_tags(3)
    for doc in docs:
        doc.spans["chunks"] = [Span(doc, 0, 1, "NP")]
    path = write(tmp_path / "corpus.spacy", docs)
    found = jackknife(Config(), path, path, folds=3).docs
    assert ["chunks" in doc.spans for doc in found] == [True, False, True]
    for doc in (found[0], found[2]):
        (span,) = moved = doc.spans["chunks"]
        assert span.doc is doc
        assert bounds(moved) == [(0, 2, "NP")]
        assert (span.kb_id_, span.id_) == ("Q1", "s1")
        assert (moved.name, moved.attrs) == ("own", {"scores": [0.5], "note": "x"})


@pytest.mark.slow(kind="workflows")
def test_readers_keep_their_settings_and_variables_are_filled_in(tmp_path: Path) -> None:
    """With limit 1 the tagger learns from one Doc, so no Doc gets a tag of another one's own."""
    path = write(tmp_path / "corpus.spacy", own_tags(4))
    config = tagger_config()
    config["corpora"]["train"]["limit"] = 1
    config["training"]["logger"] = {"@loggers": "no such logger"}
    found = jackknife(config, path, path, folds=2)
    assert [doc[0].tag_ for doc in found.docs] == ["T1", "T0", "T1", "T0"]
    config["corpora"] = {"train": {"@readers": "no such reader"}}
    assert jackknife(config, path, path, folds=2).n_trainings == 2


def test_components_are_initialized_from_the_part_that_is_trained_on(tmp_path: Path) -> None:
    path, whole = tmp_path / "part.spacy", tmp_path / "whole.spacy"
    config = tagger_config()
    config["corpora"]["train"]["path"] = str(whole)
    config["initialize"] = {
        "components": {"cascade_tagger": {"corpus": config["corpora"]["train"]}}
    }
    own = with_corpora(config, path, path)
    assert own["initialize"]["components"]["cascade_tagger"]["corpus"]["path"] == str(path)
    assert config["initialize"]["components"]["cascade_tagger"]["corpus"]["path"] == str(whole)


def of_corpus(config: Config, **settings: Any) -> Callable[[Path], Jackknifed]:
    return lambda path: jackknife(config, path, path, **settings)


@pytest.mark.parametrize(
    ("attempt", "error", "message"),
    [
        (of_corpus(Config(), folds=1), ConfigError, "2 folds or more, not 1"),
        (of_corpus(Config(), folds=9), ConfigError, "has 8 Docs, too few for 9 folds"),
        (
            of_corpus(Config(), train_path=Path(__file__)),
            CorpusError,
            "jackknifing.py is no .spacy",
        ),
        (
            lambda path: read_config(Path(__file__)),
            ConfigError,
            "test_jackknifing.py cannot be used",
        ),
        (lambda path: read_config(PROJECT / "configs/tagger.cfg", {"a.b": 1}), ConfigError, "a ->"),
    ],
)
def test_bad_input(
    attempt: Callable[[Path], object], error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "corpus.spacy", [sentence(noun) for noun in NOUNS])
    with pytest.raises(error, match=message) as caught:
        attempt(path)
    assert "\n" not in str(caught.value)


def test_configs_that_cannot_be_trained(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.spacy", own_tags(2))
    config = tagger_config()
    config["components"]["cascade_tagger"]["nonsense"] = 1
    with pytest.raises(ConfigError, match=r"unexpected argument: 'nonsense'$"):
        jackknife(config, path, path, folds=2)
    config["system"]["seed"] = "${paths.nowhere}"
    with pytest.raises(ConfigError, match=r"interpolation key 'paths\.nowhere'"):
        jackknife(config, path, path, folds=2)
    (tmp_path / "no.cfg").write_text("[nlp]\nlang = 'en'\n", encoding="utf8")
    with pytest.raises(ConfigError, match=r"no section \[training\]"):
        read_config(tmp_path / "no.cfg")
    (tmp_path / "no.cfg").write_text("[training]\nseed = 0\n", encoding="utf8")
    with pytest.raises(ConfigError, match=r"no section \[nlp\]"):
        read_config(tmp_path / "no.cfg")


def test_nothing_left_to_train_on(tmp_path: Path, seen: list[list[str]]) -> None:
    same = write(tmp_path / "same.spacy", [sentence("gene")] * 3)
    for train in (None, write(tmp_path / "train.spacy", [sentence("gene")])):
        with pytest.raises(TrainingError, match="shares a sentence with fold 0"):
            jackknife(Config(), same, same, train_path=train, folds=3)
    assert not seen


@pytest.mark.parametrize(
    ("pipe", "message"),
    [("sentencizer", "neither token.tag nor doc.spans"), ("merge", "made 1 of 3 tokens")],
)
def test_pipelines_of_no_use(
    pipe: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @Language.component("merge")
    def merge(doc: Doc) -> Doc:
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[:])
        return doc

    def fake(config: Config, docs: Iterable[Doc], dev_path: Path) -> Language:
        nlp = blank()
        nlp.add_pipe(pipe)
        return nlp

    monkeypatch.setattr(module, "train_pipeline", fake)
    path = write(tmp_path / "corpus.spacy", own_tags(2))
    with pytest.raises(ConfigError, match=message):
        jackknife(Config(), path, path, folds=2)
