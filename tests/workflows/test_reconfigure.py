"""Trained pipelines under other settings: what is filled in, and what goes along."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Config

from helpers import TEXTS, annotations
from spacy_cascade.workflows.reconfigure import to_be_loaded, with_settings


def test_what_a_config_leaves_out_has_its_default() -> None:
    vocab = Vocab()
    config = Config({
        "nlp": {"lang": "xx", "pipeline": ["cut"]},
        "components": {"cut": {"factory": "cascade_segmenter", "n_best": 2}},
    })  # fmt: skip
    nlp = to_be_loaded(config, vocab)
    assert nlp.vocab is vocab
    assert (nlp.get_pipe("cut").n_best, nlp.get_pipe("cut").threshold) == (2, 0.0)


def test_later_settings_win_and_the_pipeline_stays(trained: Language) -> None:
    changed = with_settings(
        trained, {"cascade_segmenter": {"n_best": 2, "threshold": 0.5}},
        {"cascade_segmenter": {"n_best": 3}, "cascade_classifier": {"threshold": 0.25}},
    )  # fmt: skip
    segmenter, classifier = (pipe for _, pipe in changed.pipeline)
    assert (segmenter.n_best, segmenter.threshold, classifier.threshold) == (3, 0.5, 0.25)
    assert changed.config["components"]["cascade_segmenter"]["n_best"] == 3
    assert trained.get_pipe("cascade_segmenter").n_best == 1


@pytest.fixture
def own_tokenizer(trained: Language, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Doc]:
    def split(text: str) -> Doc:
        return Doc(trained.vocab, words=text.split(" "))

    monkeypatch.setattr(trained, "tokenizer", split)
    return split


def test_a_tokenizer_that_cannot_be_saved_goes_along(
    trained: Language, own_tokenizer: Callable[[str], Doc]
) -> None:
    copied = with_settings(trained)
    assert copied.tokenizer is own_tokenizer
    assert copied.vocab is trained.vocab
    assert annotations(copied, TEXTS) == annotations(trained, TEXTS)
