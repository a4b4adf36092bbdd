"""Every shipped config trains, evaluates and annotates, on a few sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import DocBin, Span
from spacy.training import Corpus
from spacy.util import load_config, load_model_from_config, registry

from helpers import (
    CONFIGS,
    LANGUAGE,
    blank,
    cascade,
    run_python,
    sample_docs,
    sample_examples,
    train,
    write_sample,
)

TAGGER = next(path for path in CONFIGS if path.stem == "tagger")
GIVEN_TAGS = [path for path in CONFIGS if path.stem.startswith("conll")]
"""Configs of tasks with tags as input, some of them with chunks to learn."""
ADAPT = next(path for path in CONFIGS if path.stem == "adapt")
CASCADES = [path for path in CONFIGS if path not in (TAGGER, ADAPT, *GIVEN_TAGS)]


@pytest.mark.parametrize(
    "config", [path for path in CONFIGS if path != ADAPT], ids=lambda path: path.stem
)
def test_it_makes_a_pipeline(config: Path) -> None:
    """But for one, whose components come from a trained pipeline."""
    settings = load_config(config, overrides={"nlp.lang": LANGUAGE}, interpolate=True)
    assert load_model_from_config(settings, auto_fill=True).pipe_names


@pytest.mark.slow(kind="configs")
@pytest.mark.parametrize("config", CASCADES, ids=lambda path: path.stem)
def test_it_trains_by_the_command_of_the_readme(config: Path, tmp_path: Path) -> None:
    train = write_sample(tmp_path / "train.spacy", n_docs=6)
    dev = write_sample(tmp_path / "dev.spacy", "dev", n_docs=3)
    result = run_python(
        "-m", "spacy", "train", str(config), "--output", str(tmp_path / "out"),
        "--paths.train", str(train), "--paths.dev", str(dev), "--training.max_steps", "2",
        "--components.cascade_segmenter.model.min_count", "1", timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    best = tmp_path / "out" / "model-best"
    nlp = spacy.load(best)
    assert nlp.evaluate(list(Corpus(train)(nlp)))["ents_f"] > 0.5
    result = run_python("-m", "spacy", "evaluate", str(best), str(dev), timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    assert "NER F" in result.stdout


@pytest.mark.slow(kind="configs")
def test_a_sourced_cascade_is_adapted(tmp_path: Path) -> None:
    """To Docs with a type that it does not know."""
    first = trained_on_sample(n_docs=6)
    first.to_disk(tmp_path / "model")
    docs = sample_docs(first.vocab, n_docs=8)[6:]
    for doc in docs:
        doc.set_ents([Span(doc, e.start, e.end, f"new_{e.label_}") for e in doc.ents])
    data = tmp_path / "new.spacy"
    DocBin(docs=docs).to_disk(data)
    result = run_python(
        "-m", "spacy", "train", str(ADAPT), "--output", str(tmp_path / "out"),
        "--paths.model", str(tmp_path / "model"), "--paths.train", str(data),
        "--paths.dev", str(data), "--nlp.lang", LANGUAGE, timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    nlp = spacy.load(tmp_path / "out" / "model-best")
    labels = nlp.get_pipe("cascade_classifier").labels
    assert set(first.get_pipe("cascade_classifier").labels) < set(labels)
    assert nlp.evaluate(list(Corpus(data)(nlp)))["ents_f"] > 0.5


def trained_on_sample(n_docs: int) -> Language:
    """A cascade with the tokenizer of `configs/adapt.cfg`."""
    nlp = cascade()
    nlp.tokenizer = registry.tokenizers.get("spacy_cascade.WholeNamesTokenizer.v1")()(nlp)
    train(nlp, sample_examples(nlp, n_docs=n_docs))
    return nlp


@pytest.mark.slow(kind="configs")
def test_the_tagger_trains_by_the_command_of_the_readme(tmp_path: Path) -> None:
    """On tags that a word's last letter and the word before it give."""
    docs = sample_docs(blank().vocab, n_docs=6)
    for doc in docs:
        for token in doc:
            last = token.text[-1] if token.text[-1].isalpha() else "X"
            token.tag_ = last + ("1" if token.i and token.nbor(-1).text == "the" else "0")
    data = tmp_path / "data.spacy"
    DocBin(docs=docs).to_disk(data)
    result = run_python(
        "-m", "spacy", "train", str(TAGGER), "--output", str(tmp_path / "out"),
        "--paths.train", str(data), "--paths.dev", str(data), timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    best = tmp_path / "out" / "model-best"
    assert spacy.load(best).evaluate(list(Corpus(data)(spacy.load(best))))["tag_acc"] > 0.9
    result = run_python("-m", "spacy", "evaluate", str(best), str(data), timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    assert "TAG" in result.stdout


@pytest.mark.slow(kind="configs")
@pytest.mark.parametrize("config", GIVEN_TAGS, ids=lambda path: path.stem)
def test_configs_of_tasks_with_given_tags(config: Path, tmp_path: Path) -> None:
    """On tags that shapes of words give, and chunks that tags give."""
    docs = sample_docs(blank().vocab, n_docs=6)
    for doc in docs:
        for token in doc:
            token.tag_ = "NN" if token.is_alpha else "SYM"
        doc.spans["chunks"] = [Span(doc, t.i, t.i + 1, "NP") for t in doc if t.tag_ == "SYM"]
    data, output = tmp_path / "data.spacy", tmp_path / "out"
    DocBin(docs=docs).to_disk(data)
    result = run_python(
        "-m", "spacy", "train", str(config), "--output", str(output),
        "--paths.train", str(data), "--paths.dev", str(data),
        "--training.eval_frequency", "1", timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    scores = tmp_path / "scores.json"
    result = run_python(
        "-m", "spacy", "cascade", "evaluate", str(output / "model-last"), str(data),
        "--json", str(scores), timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    found = srsly.read_json(scores)
    assert found["ents_f"] > 0.5
    if config.stem.startswith("conll2003"):
        assert found["spans_chunks_f"] > 0.95


def test_there_are_configs() -> None:
    """Few, each of another system; the rest is what `init` writes, and settings in docs."""
    assert {"memb", "ocr", "icrf", "semi", "memm", "tagger", "adapt"} <= {
        path.stem for path in CONFIGS
    }
    assert len(CONFIGS) <= 10
