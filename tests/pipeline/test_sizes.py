"""Models that could not be trained or saved are refused before anything large is made."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from spacy.training import Example

from helpers import add_classifier, add_segmenter, blank, make_examples
from spacy_cascade import TrainingError
from spacy_cascade.pipeline import sizes
from spacy_cascade.pipeline.sizes import (
    MOST_TRANSITIONS,
    MOST_WITH_PAIRS,
    check_labels,
    check_weights,
)
from spacy_cascade.storage import header
from spacy_cascade.storage.archive import MAXIMUM_SIZE

GIGABYTE = 2**30
WITH_PAIRS = {"model": {"min_count": 1, "label_pairs": True}}
WITHOUT_PAIRS = {"model": {"min_count": 1, "label_pairs": False}}


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets how much memory there is; 8 GiB."""

    def have(size: int) -> None:
        monkeypatch.setattr(sizes, "available_memory", lambda: size)

    have(8 * GIGABYTE)
    return have


def names(n: int) -> list[str]:
    return [f"L{i}" for i in range(n)]


def tagger(**settings: Any) -> Any:
    return blank().add_pipe("cascade_tagger", config=settings)


def test_a_tagger_has_as_many_labels_as_transitions_allow(memory: Any) -> None:
    most = 4095
    assert most * (most + 1) <= MOST_TRANSITIONS < (most + 1) * (most + 2)
    check_labels(tagger(**WITHOUT_PAIRS), names(most))
    with pytest.raises(
        TrainingError, match=r"'cascade_tagger' cannot have 4,096 labels.*16,781,312 tra.*[Mm]erge"
    ):
        check_labels(tagger(**WITHOUT_PAIRS), names(most + 1))


def test_label_pairs_allow_fewer(memory: Any) -> None:
    memory(2**50)
    most = 723
    assert most * (most + 1) <= MOST_WITH_PAIRS < (most + 1) * (most + 2)
    check_labels(tagger(**WITH_PAIRS), names(most))
    check_labels(tagger(**WITHOUT_PAIRS), names(most + 1))
    with pytest.raises(TrainingError, match=r"724 labels.* 524,900 tra.*Set label_pairs = false"):
        check_labels(tagger(**WITH_PAIRS), names(most + 1))


@pytest.mark.parametrize(
    ("n_types", "label_pairs", "expected"),
    [
        (200, True, r"200 labels make 161,601 trans.*389\.1 GiB.*Set label_pairs = false"),
        (1000, True, r"4,008,001 transitions.*5 milliseconds.*Set label_pairs = false.*typed = fa"),
        # Without label pairs these would be too many, too.
        (5000, True, r"100,040,001 transitions, and with more than 524,288.*\. Have a cascade"),
        (2000, False, None),
        (2100, False, r"17,656,801 transitions, and with more than 16,777,216.*\. Have a cascade"),
    ],
)
def test_types_in_one_phase(
    n_types: int, label_pairs: bool, expected: str | None, memory: Any
) -> None:
    model = {"min_count": 1, "label_pairs": label_pairs}
    segmenter = add_segmenter(blank(), typed=True, scheme="BILOU", model=model)
    if expected is None:
        check_labels(segmenter, names(n_types))
        return
    with pytest.raises(TrainingError, match=expected):
        check_labels(segmenter, names(n_types))


def test_labels_that_a_file_cannot_hold(memory: Any) -> None:
    classifier = add_classifier(blank())
    settings = sizes.make_header(classifier.model.name, [], classifier._identity(), classifier.cfg)
    others = sum(map(header._text(settings).count, b",[{"))
    most = header._MAXIMUM_VALUES - others + 1
    check_labels(classifier, names(most))
    with pytest.raises(
        TrainingError,
        match=r"'cascade_classifier' cannot have 8,\d+ labels.* 8,193 values.*8,192.*gold_labels",
    ):
        check_labels(classifier, names(most + 1))
    with pytest.raises(TrainingError, match=r"take [\d,]+ bytes as text.*262,144"):
        check_labels(classifier, [f"{'x' * 200}{i}" for i in range(1400)])


def test_memory_of_label_pairs(memory: Any) -> None:
    """A matrix `[E, E]` says how label pairs share weights."""
    needed = 2 * (20 * 21) ** 2 * 8 + 20 * 21 * 37
    memory(needed)
    check_labels(tagger(**WITH_PAIRS), names(20))
    memory(needed - 1)
    with pytest.raises(TrainingError, match=r"20 labels make 420 transi.*label_pairs = false"):
        check_labels(tagger(**WITH_PAIRS), names(20))
    check_labels(tagger(**WITHOUT_PAIRS), names(20))


def test_memory_of_weights(memory: Any) -> None:
    segmenter = add_segmenter(blank(), typed=True, **WITHOUT_PAIRS)
    n_weights = 1000 * (1 + 3 * 4)
    needed = n_weights * (20 + 5 * 8)
    memory(needed)
    check_weights(segmenter, 3, 1000)
    memory(needed - 1)
    with pytest.raises(
        TrainingError,
        match=r"3 labels make 13 .*1,000 features.*13,000 weights.*at least 0\.0 GiB.*\. "
        r"Raise min_count in \[model\], or have a cascade,.*typed = fal",
    ):
        check_weights(segmenter, 3, 1000)


