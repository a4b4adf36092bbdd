"""Training and scoring spaCy's `spancat` on nested entities.

Its candidates are n-grams, or the spans that two flat segmenters of ours find likely: one has
learnt the innermost entities, the other the outermost ones. Docs are sentences with given words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.pipeline.spancat import Suggester
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import get_lang_class, load_model_from_config, registry
from thinc.api import Ops, fix_random_seed, get_current_ops
from thinc.types import Ragged

from ..lib.corpora import without_entities
from ..lib.nested import DOCUMENT, ENTITIES, Row, count, covered, innermost, outermost, read_nested
from ..lib.package import KNOWLEDGE, SEGMENTER, component
from ..lib.timing import Stopwatch, Timings
from ..lib.training import Progress, run_loop, training_settings

SPANCAT = "spancat"
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Those that are tried. spaCy's default is 0.5."""
LISTED: Mapping[str, Callable[[Iterable[Span]], list[Span]]] = {
    "innermost": innermost,
    "outermost": outermost,
}
"""What each segmenter learns of the gold spans."""
TAUGHT = "taught"
"""The group of gold spans that are candidates in training, too."""
_UNION = "spacy_cascade.benchmarks.union_suggester.v1"
_FOLDS = 2
_PASSES = 3
_NEVER = 10**9
_ENDLESS = {"eval_frequency": _NEVER, "patience": 0, "max_steps": 0, "max_epochs": 0}


def train_spancat_for(
    train: str,
    dev: str,
    seconds: float,
    evaluations: int,
    sizes: Sequence[int],
    lang: str = "en",
    model: str | None = None,
) -> dict[str, Any]:
    """Train on n-grams for a number of processor seconds, without the time of scoring on dev.

    train, dev: JSON lines (`lib.nested`). sizes: lengths of n-grams. model: folder for the pipeline
    that is best at spaCy's threshold. For the result see `_trained`.
    """
    watch = Stopwatch()
    nlp = _pipeline(lang, {"@misc": "spacy.ngram_suggester.v1", "sizes": list(sizes)})
    examples, references = _read(train, nlp), read_nested(dev, nlp.vocab, by_sentence=True)
    with watch:
        nlp.initialize(lambda: examples)
    progress = Progress(watch, model)
    return _trained(nlp, examples, references, progress, seconds, evaluations)


def train_spancat_on_candidates_for(
    train: str,
    dev: str,
    seconds: float,
    evaluations: int,
    lang: str = "en",
    model: str | None = None,
    updates: int = 1,
    temperature: float = 3.0,
    least: float = 0.01,
) -> dict[str, Any]:
    """The same on what two segmenters find likely, whose training is part of the time.

    In training, candidates are what segmenters of the other half of the documents find, and all
    gold spans. updates: of each segmenter. temperature: of its probabilities; the higher, the more
    spans reach `least`.
    """
    watch = Stopwatch()
    nlp = _pipeline(lang, {"@misc": _UNION, "keys": [*LISTED, TAUGHT]})
    examples, references = _read(train, nlp), read_nested(dev, nlp.vocab, by_sentence=True)
    settings = {"temperature": temperature, "threshold": least}
    with watch:
        nlp.initialize(lambda: examples)
        for name in LISTED:
            for fold in range(_FOLDS):
                chosen, held_back = _split(examples, fold)
                segmenter = _segmenter(name, chosen, lang, updates, settings)
                list(segmenter.pipe(example.predicted for example in held_back))
            whole = _segmenter(name, examples, lang, updates, settings)
            nlp.add_pipe(name, source=whole, before="tok2vec")
        for example in examples:
            doc = example.predicted
            doc.spans[TAUGHT] = [doc[s.start : s.end] for s in example.reference.spans[ENTITIES]]
    progress = Progress(watch, model)
    return _trained(nlp, examples, references, progress, seconds, evaluations)


def make_union_suggester(keys: list[str]) -> Suggester:
    """Suggest every span that is in one of some groups of a Doc, once."""

    def suggest(docs: Iterable[Doc], *, ops: Ops | None = None) -> Ragged:
        ops = ops or get_current_ops()
        rows = [_bounds(doc, keys) for doc in docs]
        bounds: Any = np.array([row for of_doc in rows for row in of_doc], dtype=np.int32)
        lengths: Any = np.array([len(of_doc) for of_doc in rows], dtype=np.int32)
        return Ragged(ops.asarray2i(bounds.reshape(-1, 2)), ops.asarray1i(lengths))

    return suggest


registry.misc.register(_UNION, func=make_union_suggester)


def _bounds(doc: Doc, keys: Iterable[str]) -> list[tuple[int, int]]:
    groups = (doc.spans[key] for key in keys if key in doc.spans)
    return sorted({(span.start, span.end) for group in groups for span in group})


def _pipeline(lang: str, suggester: Mapping[str, Any]) -> Language:
    """spaCy's efficiency configuration for a CPU with a suggester."""
    config = init_config(
        lang=lang, pipeline=[SPANCAT], optimize="efficiency", gpu=False, silent=True
    )
    config["components"][SPANCAT]["suggester"] = dict(suggester)
    config["components"][SPANCAT]["spans_key"] = ENTITIES
    fix_random_seed(0)
    return load_model_from_config(config.interpolate(), auto_fill=True)


