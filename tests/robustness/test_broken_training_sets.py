"""Training sets and settings that break trainers: an error that helps, or a model that works."""

from __future__ import annotations

import io
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import broken_corpora as corpora
import numpy as np
import pytest
import spacy
from broken_corpora import Corpus
from broken_trainings import CASES, Case
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config
from spacy.vocab import Vocab
from thinc.api import ConfigValidationError
from typer.testing import CliRunner

from benchmarks.lib.variants import config_path
from helpers import annotation
from spacy_cascade import CascadeError
from spacy_cascade.cli import app

pytestmark = pytest.mark.slow

LIMIT = 600.0
"""Seconds after which a training counts as one that hangs."""
EVERY = 12
"""Without --full one case of so many is made."""
CAME: Counter[str] = Counter()
TOOK: list[tuple[float, str]] = []
EXPECTED_WARNING = "Confidences are not calibrated"


def write(path: Path, corpus: Corpus) -> str:
    DocBin(docs=corpus(Vocab()), store_user_data=True).to_disk(path)
    return str(path)


def train_case(case: Case, folder: Path) -> tuple[Language, str]:
    """As `spacy train` does it; the pipeline, and what was printed."""
    output, printed = folder / "output", io.StringIO()
    overrides: dict[str, Any] = {
        "paths.train": write(folder / "train.spacy", case.corpus),
        "paths.dev": write(folder / "dev.spacy", case.dev),
    }
    config = load_config(config_path(f"{case.config}.cfg"), overrides=overrides)
    for component in config["components"].values():
        component["model"]["min_count"] = 1
        if component["trainer"].get("threads") == 0:
            component["trainer"]["threads"] = 1
    # Two steps show what training does; what a case sets comes after.
    for name in ("max_steps", "max_epochs"):
        config["training"][name] = min(2, config["training"][name])
    for name, value in case.settings.items():
        *sections, last = name.split(".")
        section: Any = config
        for part in sections:
            section = section[part]
        section[last] = value
    nlp = init_nlp(config)
    output.mkdir()
    train(nlp, output, stdout=printed, stderr=printed)
    return nlp, printed.getvalue()


def check_error(case: Case, error: Exception) -> None:
    """It is one of ours or of spaCy's own, and says what the case expects."""
    message = str(error)
    assert isinstance(error, CascadeError | ConfigValidationError) or message.startswith("[E")
    place = 0
    for part in case.error:
        assert part in message[place:], f"{part!r} is missed in {message!r}"
        place = message.index(part, place) + len(part)
    assert case.error, f"unexpected: {message!r}"


def check_finite(nlp: Language) -> None:
    models = [pipe.model for _, pipe in nlp.pipeline if hasattr(pipe, "model")]
    for model in models:
        for name in filter(model.has_param, ("W", "transitions")):
            assert np.isfinite(model.get_param(name)).all()


def annotated(nlp: Language, corpus: Corpus) -> list[dict[str, Any]]:
    """What the pipeline writes on sentences of a corpus; confidences are probabilities."""
    docs = [
        Doc(nlp.vocab, words(doc), sent_starts=[token.is_sent_start for token in doc])
        for doc in corpus(Vocab())
    ]
    for doc, reference in zip(docs, corpus(Vocab()), strict=True):
        for token, of_reference in zip(doc, reference, strict=True):
            token.tag_ = of_reference.tag_
    found = [annotation(doc) for doc in nlp.pipe(docs)]
    scores = [s for doc in found for scores in doc["scores"].values() for s in scores or ()]
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in scores)
    return found


def check_model(case: Case, nlp: Language, folder: Path) -> None:
    """It is finite, annotates, and annotates alike when it was saved and loaded."""
    check_finite(nlp)
    corpus = case.corpus if len(case.corpus(Vocab())) < 500 else corpora.common
    annotated(nlp, corpus)
    for name in ("model-last", "model-best"):
        saved = spacy.load(folder / "output" / name)
        check_finite(saved)
        found = annotated(saved, corpus)
        saved.to_disk(folder / "again")
        assert annotated(spacy.load(folder / "again"), corpus) == found


def chosen(n: int, full: bool) -> list[Case]:
    """All cases, or every n-th."""
    return CASES if full else CASES[::n]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        some = chosen(EVERY, metafunc.config.getoption("--full"))
        metafunc.parametrize("case", some, ids=[case.name for case in some])


