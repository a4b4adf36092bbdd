"""spaCy's own `ner` with its efficiency configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.vectors import Vectors

from ..lib.corpora import read_docs
from ..lib.package import component, read_examples, word_vectors
from ..lib.timing import Stopwatch
from ..lib.training import Progress, run_loop, training_settings

SPACY_READER: dict[str, Any] = {"@readers": "spacy.Corpus.v1"}
_NEVER = 10**9
_ENDLESS = {"eval_frequency": _NEVER, "patience": 0, "max_steps": 0, "max_epochs": 0}


def train_spacy_ner_for(
    train: str,
    dev: str,
    model: str,
    seconds: float,
    evaluations: int,
    lang: str = "en",
    reader: Mapping[str, Any] = SPACY_READER,
    instead: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Train for a number of processor seconds. The time of scoring on dev is not counted.

    model: folder for the best pipeline. evaluations: their number. lang: spaCy's code of the
    language. reader: of both corpora, without the path. instead: the section of a component that
    listens to the same encoder, in place of `ner`. The series has an entry for each evaluation, at
    equal distances: seconds since the beginning of `initialize` (wall-clock and processor), and F1
    on dev.
    """
    watch = Stopwatch()
    endless = {"max_steps": _NEVER, "max_epochs": 0}
    with watch:
        nlp = _initialized(train, dev, endless, lang, reader, instead)
    initialize_seconds = watch.passed
    training = training_settings(nlp)
    train_examples, dev_examples = read_examples(train, nlp), read_examples(dev, nlp)
    progress, n_updates = Progress(watch, model), 0
    with watch:
        for step in _steps(nlp, train_examples, training):
            n_updates = step
            if watch.elapsed_computed() < seconds * (len(progress.series) + 1) / evaluations:
                continue
            with watch.paused(), nlp.use_params(training["optimizer"].averages):
                progress.add(nlp, nlp.evaluate(dev_examples)["ents_f"])
            if len(progress.series) == evaluations:
                break
    return {
        "initialize_seconds": initialize_seconds,
        "seconds": watch.passed,
        "computed_seconds": watch.computed,
        "updates": n_updates,
        "series": progress.series,
    }


def resume_spacy_ner_for(
    model: str, train: str, output: str, seconds: Sequence[float]
) -> dict[str, Any]:
    """Continue to train a pipeline on other examples, as `spacy train` does with a sourced one.

    seconds: training times after which the pipeline is saved as `output/SECONDS`.
    """
    nlp = spacy.load(model)
    training = training_settings(nlp)
    examples = read_examples(train, nlp)
    for label in sorted({span.label_ for e in examples for span in e.reference.ents}):
        component(nlp, "ner").add_label(label)
    optimizer = nlp.resume_training(sgd=training["optimizer"])
    Path(output).mkdir(parents=True, exist_ok=True)
    watch, waiting, n_updates = Stopwatch(), sorted(seconds), []
    with watch:
        for step in _steps(nlp, examples, training):
            if watch.elapsed() < waiting[0]:
                continue
            with watch.paused(), nlp.use_params(optimizer.averages):
                nlp.to_disk(Path(output) / f"{waiting.pop(0):g}")
            n_updates.append(step)
            if not waiting:
                break
    return {"updates": n_updates, "seconds": watch.passed}


def write_ner_config(
    output: str,
    train: str,
    dev: str,
    lang: str,
    optimize: str,
    reader: Mapping[str, Any],
    vectors: str | None,
) -> dict[str, Any]:
    """Write spaCy's configuration of `ner` for a corpus, without a limit of steps.

    optimize: `efficiency` or `accuracy`. reader: of both corpora, without the path. vectors: folder
    of a pipeline whose word vectors it sees as static ones, None for no vectors.
    """
    config = init_config(lang=lang, pipeline=["ner"], optimize=optimize, gpu=False, silent=True)
    config["paths"].update({"train": train, "dev": dev, "vectors": vectors})
    for part in ("train", "dev"):
        config["corpora"][part] = {**reader, "path": f"${{paths.{part}}}"}
    config["training"]["max_steps"] = 0
    config["initialize"]["vectors"] = vectors
    embed = config["components"]["tok2vec"]["model"]["embed"]
    embed["include_static_vectors"] = vectors is not None
    config.to_disk(output)
    return {"patience": config["training"]["patience"]}


def write_vectors(sources: Sequence[str], output: str, lang: str) -> dict[str, int]:
    """Write a pipeline with the vectors of all words of corpora, and of nothing else."""
    nlp = spacy.blank(lang)
    words = sorted({token.text for path in sources for doc in read_docs(path) for token in doc})
    vectors = word_vectors(words)
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, shape=vectors.shape, name=f"{lang}_words"
    )
    for word, vector in zip(words, vectors, strict=True):
        nlp.vocab.set_vector(word, vector)
    nlp.to_disk(output)
    return {"words": len(words), "dimensions": int(vectors.shape[1])}


def _initialized(
    train_path: str,
    dev: str,
    training: dict[str, Any],
    lang: str = "en",
    reader: Mapping[str, Any] = SPACY_READER,
    instead: Mapping[str, Any] | None = None,
) -> Language:
    config = init_config(lang=lang, pipeline=["ner"], optimize="efficiency", gpu=False, silent=True)
    config["paths"].update({"train": train_path, "dev": dev})
    for part in ("train", "dev"):
        config["corpora"][part] = {**reader, "path": f"${{paths.{part}}}"}
    config["training"].update({"patience": 0, **training})
    if instead is not None:
        config["components"]["ner"] = dict(instead)
    return init_nlp(config.interpolate())


def _steps(nlp: Language, examples: Sequence[Example], training: dict[str, Any]) -> Iterator[int]:
    """The number of updates after each of them, in spaCy's loop without its scoring."""
    for info in run_loop(nlp, examples, {**training, **_ENDLESS}, lambda: (0.0, {})):
        yield info["step"] + 1
