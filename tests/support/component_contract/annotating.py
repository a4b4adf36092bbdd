"""Checks of how a trained component annotates."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from spacy.language import Language
from spacy.tokens import Doc, Span

from .case import Case, annotation
from .sample import SAMPLE_TEXTS

_N_THREADS = 4
_SIZES = 1, 3, 1000


def batches_do_not_matter(case: Case) -> None:
    """`nlp.pipe` finds what `nlp(text)` finds, with batches of any size, in any order."""
    for size in _SIZES:
        found = [annotation(doc) for doc in case.trained.pipe(SAMPLE_TEXTS, batch_size=size)]
        case.equal(f"batches of {size}", case.expected, found)
    found = [annotation(doc) for doc in case.trained.pipe(reversed(SAMPLE_TEXTS))]
    case.equal("texts in reversed order", case.expected[::-1], found)


def predict_changes_nothing(case: Case) -> None:
    """`predict` leaves Docs as they are, and `set_annotations` writes what a call would."""
    component = case.of(case.trained)
    if not hasattr(component, "predict"):
        return
    before = _docs_before(case.trained, case.name)
    states = [doc.to_bytes() for doc in before]
    predictions = component.predict(before)
    case.equal("predict", states, [doc.to_bytes() for doc in before])
    component.set_annotations(before, predictions)
    with case.trained.select_pipes(enable=_up_to(case.trained, case.name)):
        whole = [case.trained(text) for text in SAMPLE_TEXTS]
    case.equal("set_annotations", [annotation(d) for d in whole], [annotation(d) for d in before])


def a_second_run_changes_nothing(case: Case) -> None:
    """A Doc that goes through the whole pipeline again has what it had."""
    for text, expected in zip(SAMPLE_TEXTS, case.expected, strict=True):
        doc = case.trained(case.trained(text))
        case.equal(f"the text {text!r}", expected, annotation(doc))


def sentences_count_as_in_training(case: Case) -> None:
    """Trained on Docs without sentence starts, it finds the same in Docs that have some."""
    for text, expected in zip(SAMPLE_TEXTS, case.expected, strict=True):
        doc = case.trained.make_doc(text)
        for token in doc:
            token.is_sent_start = token.i % 3 == 0
        case.equal(f"the text {text!r}", expected, annotation(case.trained(doc)))


def threads_find_the_same(case: Case) -> None:
    """Threads that annotate with one pipeline find what one finds."""
    nlp, expected = case.copy(), case.expected

    def work(_: int) -> list[object]:
        return [annotation(doc) for doc in nlp.pipe(SAMPLE_TEXTS, batch_size=2)]

    with ThreadPoolExecutor(_N_THREADS) as pool:
        for number, found in enumerate(pool.map(work, range(2 * _N_THREADS))):
            case.equal(f"run {number + 1} of {_N_THREADS} threads", expected, found)


def earlier_entities_stay(case: Case) -> None:
    """Entities that another component set earlier are entities afterwards."""
    for text in SAMPLE_TEXTS:
        doc = case.trained.make_doc(text)
        earlier = Span(doc, 0, min(2, len(doc)), label="earlier")
        doc.set_ents([earlier])
        doc = case.trained(doc)
        case.true(
            f"the text {text!r}", "the entity that was set earlier",
            (0, earlier.end, "earlier") in [(e.start, e.end, e.label_) for e in doc.ents],
            f"{[(e.text, e.label_) for e in doc.ents]}",
        )  # fmt: skip


def blocked_tokens_stay_outside(case: Case) -> None:
    """Tokens that are blocked for entities are in none afterwards."""
    for text in SAMPLE_TEXTS:
        doc = case.trained.make_doc(text)
        doc.set_ents([], blocked=[doc[:]], default="unmodified")
        doc = case.trained(doc)
        case.equal(f"the text {text!r}", (), doc.ents)


def odd_documents_are_annotated(case: Case) -> None:
    """Empty, long and strange Docs raise nothing, and change nothing in a batch with others."""
    for what, doc in _odd_docs(case.trained):
        with case.no_error(what):
            annotated = case.trained(doc)
            case.true(what, "no annotation of an empty Doc", len(doc) or not annotated.ents)
    odd = [doc for _, doc in _odd_docs(case.trained)]
    mixed = [x for text in SAMPLE_TEXTS for x in (*odd[:3], case.trained.make_doc(text))]
    found = [annotation(doc) for doc in case.trained.pipe(mixed, batch_size=7)][3::4]
    case.equal("a batch with odd Docs", case.expected, found)
    case.equal("no Docs at all", [], list(case.trained.pipe([])))


def memory_zones_change_nothing(case: Case) -> None:
    """In a memory zone, whose strings are freed at its end, the same is found; twice."""
    nlp, expected = case.copy(), case.expected
    for time in ("first", "second"):
        with nlp.memory_zone():
            found = [annotation(nlp(text)) for text in SAMPLE_TEXTS]
            list(nlp.pipe(f"{time} new words{i} in the zone ." for i in range(20)))
        case.equal(f"the {time} zone", expected, found)


CHECKS = (
    batches_do_not_matter,
    predict_changes_nothing,
    a_second_run_changes_nothing,
    sentences_count_as_in_training,
    threads_find_the_same,
    earlier_entities_stay,
    blocked_tokens_stay_outside,
    odd_documents_are_annotated,
    memory_zones_change_nothing,
)


def _up_to(nlp: Language, name: str) -> list[str]:
    return nlp.pipe_names[: nlp.pipe_names.index(name) + 1]


def _docs_before(nlp: Language, name: str) -> list[Doc]:
    """Docs of the sample as they come to a component."""
    with nlp.select_pipes(enable=_up_to(nlp, name)[:-1]):
        return [nlp(text) for text in SAMPLE_TEXTS]


def _odd_docs(nlp: Language) -> Iterator[tuple[str, Doc]]:
    for what, text in {
        "an empty text": "",
        "spaces": "   ",
        "line breaks": "\n\n \t\r\n",
        "one letter": "x",
        "a word of 10,000 letters": "x" * 10_000,
        "zeros and control characters": "\x00 \x01 \x7f \ufeff",
        "right to left, emoji, combining characters": "\u202eabc \U0001f9ec e\u0301\u0301 \u0600",
        "2,000 times the same word": "IL-2 " * 2000,
        "brackets": "((((( IL-2 ) [ ( STAT5",
    }.items():
        yield what, nlp.make_doc(text)
    words = SAMPLE_TEXTS[0].split()
    every = Doc(nlp.vocab, words=words, sent_starts=[True] * len(words))
    yield "a Doc in which every token is a sentence", every
    yield "words that are spaces", Doc(nlp.vocab, words=[" ", "\n", "IL-2", " "])
