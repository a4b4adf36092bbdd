"""Words that training has not seen: how they are counted, when they are many, and who keeps it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from helpers import SENTENCES, TEXTS, blank, make_doc, make_examples, segmenter_alone
from spacy_cascade import fit
from spacy_cascade.pipeline import unseen_words as module
from spacy_cascade.pipeline.unseen_words import WordCounts, WordSample, count_words
from spacy_cascade.tools.annotation.adapting import adapt
from spacy_cascade.workflows.calibrate import calibrate
from spacy_cascade.workflows.reconfigure import with_settings

NEW = "Elephants need two gardens , and the GENE is unknown in St4rs or über cells"
SEGMENTER = "cascade_segmenter"


def counted_by_hand(text: str, learnt: Sequence[str] = TEXTS) -> WordCounts:
    """Ordinary words by Python's own texts and sets."""
    known = {word.lower() for sentence in learnt for word in sentence.split()}
    ordinary = [word for word in text.split() if word == word.lower() and word.isalpha()]
    return WordCounts(len(ordinary), sum(word not in known for word in ordinary))


@pytest.mark.parametrize("text", [NEW, *TEXTS, "", ", 12 DNA"])
def test_ordinary_words_are_counted(trained: Language, text: str) -> None:
    docs = [make_doc(trained.vocab, text), Doc(trained.vocab)]
    assert count_words(trained.get_pipe(SEGMENTER), docs) == counted_by_hand(text)


def test_names_and_numbers_do_not_count() -> None:
    assert counted_by_hand(NEW) == WordCounts(11, 6)


def test_other_components_count_nothing(trained: Language) -> None:
    docs = [make_doc(trained.vocab, NEW)]
    assert count_words(trained.get_pipe("cascade_classifier"), docs) == WordCounts()
    assert count_words(len, docs) == WordCounts()
    without = segmenter_alone(
        model={"min_count": 1, "templates": {"@misc": "spacy_cascade.JnlpbaTemplates.v1"}}
    )
    assert count_words(without.get_pipe(SEGMENTER), docs) == WordCounts()


@pytest.mark.parametrize(
    ("n", "unseen", "usual", "warns"),
    [
        (1000, 131, 0.10, False),
        (1000, 151, 0.10, True),
        (1000, 150, 0.10, False),
        (1000, 30, 0.01, False),
        (1000, 41, 0.01, True),
        (999, 999, 0.01, False),
        (1000, 1000, None, False),
        (1000, 1000, 0.7, False),
    ],
)
def test_far_more(n: int, unseen: int, usual: float | None, warns: bool) -> None:
    assert (WordCounts(n, unseen).warning(usual) is not None) == warns


def test_the_warning_has_both_shares_and_what_to_do() -> None:
    text = WordCounts(2000, 500).warning(0.04)
    assert text is not None
    for part in ("25% of the ordinary words", "only 4% of those", "adapt", "calibrate it on them"):
        assert part in text


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few words are enough."""
    monkeypatch.setattr(module, "FEWEST", 1)


def share(nlp: Language) -> float | None:
    found: float | None = nlp.get_pipe(SEGMENTER).unseen_words  # type: ignore[attr-defined]
    return found


def unlike_training(nlp: Language) -> Language:
    """Calibrated on training texts and one with three new words of five."""
    texts = [*SENTENCES, ("Human lymphocytes surely lack one new gene", [(0, 2, "cell")])]
    return calibrate(nlp, make_examples(nlp, texts))[0]


EXPECTED = sum((counted_by_hand(text) for text in TEXTS), WordCounts(6, 3))


@pytest.mark.usefixtures("few")
def test_calibration_keeps_the_share(trained: Language, tmp_path: Path) -> None:
    calibrated = unlike_training(trained)
    assert share(calibrated) == pytest.approx(EXPECTED.unseen / EXPECTED.n, abs=1e-4)
    assert share(trained) is None
    calibrated.to_disk(tmp_path)
    copy = blank().from_config(calibrated.config).from_bytes(calibrated.to_bytes())
    for again in (spacy.load(tmp_path), copy, with_settings(calibrated)):
        assert share(again) == share(calibrated)
        assert WordSample(again).usual == share(calibrated)
    assert share(calibrate(calibrated, make_examples(trained))[0]) == 0.0


def test_few_words_say_nothing(trained: Language) -> None:
    calibrated = with_settings(trained, {SEGMENTER: {"unseen_words": 0.0}})
    assert share(unlike_training(calibrated)) is None, "an earlier share is no longer right"


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("has_dev", [False, True])
def test_fit_keeps_the_share_of_what_it_does_not_learn(has_dev: bool) -> None:
    """Without dev a fifth of the shuffled sentences is left out in turn."""
    nlp = blank()
    examples = make_examples(nlp)
    if has_dev:
        fit(nlp, examples[:4], examples[4:], updates=1)
        parts = [(TEXTS[:4], TEXTS[4:])]
    else:
        fit(nlp, examples, updates=1)
        texts = list(TEXTS)
        random.Random(0).shuffle(texts)
        parts = [([t for t in texts if t not in texts[i::5]], texts[i::5]) for i in range(5)]
    counts = (counted_by_hand(text, learnt) for learnt, held in parts for text in held)
    expected = sum(counts, WordCounts())
    assert 0.3 < expected.unseen / expected.n < 0.9
    assert share(nlp) == pytest.approx(expected.unseen / expected.n, abs=1e-4)


@pytest.mark.usefixtures("few")
def test_adapting_makes_words_known(trained: Language) -> None:
    nlp = with_settings(trained, {SEGMENTER: {"unseen_words": 0.1}})
    new = [("Elephants need two gardens", [(0, 1, "cell")])]
    docs = [example.predicted for example in make_examples(nlp, new)]
    before, after = WordSample(nlp), WordSample(nlp)
    before.add(docs[0])
    assert before.warning
    adapt(nlp, make_examples(nlp, new))
    after.add(docs[0])
    assert after.words == WordCounts(3, 0)
    assert after.warning is None


def test_one_of_many_docs_is_counted(trained: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first words, of which all are counted; they are looked up many at once."""
    monkeypatch.setattr(module, "FEWEST", 20)
    monkeypatch.setattr(module, "_AT_ONCE", 40)
    nlp = with_settings(trained, {SEGMENTER: {"unseen_words": 0.1}})
    sample = WordSample(nlp, each=3)
    for i in range(3 * 70):
        sample.add(make_doc(nlp.vocab, "one two cells" if i % 3 == 0 else NEW))
    first = WordCounts(2 * 3 + 3 * 11, 2 * 2 + 3 * 6)
    later = WordCounts(3 * 68, 2 * 68)
    assert sample.words == first + later
    assert sample.words == first + later, "asking does not count"


def test_without_a_share_nothing_is_counted(trained: Language) -> None:
    sample = WordSample(trained)
    sample.add(make_doc(trained.vocab, NEW))
    assert (sample.usual, sample.words, sample.warning) == (None, WordCounts(), None)
