"""A second pass mends what only another place of the Doc tells, and runs like any pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config

from helpers import LANGUAGE, annotation, blank, run_python
from spacy_cascade.errors import ConfigError, MissingStageError
from spacy_cascade.systems.second_look import workflow
from spacy_cascade.systems.second_look.workflow import KEY, second_look
from spacy_cascade.tools.annotation.adapting import adapt
from spacy_cascade.tools.recipes import Choices, make_config
from spacy_cascade.workflows.jackknife import Jackknifed
from spacy_cascade.workflows.reconfigure import to_be_loaded

CLEAR = {"PER": "Mr {} said so .", "LOC": "Trains to {} are late ."}
UNCLEAR = "We all know {} very well ."


def made_text(name: str, label: str) -> str:
    """A clear mention of the name, and one that could be of any type."""
    return f"{UNCLEAR.format(name)} {CLEAR[label].format(name)}"


def made_docs(vocab: Vocab, numbers: range) -> list[Doc]:
    """Docs about one name each that no other Doc has, half of them of persons."""
    docs = []
    for i in numbers:
        name, label = f"Kelm{i:03d}", ("PER", "LOC")[(i + i // 10) % 2]  # no digit tells which
        words = made_text(name, label).split()
        doc = Doc(
            vocab,
            words=words,
            sent_starts=[j == 0 or words[j - 1] == "." for j in range(len(words))],
        )
        doc.set_ents([Span(doc, j, j + 1, label) for j, w in enumerate(words) if w == name])
        docs.append(doc)
    return docs


def config(*without: str) -> Config:
    """Of a cascade whose templates see only the words beside a mention."""
    made = make_config(Choices(lang=LANGUAGE, sentences=True, small=True))
    for name in ("cascade_segmenter", "cascade_classifier"):
        component = made["components"][name]
        component["model"]["templates"]["without"] = list(without)
        component["trainer"]["iterations"] = 10
    made["training"]["max_steps"] = 1
    return made


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("second_look")
    vocab = Vocab()
    paths = folder / "train.spacy", folder / "dev.spacy"
    for path, numbers in zip(paths, (range(20), range(40, 50)), strict=True):
        DocBin(docs=made_docs(vocab, numbers)).to_disk(path)
    return paths


@pytest.fixture(scope="module")
def looked(corpora: tuple[Path, Path]) -> tuple[Language, Any]:
    """Of a pipeline with a component that is switched off."""
    given = config("recurrence")
    given["nlp"].update(
        pipeline=[*given["nlp"]["pipeline"], "merge_entities"], disabled=["merge_entities"]
    )
    given["components"]["merge_entities"] = {"factory": "merge_entities"}
    return second_look(given, *corpora, folds=2)


def types(doc: Doc) -> list[str]:
    return [entity.label_ for entity in doc.ents]


def new_docs(nlp: Language) -> list[Doc]:
    return [nlp(made_text(f"Vorn{i}", ("PER", "LOC")[i % 2])) for i in range(6)]


def test_an_unclear_mention_gets_the_type_of_the_clear_one(looked: tuple[Language, Any]) -> None:
    nlp, found = looked
    assert found.n_trainings == 2
    assert found.second_f1 == 1.0
    assert found.first_f1 <= 0.8  # by guessing the type of half of the mentions
    docs = new_docs(nlp)
    assert [types(doc) for doc in docs] == [["PER"] * 2, ["LOC"] * 2] * 3
    first = [[span.label_ for span in doc.spans[KEY]] for doc in docs]
    assert [labels[1] for labels in first] == ["PER", "LOC"] * 3
    assert len({labels[0] for labels in first}) == 1  # a first pass cannot tell
    for doc in docs:
        assert "scores" not in doc.spans[KEY].attrs  # the confidences are those of the second pass
        own = doc.spans["cascade"]
        sure = {(s.start, s.label): c for s, c in zip(own, own.attrs["scores"], strict=True)}
        assert [e._.confidence for e in doc.ents] == [sure[e.start, e.label] for e in doc.ents]


def test_predictions_do_not_depend_on_the_batch(looked: tuple[Language, Any]) -> None:
    nlp, _ = looked
    alone = [annotation(doc) for doc in new_docs(nlp)]
    texts = [doc.text for doc in new_docs(nlp)]
    assert [annotation(doc) for doc in nlp.pipe(texts)] == alone
    assert [annotation(doc) for doc in nlp.pipe(reversed(texts), batch_size=2)] == alone[::-1]
    for text, wanted in zip(texts, alone, strict=True):
        with nlp.memory_zone():
            assert annotation(nlp(text)) == wanted


@pytest.mark.slow(kind="fresh process")
def test_a_fresh_process_and_several(looked: tuple[Language, Any], tmp_path: Path) -> None:
    nlp, _ = looked
    nlp.to_disk(tmp_path / "model")
    texts = [doc.text for doc in new_docs(nlp)]
    script = tmp_path / "annotate.py"
    script.write_text(f"""
import spacy
if __name__ == "__main__":
    nlp = spacy.load({str(tmp_path / "model")!r})
    for n in (1, 2):
        docs = nlp.pipe({texts!r}, n_process=n, batch_size=2)
        print([[entity.label_ for entity in doc.ents] for doc in docs])
