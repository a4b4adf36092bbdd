"""Names of the largest weights, and what happens to those that a corpus has not."""

from __future__ import annotations

import numpy as np
import pytest
from spacy.language import Language

from helpers import blank, make_examples, train, trained_cascade
from spacy_cascade.scorers.linear import get_weights
from spacy_cascade.tools.explaining.top_features import top_features


@pytest.fixture(scope="module")
def nlp() -> Language:
    return trained_cascade(classifier={"reject": True})


def test_all_features_of_the_training_corpus_have_names(nlp: Language) -> None:
    for name in nlp.pipe_names:
        pipe = nlp.get_pipe(name)
        found = top_features(pipe, make_examples(nlp), 10_000)
        assert found.n_features == len(pipe.space)
        assert found.n_unnamed == 0


def test_weights_of_types(nlp: Language) -> None:
    classifier = nlp.get_pipe("cascade_classifier")
    found = top_features(classifier, make_examples(nlp), 5)
    assert [of.label for of in found.labels] == ["O", "DNA", "cell", "protein"]
    weights = get_weights(classifier.model)[0]
    for column, of_label in enumerate(found.labels):
        ordered = np.sort(weights[:, column].astype(np.float64))
        largest, smallest = ordered[::-1][:5], ordered[:5]
        assert [f.weight for f in of_label.strongest] == largest[largest > 0].tolist()
        assert [f.weight for f in of_label.weakest] == smallest[smallest < 0].tolist()
        assert all(f.after == {} for f in of_label.strongest)
    names = [f.name for f in found.labels[2].strongest]
    assert {"suffix(1)@last=s", "prefix(3)@last=cel"} <= set(names)


def test_weights_of_tags_after_each_other(nlp: Language) -> None:
    segmenter = nlp.get_pipe("cascade_segmenter")
    found = top_features(segmenter, make_examples(nlp), 3)
    assert [of.label for of in found.labels] == segmenter.tag_set.tags
    lattice, weights = segmenter.structure.lattice, get_weights(segmenter.model)[0]
    for y, of_label in enumerate(found.labels):
        edges = np.flatnonzero(lattice.target == y)
        before = {segmenter.tag_set.tags[source] for source in lattice.source[edges]}
        means = weights[:, edges].astype(np.float64).mean(axis=1)
        assert [f.weight for f in of_label.strongest[:1]] == [m for m in [means.max()] if m > 0]
        assert of_label.weakest[0].weight == means.min()
        for feature in (*of_label.strongest, *of_label.weakest):
            assert set(feature.after) == before
            assert np.mean(list(feature.after.values())) == pytest.approx(feature.weight)


def test_a_corpus_that_has_not_all(nlp: Language) -> None:
    classifier = nlp.get_pipe("cascade_classifier")
    everything = top_features(classifier, make_examples(nlp), 20)
    # The last sentence has entities, the one before has none.
    found = top_features(classifier, make_examples(nlp)[4:], 20)
    assert 0 < found.n_unnamed < sum(len(of.strongest) + len(of.weakest) for of in found.labels)
    for one, other in zip(found.labels, everything.labels, strict=True):
        for feature, known in zip(one.strongest, other.strongest, strict=True):
            assert feature.weight == known.weight
            assert feature.name in (None, known.name)
    nothing = top_features(classifier, make_examples(nlp)[4:5], 20)
    assert all(f.name is None for of in nothing.labels for f in of.strongest)
    assert top_features(classifier, [], 0).n_unnamed == 0


def test_tags() -> None:
    nlp = blank()
    tagger = nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 1}})
    examples = make_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = "P" if token.is_punct else "N"
    train(nlp, examples)
    found = top_features(tagger, examples, 3)
    assert [of.label for of in found.labels] == ["N", "P"]
    assert found.n_unnamed == 0
    assert "lower=." in [feature.name for feature in found.labels[1].strongest]
