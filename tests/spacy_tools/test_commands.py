"""spaCy's own commands, on our configs and pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
import srsly
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from helpers import CONFIGS, annotation, blank, bounds, corpora_in, run_spacy

FACTORIES = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["cascade_segmenter","cascade_classifier"]

[components]

[components.cascade_segmenter]
factory = "cascade_segmenter"

[components.cascade_classifier]
factory = "cascade_classifier"
"""
BATCHER = """
[training]
max_steps = 1
eval_frequency = 1

[training.batcher]
@batchers = "spacy_cascade.WholeCorpus.v1"
"""
SOURCED = """
[nlp]
lang = "xx"
pipeline = ["sentencizer","cascade_segmenter","cascade_classifier"]

[nlp.tokenizer]
@tokenizers = "spacy_cascade.WholeNamesTokenizer.v1"

[components]

[components.sentencizer]
factory = "sentencizer"

[components.cascade_segmenter]
source = "{source}"

[components.cascade_classifier]
{classifier}
"""
LABELS = """
[initialize]

[initialize.components]

[initialize.components.cascade_classifier]
"""
ALONE = [path for path in CONFIGS if "${paths.model}" not in path.read_text("utf8")]
"""Configs that need no trained pipeline, which `init fill-config` cannot be told of."""
TEXT = "NF-kappa B binds the IL-2 promoter in Jurkat cells."


def corpus_settings(folder: Path) -> dict[str, str]:
    return {f"paths.{name}": f"{folder / name}.spacy" for name in ("train", "dev")}


@pytest.mark.slow(kind="first use")
def test_first_use(first_use: Path) -> None:
    shown = run_spacy("cascade", "debug-data", first_use / "ner.cfg", *corpora_in(first_use))
    assert "cell_line 106 14" in shown
    nlp = spacy.load(first_use / "OUT" / "model-best")
    assert nlp.meta["performance"]["ents_f"] > 0.9
    assert "Jurkat cells" in {entity.text for entity in nlp(TEXT).ents}


@pytest.mark.slow(kind="spaCy's commands")
def test_fill_config(first_use: Path, tmp_path: Path) -> None:
    """A config that names factories only becomes complete; with the batcher it trains."""
    partial, full = tmp_path / "partial.cfg", tmp_path / "full.cfg"
    partial.write_text(FACTORIES + BATCHER, encoding="utf8")
    run_spacy("init", "fill-config", partial, full)
    components = load_config(full)["components"]
    for name in ("cascade_segmenter", "cascade_classifier"):
        defaults = Language.get_factory_meta(name).default_config
        assert components[name].keys() == {"factory", *defaults}
    assert "Config is valid" in run_spacy("debug", "config", full, *corpora_in(first_use))
    run_spacy("train", full, "--output", tmp_path / "OUT", *corpora_in(first_use))
    assert spacy.load(tmp_path / "OUT" / "model-last")(TEXT).ents


@pytest.mark.slow(kind="spaCy's commands")
def test_a_config_without_the_batcher_trains_once_a_pass(first_use: Path, tmp_path: Path) -> None:
    """spaCy fills in minibatches, which are collected."""
    (tmp_path / "partial.cfg").write_text(FACTORIES, encoding="utf8")
    run_spacy("init", "fill-config", tmp_path / "partial.cfg", tmp_path / "full.cfg")
    passes = {"training.max_epochs": 2, "training.eval_frequency": 10_000}
    train(tmp_path / "full.cfg", tmp_path / "OUT", overrides=corpus_settings(first_use) | passes)
    assert spacy.load(tmp_path / "OUT" / "model-last")(TEXT).ents


@pytest.mark.slow(kind="spaCy's commands")
@pytest.mark.parametrize("config", ALONE, ids=lambda path: path.stem)
def test_debug_config(config: Path, first_use: Path, tmp_path: Path) -> None:
    """It takes complete configs; ours leave to spaCy what has the usual value."""
    run_spacy("init", "fill-config", config, tmp_path / "full.cfg")
    shown = run_spacy("debug", "config", tmp_path / "full.cfg", *corpora_in(first_use))
    assert "Config is valid" in shown


@pytest.mark.slow(kind="spaCy's commands")
def test_debug_data(first_use: Path) -> None:
    """It checks the corpora, but says nothing of entities, which it looks at for `ner` only."""
    shown = run_spacy("debug", "data", first_use / "ner.cfg", *corpora_in(first_use), exit_code=1)
    assert "Pipeline can be initialized with data" in shown
    assert "Corpus is loadable" in shown
    assert "Low number of examples to train a new pipeline (55)" in shown
    assert "cell_line" not in shown