def _read(path: str, nlp: Language) -> list[Example]:
    references = read_nested(path, nlp.vocab, by_sentence=True)
    for reference in references:
        for name, choose in LISTED.items():
            reference.spans[name] = choose(reference.spans[ENTITIES])
    predicted = without_entities(references, nlp.vocab)
    return [Example(*pair) for pair in zip(predicted, references, strict=True)]


def _split(examples: Sequence[Example], fold: int) -> tuple[list[Example], list[Example]]:
    """The examples of the other folds, and those of this one, by whole documents."""
    names = dict.fromkeys(example.reference.user_data[DOCUMENT] for example in examples)
    numbers = {name: number for number, name in enumerate(names)}
    parts: tuple[list[Example], list[Example]] = ([], [])
    for example in examples:
        number = numbers[example.reference.user_data[DOCUMENT]]
        parts[number % _FOLDS == fold].append(example)
    return parts


def _segmenter(
    name: str, examples: Sequence[Example], lang: str, updates: int, settings: Mapping[str, Any]
) -> Language:
    """A pipeline with a trained segmenter that lists likely spans in the group of its name."""
    nlp = get_lang_class(lang)(examples[0].predicted.vocab)
    words = {"english": {"@misc": KNOWLEDGE}} if lang == "en" else {}
    templates = {"@misc": "spacy_cascade.SegmentationTemplates.v1", "words": words}
    config = {
        "gold_key": name,
        "spans_key": name,
        "overlapping": True,
        "model": {"min_count": 1, "templates": templates},
        "trainer": {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 12, "threads": 1},
        **settings,
    }
    nlp.add_pipe(SEGMENTER, name=name, config=config)
    nlp.initialize(lambda: examples)
    for _ in range(updates):
        nlp.update(examples)
    return nlp


def _trained(
    nlp: Language,
    examples: Sequence[Example],
    references: Sequence[Doc],
    progress: Progress,
    seconds: float,
    evaluations: int,
) -> dict[str, Any]:
    """Train `spancat` for the rest of the time, and score it at equal distances.

    The series has seconds (wall-clock and processor) and F1 on dev at spaCy's threshold,
    `by_threshold` for each of its entries the scores at all thresholds. Speed is that of words to
    spans, in tokens per processor second.
    """
    watch, n_updates = progress.watch, 0
    by_threshold: list[dict[str, dict[str, float]]] = []
    begin = watch.computed
    with watch:
        for step in _steps(nlp, examples):
            n_updates = step
            share = (len(by_threshold) + 1) / evaluations
            if watch.elapsed_computed() < begin + (seconds - begin) * share:
                continue
            with watch.paused():
                by_threshold.append(_scores(nlp, references))
                progress.add(nlp, by_threshold[-1]["0.5"]["f1"] / 100)
            if len(by_threshold) == evaluations:
                break
    return {
        "before_spancat_seconds": begin,
        "seconds": watch.passed,
        "computed_seconds": watch.computed,
        "updates": n_updates,
        "series": progress.series,
        "by_threshold": by_threshold,
        "candidates": _candidates(nlp, references),
        "tokens_per_second": _speed(nlp, references),
    }


def _steps(nlp: Language, examples: Sequence[Example]) -> Iterator[int]:
    """The number of updates after each of them, in spaCy's loop without its scoring."""
    training = {**training_settings(nlp), **_ENDLESS}
    training["frozen_components"] = [name for name in LISTED if name in nlp.pipe_names]
    for info in run_loop(nlp, examples, training, lambda: (0.0, {})):
        yield info["step"] + 1


def _scores(nlp: Language, references: Sequence[Doc]) -> dict[str, dict[str, float]]:
    """F1, precision and recall over all spans at each threshold, by its text."""
    spancat = component(nlp, SPANCAT)
    kept, spancat.cfg["threshold"] = spancat.cfg["threshold"], min(THRESHOLDS)
    docs = list(nlp.pipe(without_entities(references, nlp.vocab)))
    spancat.cfg["threshold"] = kept
    return {
        f"{threshold:g}": count((_likely(doc, threshold) for doc in docs), references).scores()
        for threshold in THRESHOLDS
    }


def _likely(doc: Doc, threshold: float) -> set[Row]:
    group = doc.spans[ENTITIES]
    pairs = zip(group, group.attrs.get("scores", ()), strict=True)
    return {(s.start, s.end, s.label_) for s, score in pairs if score >= threshold}


def _candidates(nlp: Language, references: Sequence[Doc]) -> dict[str, float]:
    """Candidates of dev for each token, and the percentage of gold spans among them."""
    docs = list(nlp.pipe(without_entities(references, nlp.vocab)))
    listed = component(nlp, SPANCAT).suggester(docs)
    bounds = [{(int(a), int(b)) for a, b in listed[i].dataXd} for i in range(len(docs))]
    per_token = sum(map(len, bounds)) / sum(map(len, docs))
    return {"per_token": per_token, "covered": covered(bounds, references)}


def _speed(nlp: Language, references: Sequence[Doc]) -> float:
    timings = Timings()
    timings.add("dev", lambda: nlp.pipe(without_entities(references, nlp.vocab)), passes=_PASSES)
    return sum(map(len, references)) / timings.computed["dev"][0]