""")
    wanted = str([types(doc) for doc in new_docs(nlp)])
    assert run_python(str(script)).stdout.splitlines() == [wanted, wanted]


def test_without_the_first_pass_the_error_says_what_to_do(looked: tuple[Language, Any]) -> None:
    nlp, _ = looked
    with (
        nlp.select_pipes(enable=["cascade_segmenter", "cascade_classifier"]),
        pytest.raises(MissingStageError, match=rf"look at doc.spans\['{KEY}'\].*Add a cascade_seg"),
    ):
        nlp("Mr Vorn said so .")


def test_its_config_trains_and_adapts(looked: tuple[Language, Any], tmp_path: Path) -> None:
    nlp, _ = looked
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    stages = ["first_cascade_segmenter", "first_cascade_classifier"]
    assert loaded.config["training"]["annotating_components"] == stages
    assert loaded.config["corpora"] == config()["corpora"]
    assert loaded.disabled == ["merge_entities"]
    reference = made_docs(loaded.vocab, range(90, 92))
    adapt(loaded, [Example(Doc(loaded.vocab, [t.text for t in d]), d) for d in reference])
    assert [types(doc) for doc in new_docs(loaded)] == [types(doc) for doc in new_docs(nlp)]


@pytest.mark.slow(kind="workflows")
def test_the_first_pass_alone_is_kept_where_it_is_as_good(corpora: tuple[Path, Path]) -> None:
    nlp, found = second_look(config(), *corpora, folds=2)
    assert (found.first_f1, found.second_f1) == (1.0, 1.0)
    assert not found.is_better
    assert nlp.pipe_names == list(config()["nlp"]["pipeline"])
    assert KEY not in nlp("Mr Vorn said so .").spans


def passes_of(
    given: Config, corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[Config]]:
    """The stages, and what the first pass, its folds and the second pass would be trained by."""
    asked: list[Config] = []

    def ask(config: Config, *_: Any) -> Language:
        asked.append(config.copy())
        nlp = blank()
        if len(asked) == 3:
            return nlp
        nlp = to_be_loaded(config, nlp.vocab)
        nlp.initialize(lambda: [Example(doc, doc) for doc in made_docs(nlp.vocab, range(4))])
        return nlp

    def ask_for_folds(config: Config, *_: Any, folds: int) -> Jackknifed:
        asked.append(config)
        return Jackknifed([], folds, False, None, {})

    monkeypatch.setattr(workflow, "train_pipeline", ask)
    monkeypatch.setattr(workflow, "jackknife", ask_for_folds)
    stages, *_ = workflow.train_passes(given, *corpora, folds=2)
    return stages, asked


def test_a_segmenter_alone_gets_a_second_look(
    corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other components stay in their places, and annotate in training as they did."""
    given = config()
    given["nlp"]["pipeline"][2:] = ["merge_entities"]
    given["components"]["merge_entities"] = {"factory": "merge_entities"}
    given["training"]["annotating_components"] += ["cascade_segmenter", "cascade_classifier"]
    stages, (*_, second) = passes_of(given, corpora, monkeypatch)
    assert stages == ["cascade_segmenter"]
    names = ["sentencizer", "first_cascade_segmenter", "cascade_segmenter", "merge_entities"]
    assert second["nlp"]["pipeline"] == names
    assert second["training"]["frozen_components"] == [*names[:2], names[3]]
    assert second["training"]["annotating_components"] == ["sentencizer", "cascade_segmenter"]


CALIBRATION = {"@callbacks": "spacy_cascade.calibrate.v1", "path": "dev.spacy"}
TUNING = {
    "@callbacks": "spacy_cascade.tune_reranker.v1", "path": "dev.spacy",
    "weights": [1.0], "sizes": [2],
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "of_folds"),
    [
        ({**CALIBRATION, "decoding": "expected_f1"}, {**CALIBRATION, "decoding": "best"}),
        (TUNING, TUNING),
        (None, None),
    ],
)
def test_folds_take_the_best_spans_whatever_decodes_the_entities(
    corpora: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, Any] | None,
    of_folds: dict[str, Any] | None,
) -> None:
    made = config()
    made["training"].update(before_to_disk=given, annotating_components=None)
    _, configs = passes_of(made, corpora, monkeypatch)
    assert [each["training"]["before_to_disk"] for each in configs] == [given, of_folds, given]


def test_configs_that_it_cannot_use(corpora: tuple[Path, Path]) -> None:
    tagger = config()
    tagger["nlp"]["pipeline"] = ["cascade_tagger"]
    tagger["components"] = {"cascade_tagger": {"factory": "cascade_tagger"}}
    reranked = config()
    reranked["nlp"]["pipeline"] += ["cascade_reranker"]
    reranked["components"]["cascade_reranker"] = {"factory": "cascade_reranker"}
    for refused, message in (
        (tagger, "needs one cascade_segmenter"),
        (reranked, "without a reranker"),
    ):
        with pytest.raises(ConfigError, match=message):
            second_look(refused, *corpora)
