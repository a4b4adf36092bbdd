"""What a sequence is: training decides, and annotation cuts the same way."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from helpers import (
    SENTENCES,
    TEXTS,
    annotation,
    blank,
    cascade,
    make_doc,
    make_example,
    make_examples,
    train,
)
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.pipeline.saving import save_pipeline
from spacy_cascade.pipeline.sequences import Shown
from spacy_cascade.storage import model_file

TEXT = f"{TEXTS[0]} {TEXTS[1]} {TEXTS[3]}"
STARTS = [0, len(TEXTS[0].split()), len(f"{TEXTS[0]} {TEXTS[1]}".split())]
NO_RESOURCES: dict[str, Any] = {"patterns": {}, "lexicons": {}}
ONLINE = {
    "loss": {"@misc": "spacy_cascade.Hinge.v2"},
    "penalty": None,
    "trainer": {"@misc": "spacy_cascade.PassiveAggressive.v1", "passes": 3},
}


def joined(nlp: Language, is_marked: bool) -> Example:
    """Three sentences in one Doc."""
    spans, first = [], 0
    for i in (0, 1, 3):
        text, found = SENTENCES[i]
        spans += [(start + first, end + first, label) for start, end, label in found]
        first += len(text.split())
    return make_example(nlp, TEXT, spans, sentence_starts=STARTS if is_marked else ())


def trained(marked: Sequence[bool] = (True,), **settings: Any) -> Language:
    """A cascade that has learnt Docs of three sentences; marked: whether each has their starts."""
    nlp = cascade(settings, settings)
    train(nlp, [joined(nlp, is_marked) for is_marked in marked])
    return nlp


known = cache(lambda is_marked: trained([is_marked]))
"""Only to annotate with, and to copy."""


def found(nlp: Language, starts: Sequence[int], text: str = TEXT) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return annotation(nlp(make_doc(nlp.vocab, text, starts)))


def cuts(nlp: Language) -> set[bool | None]:
    return {pipe.of_sentences for _, pipe in nlp.pipeline if hasattr(pipe, "of_sentences")}


@pytest.mark.parametrize("settings", [{}, ONLINE], ids=["whole corpus", "online"])
@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ([True], True),
        ([False], False),
        ([True, True, False], True),
        ([False, True, False], False),
    ],
)
def test_most_tokens_of_training_decide(
    marked: list[bool], expected: bool, settings: dict[str, Any]
) -> None:
    assert cuts(trained(marked, **settings)) == {expected}


def test_docs_of_one_token_say_nothing() -> None:
    nlp = cascade()
    one = [make_example(nlp, "IL-2", [(0, 1, "protein")], sentence_starts=[0]) for _ in range(20)]
    train(nlp, [*one, joined(nlp, False)])
    assert cuts(nlp) == {False}


def test_tokens_of_docs_with_two_words_or_more_are_counted() -> None:
    vocab = blank().vocab
    docs = [make_doc(vocab, "a"), make_doc(vocab, "a b"), make_doc(vocab, "a b c")]
    marked = [make_doc(vocab, "a b", [0]), make_doc(vocab, "a b c d", [0, 2])]
    shown = Shown(with_sentences=1)
    shown.add(read_tokens([*docs, *marked, make_doc(vocab, "a", [0])], ()))
    assert shown == Shown(with_sentences=7, without=5)
    model: Any = SimpleNamespace(attrs={})
    for with_sentences, expected in ((4, False), (5, False), (6, True)):
        Shown(with_sentences, 5).decide(model)
        assert model.attrs == {"sentences": expected}


def test_a_model_of_documents_ignores_sentence_starts() -> None:
    """Scores to the last bit, whatever ran before: no mark, right ones, one at each token."""
    nlp = known(False)
    every = range(len(TEXT.split()))
    assert found(nlp, []) == found(nlp, STARTS) == found(nlp, every)
    (lists,) = nlp.get_pipe("cascade_segmenter").nbest(make_doc(nlp.vocab, TEXT, STARTS), 2)
    assert len(lists) == 2


def test_a_model_of_sentences_cuts_them() -> None:
    """Without features of the document each is found as by itself."""
    words = {"@misc": "spacy_cascade.Templates.v1", "templates": ["word@-1..1"], **NO_RESOURCES}
    nlp = trained(model={"min_count": 1, "templates": words})
    cut = found(nlp, STARTS)["scores"]["cascade"]
    parts = [found(nlp, [0], text)["scores"]["cascade"] for text in (TEXTS[0], TEXTS[1], TEXTS[3])]
    assert cut == pytest.approx([score for part in parts for score in part], abs=1e-12)
    assert cut != pytest.approx(found(nlp, [])["scores"]["cascade"], abs=1e-9)


def test_what_annotating_components_set_in_training_decides() -> None:
    """spaCy shows `initialize` the bare Docs, and `update` those that a sentencizer has cut."""
    for settings in ({}, ONLINE):
        nlp = cascade(settings, settings)
        nlp.add_pipe("sentencizer", first=True)
        nlp.initialize(lambda nlp=nlp: [joined(nlp, False)])
        assert cuts(nlp) == {False}
        for _ in range(2):
            nlp.update([joined(nlp, False)], annotates=["sentencizer"])
        assert cuts(nlp) == {True}


def test_a_new_training_decides_anew() -> None:
    nlp = trained([False])
    train(nlp, [joined(nlp, True)])
    assert cuts(nlp) == {True}


def test_examples_that_come_with_updates_decide() -> None:
    nlp = cascade()
    nlp.initialize()
    for _ in range(3):
        nlp.update([joined(nlp, True)])
    nlp.get_pipe("cascade_classifier").sync_weights()
    assert cuts(nlp) == {True}


def saved_on_disk(nlp: Language, folder: Any) -> Language:
    save_pipeline(nlp, folder)
    return spacy.load(folder)


def in_other_pipeline(nlp: Language, folder: Any) -> Language:
    other = blank()
    for name in nlp.pipe_names:
        other.add_pipe(name, source=nlp)
    return other


COPIES: dict[str, Callable[[Language, Any], Language]] = {
    "disk": saved_on_disk,
    "bytes": lambda nlp, _: cascade().from_bytes(nlp.to_bytes()),
    "pickle": lambda nlp, _: pickle.loads(pickle.dumps(nlp)),
    "copy": lambda nlp, _: copy.deepcopy(nlp),
    "source": in_other_pipeline,
}


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("how", COPIES)
def test_copies_cut_the_same_way(how: str, is_marked: bool, tmp_path: Any) -> None:
    nlp = known(is_marked)
    again = COPIES[how](nlp, tmp_path / "saved")
    assert cuts(again) == {is_marked}
    for starts in ([], STARTS):
        assert found(again, starts) == found(nlp, starts)


@pytest.mark.parametrize("is_marked", [True, False])
def test_adapting_changes_nothing(is_marked: bool) -> None:
    nlp = cascade().from_bytes(known(is_marked).to_bytes())
    nlp.update([joined(nlp, not is_marked)])
    assert cuts(nlp) == {is_marked}


def test_a_model_saved_without_it_takes_what_there_is() -> None:
    """As all models did before training decided."""
    nlp, cut = (cascade().from_bytes(known(False).to_bytes()) for _ in range(2))
    for name in nlp.pipe_names:
        pipe: Any = nlp.get_pipe(name)
        header, arrays = model_file.unpack(pipe.to_bytes(), name)
        del header["sentences"]
        pipe.from_bytes(model_file.pack(header, arrays))
        cut.get_pipe(name).model.attrs["sentences"] = True
    assert cuts(nlp) == {None}
    assert found(nlp, STARTS) == found(cut, STARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(make_doc(nlp.vocab, TEXT))


def test_a_doc_without_sentences_is_one_and_this_is_said_once() -> None:
    """By name of the component that meets it first, and with what to do."""
    nlp = cascade().from_bytes(known(True).to_bytes())
    bare = make_doc(nlp.vocab, TEXT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(make_doc(nlp.vocab, TEXT, STARTS))
        nlp(Doc(nlp.vocab))
        nlp(make_doc(nlp.vocab, "IL-2"))
    with pytest.warns(UserWarning, match="'cascade_segmenter' was trained on.*sentencizer") as said:
        nlp(bare)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(nlp.pipe([make_doc(nlp.vocab, TEXT), make_doc(nlp.vocab, TEXTS[0])]))


def test_training_on_mixed_docs_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained([True, True, False])


def test_features_are_learnt_of_what_is_cut() -> None:
    """A word beyond the end of a sentence is no feature of a model of sentences."""
    sizes = []
    for is_marked in (True, False):
        nlp = cascade()
        nlp.initialize(lambda nlp=nlp, is_marked=is_marked: [joined(nlp, is_marked)])
        sizes.append(len(nlp.get_pipe("cascade_segmenter").space))
    assert sizes[0] < sizes[1]


def test_sentences_by_themselves_are_documents() -> None:
    nlp = cascade()
    train(nlp, make_examples(nlp))
    assert cuts(nlp) == {False}
