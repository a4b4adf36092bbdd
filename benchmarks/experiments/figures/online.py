"""The figures of the online cascade, its N-best lists and its reranker."""

from __future__ import annotations

from collections.abc import Callable

from ...reports.figure_report import Row
from .batch import Outcome, ratio
from .setup import LISTED, RERANKED, FigureSetup, best_f1, crfsuite_seconds, seconds_to_best


def online_accuracy(setup: FigureSetup) -> Outcome:
    online, cascade = setup.online(), setup.cascade()
    single, peer = setup.online_one_phase(), setup.system("crfsuite_pa")
    f1 = best_f1(online)
    note = f"configs/ocr.cfg, the best of {len(online['series'])} evaluations"
    rows = [
        Row("dev F1 of the online cascade", f1, "F1", note),
        Row("online cascade over the cascade", f1 - best_f1(cascade), "points"),
        Row("dev F1 of our single-phase online CRF", best_f1(single), "F1", "crf_online.cfg"),
    ]
    if peer:
        note = f"PA-I, c = 1, {peer['iterations']} iterations"
        rows.append(Row("dev F1 of crfsuite pa", peer["f1"], "F1", note))
    return rows, {"online": online, "cascade": cascade, "single_phase": single, "crfsuite": peer}


def online_training(setup: FigureSetup) -> Outcome:
    online, peer = setup.online(), setup.system("crfsuite_pa")
    whole = online["seconds"], online["computed_seconds"]
    good = seconds_to_best(online)
    note = f"{online['epochs']} epochs, {online['updates']} updates, encoding included"
    rows = [
        Row("online training", whole[0], "s", f"{note}; {whole[1]:.1f} s of processor time"),
        Row("online training to 0.1 F1 below the best", good[0], "s", _processor(good[1])),
    ]
    if peer:
        theirs = crfsuite_seconds(peer)
        note = f"{peer['features_seconds']:.1f} s for features, {peer['iterations']} iterations"
        rows.append(Row("training of crfsuite pa", theirs[0], "s", note))
        for extent, ours in (("", whole), (" to 0.1 F1 below the best", good)):
            note = f"{ours[1] / theirs[1]:.2f} x by processor time"
            measure = f"online training time{extent} over crfsuite pa"
            rows.append(Row(measure, ours[0] / theirs[0], "x", note))
        passes = whole[0] / online["epochs"], theirs[0] / peer["iterations"]
        note = f"{passes[0]:.2f} s against {passes[1]:.2f} s, all else included"
        rows.append(Row("time of an epoch over crfsuite pa", passes[0] / passes[1], "x", note))
    return rows, {"online": online, "crfsuite": peer}


def _processor(seconds: float) -> str:
    return f"{seconds:.1f} s of processor time"


def nbest(setup: FigureSetup) -> Outcome:
    """Oracle F1 of N-best lists, and F1 after reranking."""
    arguments = {"model": setup.online_model(), "dev": setup.path("dev.spacy")}
    oracle, reranked = setup.runner.run("lib.reranking:oracle", arguments), setup.reranked()
    of_lists = dict(oracle["curve"])
    alone, tuned, trained = (reranked[name] for name in ("alone", "tuned", "trained"))
    note = f"over {alone:.2f}, the cascade alone on the same sentences"
    rule = f"n_best {tuned['n_best']}, weight {tuned['weight']:g}, tuned on dev"
    learnt = f"{trained['n_best']} best; settings and {trained['passes']} passes chosen on dev"
    gained = "F1 gained by reranking over the online cascade"
    rows = [
        Row("span F1 of the best segmentation", of_lists[1], "F1"),
        Row("oracle F1 of the 11 best segmentations", of_lists[11], "F1"),
        Row("dev F1 with reranking by both scores", tuned["f1"], "F1", rule),
        Row("dev F1 with a trained reranker", trained["f1"], "F1", learnt),
        Row(f"{gained}, by both scores", tuned["f1"] - alone, "points", note),
        Row(gained, trained["f1"] - alone, "points", note),
        Row("training of the reranker", reranked["training_seconds"], "s", "stages 4 times more"),
    ]
    curves = {
        "oracle F1 of the N best segmentations": oracle["curve"],
        "F1 of entities after reranking: by the scores of both stages": reranked["curve_tuned"],
        "F1 of entities after reranking: with learnt features too": reranked["curve_trained"],
    }
    return rows, {"curves": curves, "oracle": oracle, "reranked": reranked}


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
    found = setup.runner.run("peers.decoding_speed:decode_reranked", arguments)
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


_ALL = (online_accuracy, online_training, nbest, nbest_speed, reranked_speed)
ONLINE_FIGURES: dict[str, Callable[[FigureSetup], Outcome]] = {
    figure.__name__: figure for figure in _ALL
}
