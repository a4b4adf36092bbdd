"""What examples of spaCy keep, and what training frees of it."""

from __future__ import annotations

from spacy.tokens import Doc
from spacy.training import Example

from helpers import blank
from spacy_cascade.pipeline.corpus import forget_words

WORDS, OTHER_WORDS = ["p53", "-", "null", "mice"], ["p53-null", "mice"]


def example() -> Example:
    vocab = blank().vocab
    return Example(Doc(vocab, WORDS, [False, False, True, False]), Doc(vocab, OTHER_WORDS))


def test_words_that_no_alignment_needs_are_freed():
    one = example()
    assert one._cached_words_x == WORDS
    forget_words([one])
    assert not one._cached_words_x
    assert not one._cached_words_y


def test_an_alignment_stays():
    one = example()
    alignment = one.alignment
    forget_words([one])
    assert one.alignment is alignment
    assert one._cached_words_y == OTHER_WORDS


def test_an_alignment_that_is_asked_for_later_is_the_same():
    one = example()
    forget_words([one])
    expected = [[0], [0], [0], [1]]
    assert [one.alignment.x2y[i].tolist() for i in range(len(WORDS))] == expected
    one.predicted = Doc(one.predicted.vocab, OTHER_WORDS)
    assert [one.alignment.x2y[i].tolist() for i in range(len(OTHER_WORDS))] == [[0], [1]]


def test_components_free_them_in_training():
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config={"model": {"min_count": 1}})
    reference = Doc(nlp.vocab, OTHER_WORDS, ents=["B-DNA", "O"])
    one = Example(Doc(nlp.vocab, OTHER_WORDS), reference)
    nlp.initialize(lambda: [one])
    assert not one._cached_words_x
    other = Example(Doc(nlp.vocab, OTHER_WORDS), reference)
    nlp.get_pipe("cascade_segmenter").update([other])
    assert not other._cached_words_x
    doc = nlp(Doc(nlp.vocab, OTHER_WORDS))
    assert [span.text for span in doc.spans["cascade"]] == ["p53-null"]
