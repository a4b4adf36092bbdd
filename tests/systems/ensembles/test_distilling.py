"""Students that learn from the probabilities of an ensemble, and what cannot be one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import load_model_from_config

from commands import check_errors, run_command
from helpers import (
    LANGUAGE,
    SENTENCES,
    TEXTS,
    blank,
    bounds,
    gold_doc,
    make_doc,
)
from spacy_cascade import ConfigError, CorpusError, TrainingError
from spacy_cascade.pipeline.readers import read_docs
from spacy_cascade.systems.ensembles.distilling import distill
from spacy_cascade.systems.ensembles.members import Member
from spacy_cascade.tools.recipes import Choices, make_config
from spacy_cascade.workflows.folds import train_pipeline
from spacy_cascade.workflows.reconfigure import with_settings

NEW = ["Both T cells and the STAT5 site bind Jurkat p53 cells .", "The AP-1 gene ."]
EXACT = {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 10.0}
STAGES = ("cascade_segmenter", "cascade_classifier")


@pytest.fixture(scope="module")
def teacher(trained: Language) -> Language:
    """An ensemble of one cascade, which is not too sure of anything."""
    alone = with_settings(trained, {name: {"temperature": 3.0} for name in STAGES})
    nlp = blank()
    made: Any = nlp.add_pipe("cascade_ensemble")
    made.set_members([Member.from_bytes(alone.to_bytes(exclude=["vocab"]), "0", nlp.vocab)])
    return nlp


@pytest.fixture
def config() -> Any:
    """Of a student whose penalty holds back little."""
    made = make_config(Choices(sentences=True, small=True))
    made["nlp"]["lang"] = LANGUAGE
    made["nlp"]["tokenizer"] = {"@tokenizers": "spacy.Tokenizer.v1"}
    made["training"]["max_steps"] = 2
    for name in STAGES:
        made["components"][name]["model"]["min_count"] = 1
        made["components"][name]["penalty"] = EXACT
        made["components"][name]["trainer"].update(iterations=40, threads=1)
    return made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("corpus") / "train.spacy", SENTENCES)


def write(path: Path, sentences: Any) -> Path:
    nlp = blank()
    DocBin(docs=[gold_doc(nlp.vocab, *sentence) for sentence in sentences]).to_disk(path)
    return path


@pytest.fixture
def given(teacher: Language, config: Any, tmp_path: Path) -> tuple[Path, Path]:
    """An ensemble and a config as files."""
    teacher.to_disk(tmp_path / "ENSEMBLE")
    config.to_disk(tmp_path / "ner.cfg")
    return tmp_path / "ENSEMBLE", tmp_path / "ner.cfg"


def run(given: Sequence[Path], corpus: Path, out: Path, *more: object, exit_code: int = 0) -> Any:
    paths = ["--train", corpus, "--dev", corpus, "--output", out]
    return run_command("combine", "distill", *given, *paths, *more, exit_code=exit_code)


def as_member(nlp: Language) -> Member:
    """A copy of a pipeline that lists all likely spans."""
    copy = load_model_from_config(nlp.config, vocab=nlp.vocab)
    return Member.of(copy.from_bytes(nlp.to_bytes(exclude=["vocab"]), exclude=["vocab"]), "it")


def likely(member: Member, text: str) -> dict[tuple[int, int, str], float]:
    """Probability of all spans and labels by the segmenter and the classifier of a pipeline."""
    docs = [make_doc(member.nlp.vocab, text)]
    return table(member.posteriors(docs), member.labels)


def table(found: Any, labels: tuple[str, ...]) -> dict[tuple[int, int, str], float]:
    return {
        (start, end, label): float(probability)
        for start, end, row in zip(found.start, found.end, found.probabilities, strict=True)
        for label, probability in zip(labels, row, strict=True)
    }


def test_the_distillation_of_one_reproduces_it(
    teacher: Language, config: Any, corpus: Path, tmp_path: Path
) -> None:
    """It learns from probabilities alone: the annotation has no share in what it is taught.

    Its config is that of its training.
    """
    config["paths"] = {"train": "mine.spacy", "dev": None}
    config.pop("initialize", None)  # spaCy adds it, and what it refers to
    student, found = distill(teacher, config, corpus, corpus, gold=0.0)
    student.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert loaded.config["paths"]["train"] == "mine.spacy"
    assert loaded.config["training"]["max_steps"] == 2
    assert bounds(loaded(make_doc(loaded.vocab, TEXTS[0])).ents) == SENTENCES[0][1]
    assert found.n_labelled == len(SENTENCES)
    assert found.f1[-1] == 1
    for name in STAGES:
        student.get_pipe(name).temperature = 1.0  # which calibration has changed
    ensemble: Any = teacher.get_pipe("cascade_ensemble")
    member = as_member(student)
    differences = []
    for text in TEXTS:
        docs = teacher(make_doc(teacher.vocab, text)), student(make_doc(student.vocab, text))
        assert bounds(docs[0].ents) == bounds(docs[1].ents)
        wanted = table(ensemble.posteriors([docs[0]]), ensemble.labels)
        own = likely(member, text)
        differences += [own.get(key, 0.0) - p for key, p in wanted.items()]
    assert len(differences) > 100
    # The penalty holds it back, and the teacher lists no span below a hundredth.
    assert np.abs(differences).mean() < 0.01
    assert np.abs(differences).max() < 0.1
    unsure = [p for text in TEXTS for p in likely(member, text).values() if 0.1 < p < 0.9]
    assert len(unsure) > 10, "the teacher's doubts are learnt, too"


@pytest.mark.slow(kind="workflows")
def test_the_annotation_alone_gives_the_ordinary_training(
    teacher: Language, config: Any, corpus: Path
) -> None:
    config["training"]["max_steps"] = 1
    student, _ = distill(teacher, config, corpus, corpus, gold=1.0)
    ordinary = train_pipeline(config, read_docs(corpus, blank().vocab), corpus)
    other, _ = distill(teacher, config, corpus, corpus, gold=0.5)
    one, same, mixed = map(as_member, (student, ordinary, other))
    for text in [*TEXTS, *NEW]:
        expected = pytest.approx(likely(same, text), abs=0.002)  # weights have half precision
        assert likely(one, text) == expected
        assert likely(mixed, text) != expected


def test_unlabelled_text_teaches_words(
    teacher: Language, config: Any, corpus: Path, tmp_path: Path
) -> None:
    """Texts and Docs alike; entities of Docs are not looked at, nor Docs without tokens."""
    (tmp_path / "new.txt").write_text("\n".join([*NEW, "", " "]), encoding="utf8")
    sentences = [(text, [(0, 1, "other")]) for text in NEW]
    docs = write(tmp_path / "new.spacy", [*sentences, ("", [])])
    config["training"]["max_steps"] = 1
    for name in STAGES:
        config["components"][name]["trainer"]["iterations"] = 1
    plain, _ = distill(teacher, config, corpus, corpus)
    students = []
    for path in (tmp_path / "new.txt", docs):
        student, found = distill(teacher, config, corpus, corpus, [path])
        assert found.n_unlabelled == 2
        students.append(student)
    one, other = (student.get_pipe("cascade_segmenter") for student in students)
    assert len(one.space) == len(other.space) > len(plain.get_pipe("cascade_segmenter").space)
    assert students[0].get_pipe("cascade_classifier").labels == ("DNA", "cell", "protein")


# What is refused


def online(config: Any) -> None:
    config["components"]["cascade_classifier"].update(
        loss={"@misc": "spacy_cascade.Hinge.v2"},
        penalty=None,
        trainer={"@misc": "spacy_cascade.PassiveAggressive.v1"},
    )


def rejecting(config: Any) -> None:
    config["components"]["cascade_classifier"]["reject"] = True


def semi_markov(config: Any) -> None:
    config["components"]["cascade_segmenter"]["model"] = {
        "@architectures": "spacy_cascade.SemiMarkov.v1",
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
    }


def other_tokenizer(config: Any) -> None:
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy_cascade.PunctuationTokenizer.v1"}


def with_network(config: Any) -> None:
    network = {"@misc": "spacy_cascade.WordWindow.v1"}
    config["components"]["cascade_segmenter"]["model"]["network"] = network


def no_steps(config: Any) -> None:
    config["training"]["max_steps"] = 0


def unknown_variable(config: Any) -> None:
    config["training"]["seed"] = "${system.nothing}"


def unknown_factory(config: Any) -> None:
    config["components"]["cascade_segmenter"]["factory"] = "nothing"


def no_recogniser(config: Any) -> None:
    config["nlp"]["pipeline"] = ["sentencizer"]


def two_segmenters(config: Any) -> None:
    config["components"]["other"] = {**config["components"]["cascade_segmenter"]}
    config["nlp"]["pipeline"] = ["sentencizer", "other", *STAGES]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (online, "cannot learn from probabilities with its trainer"),
        (rejecting, "learns to reject spans"),
        (semi_markov, "no linear chain"),
        (other_tokenizer, "different tokenizers"),
        (with_network, "learns from annotation alone"),
        (no_steps, "max_steps"),
        (unknown_variable, "cannot be used.*'system.nothing'"),
        (unknown_factory, "cannot be used.*Can't find factory for 'nothing'"),
        (no_recogniser, r"into one cascade_segmenter.*has \['sentencizer'\]"),
        (two_segmenters, "into one cascade_segmenter.*'other'"),
    ],
)
def test_configs_that_cannot_learn_from_probabilities(
    teacher: Language, config: Any, corpus: Path, change: Callable[[Any], None], message: str
) -> None:
    change(config)
    with pytest.raises(ConfigError, match=message):
        distill(teacher, config, corpus, corpus, gold=0.5)


def test_other_bad_input(teacher: Language, config: Any, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1, not 2"):
        distill(teacher, config, corpus, corpus, gold=2.0)
    with pytest.raises(ConfigError, match="no cascade_ensemble"):
        distill(blank(), config, corpus, corpus)
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(TrainingError, match="no unlabelled Docs"):
        distill(teacher, config, corpus, corpus, [tmp_path / "empty.txt"])
    with pytest.raises(CorpusError, match="There is no text"):
        distill(teacher, config, corpus, corpus, [tmp_path / "absent.txt"])
    few = write(tmp_path / "few.spacy", SENTENCES[1:2])
    with pytest.raises(ConfigError, match="needs the same ones"):
        distill(teacher, config, few, few)


def test_the_command_writes_a_pipeline_and_says_what_it_learnt_from(
    given: tuple[Path, Path], corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.txt").write_text(f"{NEW[1]}\n", encoding="utf8")
    more = ("--unlabelled", tmp_path / "new.txt", "--gold", 0.5, "--training.max_steps=1")
    said, _ = run(given, corpus, tmp_path / "OUT", *more)
    assert "6 labelled Docs, 1 Doc labelled by the ensemble, 2 steps" in said
    assert "distilled pipeline: F1 100.00" in said
    nlp = spacy.load(tmp_path / "OUT")
    assert nlp.pipe_names == ["sentencizer", *STAGES]
    assert [e.label_ for e in nlp(TEXTS[0]).ents] == ["DNA", "protein", "cell"]


def test_errors_of_the_command_are_one_line(
    given: tuple[Path, Path], corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "OUT"
    check_errors(
        run,
        ((given, corpus, out, "--gold", 2), "from 0 to 1, not 2"),
        ((given, corpus, out, "--gould", 1), "no option or argument --gould"),
        (((given[0], tmp_path / "no.cfg"), corpus, out), "no.cfg"),
    )
    assert not out.exists()
