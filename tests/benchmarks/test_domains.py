"""The experiment on domains: its corpora and configs, and its tables."""

from __future__ import annotations

from itertools import chain, product
from pathlib import Path
from typing import Any

from spacy.lang.en import English
from spacy.util import load_config, load_model_from_config

from benchmarks.lib.corpora import join, keep_labels, read_docs
from benchmarks.suite import domains
from benchmarks.suite.domains import Rows, make_report
from helpers import sample_docs, write_sample

TARGETS = ("one", "two")


def test_corpora_are_cut_joined_and_relabelled(tmp_path: Path) -> None:
    source = str(write_sample(tmp_path / "train.spacy"))
    parts = {name: str(tmp_path / f"{name}.spacy") for name in ("few", "both", "protein")}
    assert domains.first_sentences(source, parts["few"], 3)["sentences"] == 3
    n_docs = join([source, parts["few"]], parts["both"])["documents"]
    assert n_docs == len(read_docs(source)) + len(read_docs(parts["few"]))
    keep_labels(source, parts["protein"], ["protein"])
    gold = [e.label_ for doc in sample_docs(English().vocab) for e in doc.ents]
    found = [e.label_ for doc in read_docs(parts["protein"]) for e in doc.ents]
    assert found == [label for label in gold if label == "protein"] != gold


def test_configs_can_be_used(tmp_path: Path) -> None:
    architectures = {}
    for system in chain.from_iterable(domains.SYSTEMS.values()):
        path = tmp_path / f"{system}.cfg"
        domains.write_config(system, str(path))
        paths = {"paths.train": "t.spacy", "paths.dev": "d.spacy"}
        config = load_config(path, overrides=paths)
        nlp = load_model_from_config(config, auto_fill=True)
        architectures[system] = nlp.get_pipe("cascade_segmenter").model.name
        assert nlp.config.interpolate()["corpora"]["dev"]["path"] == "d.spacy"
    assert architectures == {
        "CRF": "cascade_linear_chain", "MEMM": "cascade_local_chain",
        "cascade": "cascade_linear_chain", "online cascade": "cascade_linear_chain",
    }  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """Adapted is better than pooled on one target, and better than the target alone on both."""

    def scores(target: float, source: float) -> dict[str, Any]:
        return {
            "target": {"f1": target, "by_type": {"PER": target + 1}},
            "source": {"f1": source, "by_type": {}},
        }

    found = []
    for target, (regime, f1) in product(
        TARGETS, {"matched": 60.0, "mismatched": 40.0, "pooled": 70.0}.items()
    ):
        named = {"system": "CRF", "target": target, "regime": regime}
        found.append({**named, "scores": scores(f1, 90.0)})
    for target, size in product(TARGETS, (100, 0)):
        f1 = 50.0 if size else (71.0 if target == "one" else 69.0)
        named = {"system": "CRF", "target": target, "regime": "adapted", "prior": "curvature"}
        found.append({**named, "size": size, "scores": scores(f1, 88.5)})
    return found


def test_tables() -> None:
    sentences = {f"{target} {size}": size or 700 for target in TARGETS for size in (100, 0)}
    machine = {"processor": "x", "system": "y", "python": "3", "packages": {}}
    report = make_report({"rows": rows(), "sentences": sentences, "machine": machine})
    assert "| CRF, curvature | 1 | 2 |" in report
    assert "| CRF, curvature | -1.50 | -1.50 |" in report
    assert "| CRF, curvature | 71.00 (72.00) | 69.00 (70.00) |" in report
    assert Rows(rows()).curves("one", sentences) == {
        "CRF, curvature": [(0.0, 40.0), (100, 50.0), (700, 71.0)]
    }