def test_training(case: Case, tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        begin = time.perf_counter()
        try:
            nlp, _ = train_case(case, tmp_path)
        except Exception as error:
            CAME[type(error).__name__] += 1
            check_error(case, error)
        else:
            CAME["a finite model"] += 1
            assert not case.error, f"expected {case.error}"
            check_model(case, nlp, tmp_path)
        TOOK.append((time.perf_counter() - begin, case.name))
    unexpected = [str(w.message) for w in warned if not is_expected(w)]
    assert not unexpected
    assert TOOK[-1][0] < LIMIT


def is_expected(warning: warnings.WarningMessage) -> bool:
    """What spaCy's users know: confidences could not be calibrated at the first saving."""
    ours = EXPECTED_WARNING in str(warning.message)
    return ours or issubclass(warning.category, DeprecationWarning | FutureWarning)


def test_names_are_distinct(figure: Callable[[str, str], None]) -> None:
    """And what came of the cases so far."""
    assert len({case.name for case in CASES}) == len(CASES)
    shown = ", ".join(f"{what} {n}" for what, n in sorted(CAME.items()))
    seconds, slowest = max(TOOK, default=(0.0, ""))
    figure(
        f"{CAME.total()} of {len(CASES)} broken training sets",
        f"{shown}; slowest {slowest} {seconds:.0f} s",
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained cascade."""
    folder = tmp_path_factory.mktemp("model")
    train_case(Case("a cascade", config="ocr"), folder)
    return folder / "output/model-last"


@pytest.mark.parametrize(
    ("command", "corpus", "error"),
    [
        ("adapt", corpora.no_docs, "no new annotation to learn from"),
        ("adapt", corpora.empty_docs, "no new annotation"),
        ("adapt", corpora.no_entity, None),
        ("adapt", corpora.all_missing, "None of the 6 Docs has annotation"),
        ("adapt", corpora.only_entities, None),
        ("adapt", corpora.contradictions, None),
        ("adapt", corpora.odd_labels, None),
        ("adapt", corpora.whitespace_in_entities, None),
        ("calibrate", corpora.no_docs, "finds no spans in these Docs"),
        ("calibrate", corpora.empty_docs, "finds no spans in these Docs"),
        ("calibrate", corpora.no_entity, "finds no spans in these Docs"),
        ("calibrate", corpora.all_missing, "finds no spans in these Docs"),
        ("calibrate", corpora.one_sentence, None),
        ("rerank tune", corpora.no_docs, "has no entities in doc.ents"),
        ("rerank tune", corpora.no_entity, "has no entities in doc.ents"),
        ("rerank tune", corpora.one_sentence, None),
        ("rerank train", corpora.no_docs, "has 0 Docs, too few for 2 folds"),
        ("rerank train", corpora.one_sentence, "has 1 Docs, too few for 2 folds"),
        ("rerank train", corpora.no_entity, "found no labelled gold span"),
        ("rerank train", corpora.one_label, "was trained for the types ['protein']"),
    ],
)
def test_commands(
    command: str, corpus: Corpus, error: str | None, model: Path, tmp_path: Path
) -> None:
    """An error of one line, or a finite pipeline."""
    data, output = write(tmp_path / "data.spacy", corpus), tmp_path / "new"
    dev = write(tmp_path / "dev.spacy", corpora.common)
    corpora_of = {
        "adapt": (data, output),
        "rerank train": (output, "--train", data, "--dev", dev),
    }
    given = corpora_of.get(command, (output, "--dev", data))
    some = ("--folds", "2", "--scale", "1", "--weight", "1") if "--train" in given else ()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        result = CliRunner().invoke(app, [*command.split(), str(model), *map(str, given), *some])
    if error is None:
        assert result.exit_code == 0, result.output
        nlp = spacy.load(output)
        check_finite(nlp)
        annotated(nlp, corpora.common)
    else:
        assert result.exit_code == 1
        assert isinstance(result.exception, SystemExit), result.exception
        assert error in result.stderr
        assert result.stderr.count("\n") == 1
        assert not output.exists()


def words(doc: Doc) -> list[str]:
    return [token.text for token in doc]