def test_weights_that_a_file_cannot_hold(memory: Any) -> None:
    memory(2**50)
    classifier = add_classifier(blank())
    most = (MAXIMUM_SIZE - 1) // 3 // 100
    check_weights(classifier, 100, most)
    with pytest.raises(TrainingError, match=r"could not be saved.*a file can hold 2,000,000,000"):
        check_weights(classifier, 100, most + 1)
    check_weights(tagger(**WITHOUT_PAIRS), 100, most + 1)  # mostly zero, without a penalty


@pytest.mark.parametrize("typed", [True])
def test_initialize_refuses_before_a_structure_is_made(
    typed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise AssertionError("something was made")

    nlp = blank()
    segmenter = add_segmenter(nlp, typed=typed)
    monkeypatch.setattr(type(segmenter), "_make_structure", fail)
    monkeypatch.setattr(type(segmenter.space), "learn", fail)
    labels = names(9000)
    text, wanted = " ".join(["x"] * 9000), [(i, i + 1, label) for i, label in enumerate(labels)]
    doc = nlp.make_doc(text)
    example = Example.from_dict(doc, {"entities": [(2 * s, 2 * s + 1, x) for s, _, x in wanted]})
    # One label, `ENT`, is not too much: there the first thing that is made fails.
    error = TrainingError if typed else AssertionError
    match = "'cascade_segmenter' cannot have 9,000 labels" if typed else "something was made"
    with pytest.raises(error, match=match):
        segmenter.initialize(lambda: [example], nlp=nlp)


def test_initialize_refuses_weights_that_memory_cannot_hold(memory: Any) -> None:
    memory(2000)
    nlp = blank()
    add_classifier(nlp)
    with pytest.raises(
        TrainingError,
        match=r"memory for 'cascade_classifier'.*weights.*available\. "
        r"Raise min_count in \[model\], or (?!set label_pairs)",
    ):
        nlp.initialize(lambda: make_examples(nlp))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/meminfo": "MemTotal: 16 kB\nMemFree: 2 kB\nMemAvailable: 8 kB\n"}, 8192),
        ({"proc/meminfo": "MemAvailable: 8 kB\n", "sys/fs/cgroup/memory.max": "4096\n"}, 4096),
        ({"proc/meminfo": "MemAvailable: 8 kB\n", "sys/fs/cgroup/memory.max": "max\n"}, 8192),
        (
            {
                "proc/meminfo": "MemAvailable: 8 kB\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "1024\n",
            },
            1024,
        ),
    ],
)
def test_available_memory(files: dict[str, str], expected: int, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert sizes.available_memory(tmp_path) == expected


@pytest.mark.parametrize("label_pairs", [True, False])
def test_so_many_transitions_and_no_more(
    label_pairs: bool, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    segmenter = add_segmenter(blank(), model={"min_count": 1, "label_pairs": label_pairs})
    most = MOST_WITH_PAIRS if label_pairs else MOST_TRANSITIONS
    monkeypatch.setattr(type(segmenter), "_structure_size", lambda *_: (most, 1))
    check_labels(segmenter, names(2))
    monkeypatch.setattr(type(segmenter), "_structure_size", lambda *_: (most + 1, 1))
    advice = "Set label_pairs.*, or learn fewer labels" if label_pairs else "Learn fewer labels"
    with pytest.raises(TrainingError, match=rf"more for every token\. {advice} \(gold_labels\)\."):
        check_labels(segmenter, names(2))


@pytest.mark.parametrize(
    ("add", "expected"),
    [
        (lambda nlp, model: add_classifier(nlp), "Raise it, or learn fewer labels (gold_labels)."),
        (partial(add_segmenter, typed=False), "Raise it, or learn fewer labels (gold_labels)."),
        (partial(add_segmenter, typed=True), "Raise it, or have a cascade, whose segmenter needs"),
        (
            lambda _, **settings: SimpleNamespace(family=None),
            "Raise it, or merge labels in the corpus.",
        ),
    ],
)
def test_advice_of_components_without_label_pairs(add: Any, expected: str) -> None:
    assert sizes._advice(add(blank(), **WITHOUT_PAIRS), "raise it").startswith(expected)


def test_room_of_what_has_no_trainer() -> None:
    reranker: Any = blank().add_pipe("cascade_reranker")
    assert sizes.room_of(reranker, 10, 3) == (600, 0)


@pytest.mark.parametrize("label", ["", 7, "\ud800", None])
def test_labels_that_no_doc_can_have(label: Any) -> None:
    with pytest.raises(TrainingError, match=r"'it' cannot have the label"):
        sizes.check_names("it", ["A", label])
    sizes.check_names("it", ["A", " "])


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="Windows does not say it")
@pytest.mark.parametrize("text", [None, "MemAvailable: many\n", "MemAvailable:\n"])
def test_memory_is_all_that_is_built_in_where_linux_does_not_say(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    if text is not None:
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/meminfo").write_text(text)
    for limit, least in ((resource.RLIM_INFINITY, 8192 * 16), (1000, 1000)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        sizes_of = {"SC_PAGE_SIZE": 8192, "SC_PHYS_PAGES": 16}
        monkeypatch.setattr(os, "sysconf", sizes_of.__getitem__)
        assert sizes.available_memory(tmp_path) == least
    monkeypatch.setattr(os, "sysconf_names", {})
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert sizes.available_memory(tmp_path) is None
    for name in ("sysconf", "sysconf_names"):  # as on Windows
        monkeypatch.delattr(os, name)
    assert sizes.available_memory(tmp_path) is None
