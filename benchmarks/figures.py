"""The figures: which tasks each one runs and what it makes of their results."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench import Bench, best_f1, crfsuite_seconds, seconds_to_best, training_seconds
from measure import Result, available_cores, child_environment, run_command, speed_ups
from report import Row

Outcome = tuple[list[Row], Result]
"""The rows of a figure and the results that they come from."""


def accuracy(bench: Bench) -> Outcome:
    """Exact-match F1 of typed entities on dev."""
    cascade, single, peer = bench.cascade(), bench.single_phase(), bench.crfsuite()
    rows = [Row("dev F1 of the cascade", best_f1(cascade), "F1", "configs/memb.cfg")]
    if single:
        gain = best_f1(cascade) - best_f1(single)
        rows.append(Row("dev F1 of our single-phase CRF", best_f1(single), "F1", "configs/crf.cfg"))
        rows.append(Row("cascade over our single-phase CRF", gain, "points"))
    if peer:
        note = f"{peer['iterations']} iterations, c2 = 1"
        rows.append(Row("dev F1 of crfsuite", peer["f1"], "F1", note))
    return rows, {"cascade": cascade, "single_phase": single, "crfsuite": peer}


def training(bench: Bench) -> Outcome:
    """Time to a good model, and that of the whole `spacy train` command."""
    cascade, peer = bench.cascade(), bench.crfsuite()
    ours, ours_computed = seconds_to_best(cascade)
    note = f"of {training_seconds(cascade):.1f} s in all, encoding included"
    rows = [Row("training to 0.1 F1 below the best", ours, "s", note)]
    if peer:
        theirs, theirs_computed = crfsuite_seconds(peer)
        features, training_proper = peer["features_seconds"], peer["training_seconds"]
        note = f"{features:.1f} s for features, {training_proper:.1f} s of training"
        rows.append(Row("training of crfsuite", theirs, "s", note))
        rows.append(Row("training time over crfsuite", ours / theirs, "x"))
        ratio = ours_computed / theirs_computed
        note = f"{ours_computed:.1f} s against {theirs_computed:.1f} s"
        rows.append(Row("processor time over crfsuite", ratio, "x", note))
    command = _train_command(bench)
    note = f"with scores on dev, the best {command['f1']:.2f}"
    rows.append(Row("`spacy train` from start to end", command["seconds"], "s", note))
    return rows, {"cascade": cascade, "crfsuite": peer, "command": command}


def _train_command(bench: Bench) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "spacy", "train", bench.config("memb.cfg")]
        command += ["--output", folder, "--paths.train", bench.path("train.spacy")]
        command += ["--paths.dev", bench.path("dev.spacy")]
        for component in ("cascade_segmenter", "cascade_classifier"):
            command += [f"--components.{component}.trainer.threads", "1"]
        environment = child_environment(1, bench.laboratory.kernel_cache)
        begin = perf_counter()
        run_command(command, environment)
        seconds = perf_counter() - begin
        meta = json.loads((Path(folder) / "model-best/meta.json").read_text(encoding="utf8"))
        return {"seconds": seconds, "f1": 100 * meta["performance"]["ents_f"]}


def threads(bench: Bench) -> Outcome:
    """Two threads against one, update by update in turn."""
    if available_cores() < 2:
        print("  left out: this process may use one core only")
        return [], {}
    arguments = {
        "config": bench.config("memb.cfg"),
        "train": bench.path("train.spacy"),
        "counts": [1, 2],
    }
    found = bench.laboratory.run("compare_threads", arguments, cores=2)
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


def memory(bench: Bench) -> Outcome:
    """Peak memory of a process that trains."""
    ours, peer = bench.training_only(), bench.crfsuite()
    peak = ours["peak_memory_megabytes"]
    rows = [Row("peak memory of training", peak, "MB", "Python and spaCy included")]
    if peer:
        other = peer["peak_memory_megabytes"]
        rows.append(Row("peak memory of crfsuite", other, "MB", "Python included, no spaCy"))
        rows.append(Row("peak memory over crfsuite", peak / other, "x"))
    return rows, {"cascade": ours, "crfsuite": peer}


def _docs(bench: Bench) -> Result:
    arguments = {
        "model": bench.cascade_model(),
        "dev": bench.path("dev.spacy"),
        "crfsuite_model": bench.crfsuite_model() if bench.crfsuite() else None,
        "rounds": bench.rounds,
        "passes": bench.passes,
    }
    return bench.laboratory.run("decode_docs", arguments)


def decoding(bench: Bench) -> Outcome:
    """From ready Docs to entities, without confidences."""
    found = _docs(bench)
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
    """Median over the rounds of one contender's seconds over another's."""
    passed, computed = (
        median(a / b for a, b in zip(times[slow], times[fast], strict=True))
        for times in (found["seconds"], found["computed_seconds"])
    )
    return Row(measure, passed, "x", f"{computed:.2f} x by processor time")


def confidences(bench: Bench) -> Outcome:
    """What confidences add to decoding."""
    found = _docs(bench)
    rows = [
        ratio("cost of confidences", found, "warm_confidence", "warm"),
        ratio("cost of confidences, first pass", found, "first_confidence", "first"),
    ]
    return rows, found


def raw_text(bench: Bench) -> Outcome:
    """From raw text to entities with `nlp.pipe`, without confidences."""
    arguments = {
        "model": bench.cascade_model(),
        "dev": bench.path("dev.spacy"),
        "ner_model": bench.spacy_ner_model(),
        "rounds": bench.rounds,
        "passes": bench.passes,
    }
    found = bench.laboratory.run("decode_raw_text", arguments)
    rates = found["tokens_per_second"]
    rows = []
    for name, words in (("first", "first pass"), ("warm", "warm")):
        rows += [
            Row(f"raw text, {words}", rates[name], "tokens/s"),
            Row(f"raw text with confidences, {words}", rates[f"{name}_confidence"], "tokens/s"),
            Row(f"raw text, spaCy ner, {words}", rates[f"{name}_ner"], "tokens/s"),
            Row(f"raw text, tokenizer alone, {words}", rates[f"{name}_tokenizer"], "tokens/s"),
            ratio(f"raw text over spaCy ner, {words}", found, f"{name}_ner", name),
        ]
    return rows, found


def loading(bench: Bench) -> Outcome:
    """Size on disk, and the wait for the first Doc in a new process."""
    model = bench.cascade_model()
    size = sum(file.stat().st_size for file in Path(model).rglob("*") if file.is_file()) / 1e6
    found = [
        bench.laboratory.run("load_and_decode", {"model": model}, repeat=i)
        for i in range(bench.rounds + 1)
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


def scale(bench: Bench) -> Outcome:
    """Every feature of the corpus kept: `min_count = 1` in both stages."""
    pairs = [
        (bench.training_only(repeat), bench.training_only(repeat, min_count=1))
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


def compilation(bench: Bench) -> Outcome:
    """What the first run ever waits for the compiler, in an empty kernel cache."""
    tasks: dict[str, tuple[str, Mapping[str, Any]]] = {
        "training": ("compile_training", bench.few_sentences("memb.cfg")),
        "decoding": ("compile_decoding", {"model": bench.cascade_model()}),
    }
    rows, details = [], {}
    for name, (task, arguments) in tasks.items():
        with tempfile.TemporaryDirectory() as folder:
            runs = [
                bench.laboratory.run(task, arguments, 1, Path(folder), f"{folder}{i}")
                for i in range(3)
            ]
        cold, warm = (min(r["seconds"] for r in part) for part in (runs[:1], runs[1:]))
        computed = runs[0]["computed_seconds"] - min(r["computed_seconds"] for r in runs[1:])
        note = f"{cold:.1f} s cold less {warm:.1f} s warm; {computed:.1f} s of processor time"
        rows.append(Row(f"first compilation, {name}", cold - warm, "s", note))
        details[name] = runs
    return rows, details


_ALL = (
    accuracy, training, threads, memory, decoding, raw_text, confidences, loading, scale,
    compilation,
)  # fmt: skip
FIGURES: dict[str, Callable[[Bench], Outcome]] = {figure.__name__: figure for figure in _ALL}
