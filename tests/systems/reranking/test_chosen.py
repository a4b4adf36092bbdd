"""Writing of what was chosen: confidences and entities of each Doc of a batch."""

from __future__ import annotations

from typing import Any

import pytest
from ranked_lists import KEY, prefer, reranking, with_list
from spacy.language import Language
from spacy.tokens import Doc, Span

from helpers import annotation, bounds


def plain(nlp: Language) -> Doc:
    return with_list(nlp)


def without_confidences(nlp: Language) -> Doc:
    classifier: Any = nlp.get_pipe("cascade_classifier")
    classifier.confidence = False
    doc = with_list(nlp)
    classifier.confidence = True
    return doc


def with_confidences_of_other_spans(nlp: Language) -> Doc:
    """As where a component has taken spans off."""
    doc = with_list(nlp)
    doc.spans[KEY].attrs["scores"] = [0.5]
    return doc


def confidences_of_ents(doc: Doc) -> list[float | None]:
    return [entity._.confidence for entity in doc.ents]


def test_docs_with_and_without_confidences_can_be_in_one_batch(trained: Language) -> None:
    nlp = reranking(trained)
    reranker: Any = nlp.get_pipe("cascade_reranker")
    kinds = [plain, without_confidences, with_confidences_of_other_spans, plain]
    alone, together = ([kind(nlp) for kind in kinds] for _ in range(2))
    for doc in (*alone, *together):
        prefer(doc, 2, 2)
    for doc in alone:
        reranker(doc)
    list(reranker.pipe(together))
    assert list(map(annotation, together)) == list(map(annotation, alone))
    assert [doc.user_data for doc in together] == [doc.user_data for doc in alone]
    found = list(map(confidences_of_ents, together))
    assert found == list(map(confidences_of_ents, alone))
    assert "scores" not in together[1].spans[KEY].attrs
    assert set(found[1]) == {None}
    for ents in (found[0], found[2]):
        assert all(0 < sure < 1 for sure in ents if sure is not None)
        assert None not in ents
    assert 0.5 not in found[2]


@pytest.mark.parametrize("ids", [("Q1", ""), ("", "7"), ("Q1", "7")])
def test_ids_go_with_their_entities(trained: Language, ids: tuple[str, str]) -> None:
    """An entity linker may stand before the reranker; other Docs of the batch may have no ids."""
    nlp = reranking(trained)
    doc, other = with_list(nlp), with_list(nlp)
    linked = [Span(doc, *b, kb_id=ids[0], span_id=ids[1]) for b in bounds(doc.ents)]
    doc.set_ents(linked, default="outside")
    before = set(bounds(doc.ents))
    for each in (doc, other):
        prefer(each, 2, 2)
    list(nlp.get_pipe("cascade_reranker").pipe([doc, other]))  # type: ignore[attr-defined]
    both = before & set(bounds(doc.ents))
    assert both not in (before, set())
    kept = {t for start, end, _ in both for t in range(start, end)}
    for token in doc:
        found = token.ent_kb_id_, token.ent_id_
        assert found == (ids if token.i in kept else ("", "")), token.text


@pytest.mark.parametrize("has_own", [True, False])
@pytest.mark.parametrize("set_ents", [True, False])
def test_what_stays_is_not_written_anew(trained: Language, set_ents: bool, has_own: bool) -> None:
    """Unless the classifier has set no entities; those that are taken off after it stay away."""
    nlp = reranking(trained, set_ents=set_ents)
    nlp.get_pipe("cascade_classifier").set_ents = has_own  # type: ignore[attr-defined]
    doc = with_list(nlp)
    prefer(doc, 1, 1)
    if has_own:
        doc.set_ents(doc.ents[1:], default="outside")
    group, ents = doc.spans[KEY], bounds(doc.ents)
    nlp.get_pipe("cascade_reranker")(doc)  # type: ignore[operator]
    is_written = set_ents and not has_own
    assert (doc.spans[KEY] is group) != is_written
    assert bounds(doc.ents) == (bounds(group) if is_written else ents)
