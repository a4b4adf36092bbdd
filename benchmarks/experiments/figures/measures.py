"""The figures of JNLPBA: their tasks, and the rows made of the results."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from ...lib.machine import available_cores, folder_megabytes
from ...lib.processes import Result, few_sentences
from ...lib.timing import median_ratio, speed_ups
from ...lib.variants import config_path
from ...reports.figure_report import Row
from .setup import (
    LISTED,
    RERANKED,
    FigureSetup,
    best_f1,
    crfsuite_seconds,
    seconds_to_best,
    training_seconds,
)

Outcome = tuple[list[Row], Result]
"""The rows of a figure, and the results that they are made of."""
SHORT_TEXTS = 100_000
"""Texts that two processes annotate."""


def accuracy(setup: FigureSetup) -> Outcome:
    cascade, peer = setup.cascade(), setup.crfsuite()
    rows = [Row("dev F1 of the cascade", best_f1(cascade), "F1", "configs/memb.cfg")]
    if peer:
        note = f"{peer['iterations']} iterations, c2 = 1"
        rows.append(Row("dev F1 of crfsuite", peer["f1"], "F1", note))
    return rows, {"cascade": cascade, "crfsuite": peer}


def training(setup: FigureSetup) -> Outcome:
    """Time to a good model."""
    cascade, peer = setup.cascade(), setup.crfsuite()
    ours, ours_computed = seconds_to_best(cascade)
    note = f"of {training_seconds(cascade):.1f} s in all, encoding included"
    rows = [Row("training to 0.1 F1 below the best", ours, "s", note)]
    if peer:
        theirs, theirs_computed = crfsuite_seconds(peer)
        features, training_proper = peer["features_seconds"], peer["training_seconds"]
        note = f"{features:.1f} s for features, {training_proper:.1f} s of training"
        rows.append(Row("training of crfsuite", theirs, "s", note))
        rows.append(Row("training time over crfsuite", ours / theirs, "x"))
        of_all = cascade["computed_seconds"]
        for what, seconds in (("processor time", ours_computed), ("all updates", of_all)):
            note = f"{seconds:.1f} s against {theirs_computed:.1f} s of the processor"
            rows.append(Row(f"{what} over crfsuite", seconds / theirs_computed, "x", note))
    return rows, {"cascade": cascade, "crfsuite": peer}


def threads(setup: FigureSetup) -> Outcome:
    """Two threads against one; they take turns update by update."""
    if available_cores() < 2:
        print("  left out: this process may use one core only")
        return [], {}
    arguments = {
        "config": str(config_path(setup.config)),
        "train": setup.path("train.spacy"),
        "counts": [1, 2],
    }
    found = setup.runner.run("lib.training:compare_threads", arguments, cores=2)
    one, two = found["seconds"]
    pairs = speed_ups(one, two)
    spread = f"median of {len(pairs)} updates, {min(pairs):.2f} to {max(pairs):.2f}"
    same = "same weights to the last bit" if found["same_weights"] else "weights differ"
    whole = sum(one) / sum(two)
    rows = [
        Row("two threads over one", median(pairs), "x", f"{spread}; {same}"),
        Row("two threads over one, with encoding", whole, "x", f"{sum(one):.1f} s with one"),
    ]
    return rows, found


def memory(setup: FigureSetup) -> Outcome:
    ours, peer = setup.training_only(), setup.crfsuite()
    peak = ours["peak_memory_megabytes"]
    rows = [Row("peak memory of training", peak, "MB", "Python and spaCy included")]
    if peer:
        other = peer["peak_memory_megabytes"]
        rows.append(Row("peak memory of crfsuite", other, "MB", "Python included, no spaCy"))
        rows.append(Row("peak memory over crfsuite", peak / other, "x"))
    return rows, {"cascade": ours, "crfsuite": peer}


def _docs(setup: FigureSetup) -> Result:
    peer = str(setup.peer_model) if setup.crfsuite() else None
    arguments = {"model": setup.cascade_model(), "crfsuite_model": peer, **setup.speed_test}
    return setup.runner.run("peers.decoding_speed:decode_docs", arguments)


def decoding(setup: FigureSetup) -> Outcome:
    """From Docs with words to entities, without confidences."""
    found = _docs(setup)
    rates = found["tokens_per_second"]
    rows = [
        Row("Docs to entities, first pass", rates["first"], "tokens/s", "no word known yet"),
        Row("Docs to entities, warm", rates["warm"], "tokens/s", "all words known"),
    ]
    if "warm_crfsuite" in rates:
        for name, words in (("first", "first pass"), ("warm", "warm")):
            rate = rates[f"{name}_crfsuite"]
            rows.append(Row(f"Docs to entities, crfsuite, {words}", rate, "tokens/s"))
            measure = f"Docs to entities over crfsuite, {words}"
            rows.append(ratio(measure, found, f"{name}_crfsuite", name))
    return rows, found


def ratio(measure: str, found: Result, slow: str, fast: str) -> Row:
    """Seconds of one system divided by those of another, median over rounds."""
    passed, computed = (
        median_ratio(found[times], slow, fast) for times in ("seconds", "computed_seconds")
    )
    return Row(measure, passed, "x", f"{computed:.2f} x by processor time")


def confidences(setup: FigureSetup) -> Outcome:
    """The cost of confidences in decoding."""
    found = _docs(setup)
    rows = [
        ratio("cost of confidences", found, "warm_confidence", "warm"),
        ratio("cost of confidences, first pass", found, "first_confidence", "first"),
    ]
    return rows, found


def raw_text(setup: FigureSetup) -> Outcome:
    models = {"model": setup.cascade_model(), "ner_model": setup.spacy_ner_model()}
    arguments = {**models, **setup.speed_test, "beside": ["confidence", "tokenizer"]}
    found = setup.runner.run("peers.decoding_speed:decode_raw_text", arguments)
    rates = found["tokens_per_second"]
    rows = []
    for name, words in (("first", "first pass"), ("warm", "warm")):
        rows += [
            Row(f"raw text, {words}", rates[name], "tokens/s"),
            Row(f"raw text with confidences, {words}", rates[f"{name}_confidence"], "tokens/s"),
            Row(f"raw text, spaCy ner, {words}", rates[f"{name}_ner"], "tokens/s"),
            Row(f"raw text, tokenizer alone, {words}", rates[f"{name}_tokenizer"], "tokens/s"),
            ratio(f"raw text over spaCy ner, {words}", found, f"{name}_ner", name),
            ratio(f"raw text over the tokenizer, {words}", found, f"{name}_tokenizer", name),
        ]
    return rows, found


def two_threads(setup: FigureSetup) -> Outcome:
    """Two threads that annotate one stream of texts, against one."""
    arguments = {"data": setup.path("train.spacy"), "rounds": setup.rounds, "passes": 1}
    return _two_over_one(setup, "in_threads", arguments, {
        "warm": "two threads annotate over one, warm",
        "first": "two threads annotate over one, first pass",
    })  # fmt: skip


def two_processes(setup: FigureSetup) -> Outcome:
    """`nlp.pipe` and `annotate` with two processes, against one."""
    arguments = {"data": setup.path("train.spacy"), "n_texts": SHORT_TEXTS, "rounds": setup.rounds}
    return _two_over_one(setup, "in_processes", arguments, {
        "pipe": "nlp.pipe, n_process = 2 over 1",
        "annotate": "annotate, 2 processes over 1",
    })  # fmt: skip


def _two_over_one(
    setup: FigureSetup, task: str, arguments: Mapping[str, Any], measures: Mapping[str, str]
) -> Outcome:
    """How many times as fast two are as one; measures: by the names of the ways to annotate."""
    if available_cores() < 2:
        print("  left out: this process may use one core only")
        return [], {}
    both = {"model": setup.cascade_model(), **arguments}
    found = setup.runner.run(f"lib.two_cores:annotate_{task}", both, cores=2)
    rates, computed = found["tokens_per_second"], found["computed_seconds"]
    same = "" if found.get("is_same", True) else "; annotation differs"
    rows = []
    for way, measure in measures.items():
        one, two = f"{way}_one", f"{way}_two"
        cost = median_ratio(computed, two, one)
        note = f"{rates[two]:,.0f} tokens/s; {cost:.2f} x the processor time{same}"
        rows.append(Row(measure, median_ratio(found["seconds"], one, two), "x", note))
    return rows, found


def loading(setup: FigureSetup) -> Outcome:
    """Size on disk, and the time to the first Doc in a new process."""
    model = setup.cascade_model()
    size = folder_megabytes(model)
    found = [
        setup.runner.run("lib.loading:load_and_decode", {"model": model}, repeat=i)
        for i in range(setup.rounds + 1)
    ][1:]  # the first one may have had to compile
    load = median(r["load_seconds"] for r in found)
    first = median(r["first_doc_seconds"] for r in found)
    both = median(r["load_seconds"] + r["first_doc_seconds"] for r in found)
    computed = median(r["computed_seconds"] for r in found)
    note = f"load {load:.2f} s, first Doc {first:.2f} s; {computed:.2f} s of processor time"
    rows = [
        Row("model on disk", size, "MB", "the whole pipeline"),
        Row("load and first Doc", both, "s", note),
        Row("import of spaCy", median(r["import_seconds"] for r in found), "s", "before that"),
    ]
    return rows, {"runs": found, "megabytes": size}


def scale(setup: FigureSetup) -> Outcome:
    """All features of the corpus: `min_count = 1` in both stages."""
    pairs = [
        (setup.training_only(repeat), setup.training_only(repeat, min_count=1))
        for repeat in range(2)
    ]
    default, full = pairs[0]
    features = sum(c["features"] for c in full["components"].values())
    weights = sum(c["weights"] for c in full["components"].values())
    fewer = sum(c["features"] for c in default["components"].values())
    peak = max(run["peak_memory_megabytes"] for _, run in pairs) / 1000
    ratio = median(training_seconds(b) / training_seconds(a) for a, b in pairs)
    computed = median(b["computed_seconds"] / a["computed_seconds"] for a, b in pairs)
    both = [median(training_seconds(pair[i]) for pair in pairs) for i in range(2)]
    note = f"{both[1]:.1f} s against {both[0]:.1f} s, equal numbers of iterations"
    rows = [
        Row("all features: features", features, "", f"{fewer:,} by default"),
        Row("all features: weights", weights, ""),
        Row("all features: peak memory", peak, "GB"),
        Row("all features: training time over default", ratio, "x", note),
        Row("all features: processor time over default", computed, "x"),
    ]
    return rows, {"default": [a for a, _ in pairs], "all": [b for _, b in pairs]}


def compilation(setup: FigureSetup) -> Outcome:
    """Time for compilation in the first run ever, with an empty kernel cache; on two cores."""
    tasks: dict[str, tuple[str, Mapping[str, Any]]] = {
        "training": (
            "lib.loading:compile_training",
            few_sentences(setup.config, setup.path("dev.spacy")),
        ),
        "decoding": ("lib.loading:compile_decoding", {"model": setup.cascade_model()}),
    }
    rows, details = [], {}
    for name, (task, arguments) in tasks.items():
        with tempfile.TemporaryDirectory() as folder:
            runs = [
                setup.runner.run(task, arguments, 2, Path(folder), f"{folder}{i}") for i in range(3)
            ]
        cold, warm = (min(r["seconds"] for r in part) for part in (runs[:1], runs[1:]))
        computed = runs[0]["computed_seconds"] - min(r["computed_seconds"] for r in runs[1:])
        note = f"{cold:.1f} s cold less {warm:.1f} s warm; {computed:.1f} s of processor time"
        rows.append(Row(f"first compilation, {name}", cold - warm, "s", note))
        details[name] = runs
    return rows, details


def of_init(setup: FigureSetup) -> Outcome:
    """What `init` writes, with its tables of words, beside the peers."""
    own, rows, details = setup.of_init(), list[Row](), {}
    own.compile_kernels()
    for figure in (training, memory, decoding, raw_text, loading, compilation):
        found, details[figure.__name__] = figure(own)
        rows += [replace(row, measure=f"init: {row.measure}") for row in found]
    return rows, details


def nbest_speed(setup: FigureSetup) -> Outcome:
    """The cost of N-best lists in the segmenter."""
    arguments = {"model": setup.online_model(), "n_best": LISTED, **setup.speed_test}
    found = setup.runner.run("peers.decoding_speed:predict_nbest", arguments)
    measure = f"{LISTED} best segmentations over 1 best"
    return [
        ratio(measure, found, "n", "one"),
        ratio(f"{measure}, written to Docs", found, "n_annotated", "one_annotated"),
    ], found


def reranked_speed(setup: FigureSetup) -> Outcome:
    """From raw text to reranked entities with `nlp.pipe`."""
    models = {"model": setup.reranked_model(), "ner_model": setup.spacy_ner_model()}
    arguments = {**models, **setup.speed_test}
    found = setup.runner.run("peers.decoding_speed:decode_raw_text", arguments)
    rates = found["tokens_per_second"]
    rows = []
    for name, words in (("first", "first pass"), ("warm", "warm")):
        note = f"the {RERANKED} best, trained reranker, with a sentencizer"
        measure = "raw text with reranking"
        ner = f"{name}_ner"
        rows += [
            Row(f"{measure}, {words}", rates[name], "tokens/s", note),
            Row(f"raw text, spaCy ner beside it, {words}", rates[ner], "tokens/s"),
            ratio(f"{measure} over spaCy ner, {words}", found, ner, name),
        ]
    return rows, found


def systems(setup: FigureSetup) -> Outcome:
    """Tokens a second of systems beside the chain, divided by those of the chain; known words."""
    online, test = setup.online_model(), setup.speed_test
    models = {"chain": setup.cascade_model(), "other": setup.semi_markov_model()}
    of_docs = {"models": models, **test}
    of_texts = {"models": {"chain": online, "other": setup.reranked_model()}, **test}
    listed = {"model": online, "n_best": LISTED, **test}
    run = setup.runner.run
    segments = run("peers.decoding_speed:decode_in_turns", of_docs)
    reranked = run("peers.decoding_speed:decode_texts_in_turns", of_texts)
    nbest = run("peers.decoding_speed:predict_nbest", listed)
    both = "warm_chain", "warm_other"
    rows = [
        ratio("speed of semi-Markov segmenter over chain", segments, *both),
        ratio(f"speed of {LISTED} best segmentations over 1 best", nbest, "one", "n"),
        ratio("speed of reranked over online cascade", reranked, *both),
    ]
    return rows, {"semi_markov": segments, "nbest": nbest, "reranked": reranked}


_ALL = (
    accuracy, training, threads, memory, decoding, raw_text, confidences, two_threads,
    two_processes, loading, nbest_speed, reranked_speed, systems, compilation, of_init, scale,
)  # fmt: skip
FIGURES: dict[str, Callable[[FigureSetup], Outcome]] = {figure.__name__: figure for figure in _ALL}
