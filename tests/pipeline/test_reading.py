"""What components of one pipeline share while they read Docs."""

from __future__ import annotations

import pickle

from helpers import blank
from spacy_cascade.pipeline.reading import earlier_space


def test_the_nearest_component_before_has_met_the_words() -> None:
    nlp = blank()
    nlp.add_pipe("cascade_segmenter")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("cascade_classifier")
    segmenter, classifier = (
        nlp.get_pipe(f"cascade_{name}") for name in ("segmenter", "classifier")
    )
    assert earlier_space(nlp, segmenter) is None
    assert earlier_space(nlp, classifier) is segmenter.space
    with nlp.select_pipes(disable="cascade_segmenter"):
        assert earlier_space(nlp, classifier) is None
    assert earlier_space(None, classifier) is None


def test_a_copy_of_a_space_has_no_other_one() -> None:
    nlp = blank()
    spaces = [nlp.add_pipe(f"cascade_{name}").space for name in ("segmenter", "classifier")]
    spaces[1].earlier = spaces[0]
    assert pickle.loads(pickle.dumps(spaces[1])).earlier is None