def test_init_labels(workspace: Path, tmp_path: Path) -> None:
    """Labels are saved, and training begins with what the file says."""
    config = workspace / "ner.cfg"
    run_spacy("init", "labels", config, tmp_path, *corpora_in(workspace))
    path = tmp_path / "cascade_classifier.json"
    saved = srsly.read_json(path)
    assert saved == ["DNA", "RNA", "cell_line", "cell_type", "protein"]
    assert srsly.read_json(tmp_path / "cascade_segmenter.json") == ["ENT"]
    srsly.write_json(path, [*saved, "virus"])
    read = load_config(config, overrides=corpus_settings(workspace))
    read["initialize"]["components"] = {
        "cascade_classifier": {"labels": {"@readers": "spacy.read_labels.v1", "path": str(path)}}
    }
    assert init_nlp(read).pipe_labels["cascade_classifier"] == [*saved, "virus"]


def test_evaluate(workspace: Path, tmp_path: Path) -> None:
    model, data = workspace / "OUT" / "model-best", workspace / "dev.spacy"
    shown = run_spacy("evaluate", model, data, "--output", tmp_path / "scores.json")
    performance = spacy.load(model).meta["performance"]
    assert srsly.read_json(tmp_path / "scores.json")["ents_f"] == performance["ents_f"]
    assert f"NER F {100 * performance['ents_f']:.2f}" in shown
    assert "NER (per type)" in shown
    run_spacy("evaluate", model, data, "--per-component", "--output", tmp_path / "parts.json")
    parts = srsly.read_json(tmp_path / "parts.json")
    assert parts["cascade_segmenter"]["segments_f"] == performance["segments_f"]
    assert parts["cascade_classifier"]["ents_f"] == performance["ents_f"]


@pytest.mark.slow(kind="spaCy's commands")
def test_pages_of_displacy(first_use: Path, tmp_path: Path) -> None:
    """spaCy's own option writes them for pipelines with its own `ner` only; ours for any."""
    model, data = first_use / "OUT" / "model-best", first_use / "dev.spacy"
    run_spacy("evaluate", model, data, "--displacy-path", tmp_path)
    assert list(tmp_path.iterdir()) == []
    run_spacy("cascade", "evaluate", model, data, "--displacy-path", tmp_path)
    assert "cell_line" in (tmp_path / "entities.html").read_text(encoding="utf8")


@pytest.mark.slow(kind="spaCy's commands")
def test_find_threshold(first_use: Path) -> None:
    model, data = first_use / "OUT" / "model-best", first_use / "dev.spacy"
    arguments = (model, data, "cascade_classifier", "threshold", "ents_p", "--n_trials", 3)
    assert "Best threshold: 0.5 with ents_p" in run_spacy("find-threshold", *arguments)


@pytest.mark.parametrize("is_new", [False, True])
def test_assemble(is_new: bool, workspace: Path, tmp_path: Path) -> None:
    """From components of another pipeline; a new one wants its labels, and knows nothing else."""
    source = workspace / "OUT" / "model-best"
    classifier = 'factory = "cascade_classifier"' if is_new else f'source = "{source}"'
    text = SOURCED.format(source=source, classifier=classifier)
    if is_new:
        text += LABELS + 'labels = ["DNA", "protein"]\n'
    config = tmp_path / "assemble.cfg"
    config.write_text(text, encoding="utf8")
    run_spacy("assemble", config, tmp_path / "OUT")
    nlp, other = spacy.load(tmp_path / "OUT"), spacy.load(source)
    doc = nlp(TEXT)
    assert len(doc.spans["cascade"]) == len(other(TEXT).ents) > 0
    if is_new:
        assert nlp.pipe_labels["cascade_classifier"] == ["DNA", "protein"]
    else:
        assert annotation(doc) == annotation(other(TEXT))


@pytest.mark.slow(kind="spaCy's commands")
def test_info(first_use: Path) -> None:
    shown = run_spacy("info", first_use / "OUT" / "model-best")
    assert "['cascade_segmenter', 'cascade_classifier']" in shown


def test_apply(workspace: Path, tmp_path: Path) -> None:
    """Texts to a `.spacy` file, confidences included."""
    model = workspace / "OUT" / "model-best"
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf8")
    run_spacy("apply", model, tmp_path / "text.txt", tmp_path / "docs.spacy")
    (doc,) = DocBin().from_disk(tmp_path / "docs.spacy").get_docs(blank().vocab)
    expected = spacy.load(model)(TEXT)
    assert bounds(doc.ents) == bounds(expected.ents)
    assert doc.ents[0]._.confidence == pytest.approx(expected.ents[0]._.confidence)
