"""What stands on Docs before the components see them stays, whatever they find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup

from annotated_docs import LABELS, random_doc
from helpers import SMALL, add_classifier, add_segmenter, blank, make_examples, train

pytestmark = pytest.mark.slow

N_DOCS = 2000
SEGMENTER, CLASSIFIER, RERANKER = "cascade_segmenter", "cascade_classifier", "cascade_reranker"
KEY = "cascade"
SCORES = ("scores", "scored")
RULERS = ["entity_ruler", "span_ruler"]
RULES = [{"label": "MENTION", "pattern": text} for text in ("IL-2", "IL-2 gene", "T cells", "p53")]

PIPELINES: dict[str, dict[str, dict[str, Any]]] = {
    "segmenter": {SEGMENTER: {"set_ents": True}},
    "constrained chain with types": {
        "typed_segmenter": {"set_ents": True, "constrained": True},
    },
    "cascade": {SEGMENTER: {}, CLASSIFIER: {}},
    "cascade after a ruler": {
        "entity_ruler": {},
        SEGMENTER: {"constrained": True},
        CLASSIFIER: {"threshold": 0.5},
    },
    "overlapping": {SEGMENTER: {"overlapping": True, "threshold": 0.02}, CLASSIFIER: {}},
    "reranked": {SEGMENTER: {"n_best": 5}, CLASSIFIER: {}, "other_best": {}, RERANKER: {}},
    "constrained and reranked": {
        SEGMENTER: {"n_best": 3, "constrained": True},
        CLASSIFIER: {},
        "other_best": {},
        RERANKER: {},
    },
    "types of entities": {CLASSIFIER: {"spans_key": None, "mention_labels": ["MENTION"]}},
    "types of the group of a ruler": {
        "span_ruler": {"spans_key": "ruler", "overwrite": False},
        CLASSIFIER: {"spans_key": "ruler", "mention_labels": ["MENTION", "foreign"]},
    },
    "types of a foreign group": {CLASSIFIER: {"spans_key": "foreign", "threshold": 0.2}},
    "tags": {"cascade_tagger": {"overwrite": False}, SEGMENTER: {}, CLASSIFIER: {}},
    "all tags": {"cascade_tagger": {}, SEGMENTER: {"set_ents": True, "n_best": 2}},
}


@Language.component("other_best")
def prefer_others(doc: Doc) -> Doc:
    """Give the segmentations of each sentence other scores, so that rerankers change much."""
    generator = np.random.default_rng(len(doc))
    for key, group in doc.spans.items():
        if "class_scores" in group.attrs:
            scores = np.array(group.attrs["sequence_scores"])
            group.attrs["sequence_scores"] = (
                scores + generator.normal(0, 20, len(scores))
            ).tolist()
            assert key.startswith(KEY)
    return doc


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Language]:
    """Pipelines of components that were trained for a moment, so that they are sure of little."""
    source = blank()
    add_segmenter(source)
    source.add_pipe(SEGMENTER, "typed_segmenter", config={**SMALL, "typed": True})
    add_classifier(source)
    source.add_pipe("cascade_tagger", config={"model": {"min_count": 1}})
    examples = make_examples(source)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.text[:2]
    train(source, examples, updates=1)
    return {name: assembled(parts, source) for name, parts in PIPELINES.items()}


def assembled(parts: dict[str, dict[str, Any]], source: Language) -> Language:
    nlp = Language(source.vocab)
    for name, settings in parts.items():
        if name not in source.pipe_names:
            nlp.add_pipe(name, config=settings)
            continue
        meta = source.get_pipe_meta(name)
        config = {**source.get_pipe_config(name), **settings}
        del config["factory"]
        pipe = nlp.add_pipe(meta.factory, name=name, config=config)
        pipe.from_bytes(source.get_pipe(name).to_bytes(), exclude=["cfg"])
    for name in set(RULERS) & set(nlp.pipe_names):
        nlp.get_pipe(name).add_patterns(RULES)
    return nlp


def of_tokens(doc: Doc) -> list[tuple[Any, ...]]:
    return [(t.text_with_ws, t.is_sent_start, t.lemma_, t.pos_, t.dep_) for t in doc]


def of_entities(doc: Doc) -> list[tuple[Any, ...]]:
    return [(t.ent_iob_, t.ent_type_, t.ent_kb_id_, t.ent_id_) for t in doc]


def of_group(group: SpanGroup, *without: str) -> tuple[list[Any], dict[str, Any]]:
    spans = [(s.start, s.end, s.label_, s.kb_id_, s.id_) for s in group]
    return spans, {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in group.attrs.items()
        if name not in without
    }


def everything(doc: Doc, *without: str) -> tuple[Any, ...]:
    groups = {key: of_group(group, *without) for key, group in doc.spans.items()}
    tags = [token.tag_ for token in doc]
    return of_tokens(doc), of_entities(doc), tags, groups, others_data(doc)


def others_data(doc: Doc) -> dict[Any, Any]:
    """`doc.user_data` without what the components write: whose the confidences of a group are."""
    own = "cascade_confidences of "
    return {key: value for key, value in doc.user_data.items() if not str(key[1]).startswith(own)}


def written_group(name: str) -> str | None:
    """Key of the group whose spans may become entities."""
    parts = PIPELINES[name]
    if CLASSIFIER in parts:
        return parts[CLASSIFIER].get("spans_key", KEY)
    return KEY


def check(name: str, before: Doc, doc: Doc) -> Iterator[str]:
    """What has been kept, a word for each; fails where something was not."""
    parts, key = PIPELINES[name], written_group(name)
    assert of_tokens(doc) == of_tokens(before)
    assert others_data(doc) == others_data(before) == before.user_data
    for was, now in zip(before, doc, strict=True):
        if "cascade_tagger" not in parts or (was.tag_ and name == "tags"):
            assert now.tag_ == was.tag_
            yield from ["tags"] * bool(was.tag_)
        else:
            assert now.tag_
    # Entities and blocked tokens
    taken = [token.ent_iob_ in ("I", "B") for token in before]
    group = list(doc.spans[key or CLASSIFIER])
    found = {(span.start, span.end, span.label_) for span in group}
    new = [e for e in doc.ents if not taken[e.start]]
    for entity in new:
        assert not any(taken[entity.start : entity.end])
        assert (entity.start, entity.end, entity.label_) in found
        yield "new entities"
    inside = {i for entity in new for i in range(entity.start, entity.end)}
    retyped = {e.start: e for e in before.ents if key is None and e.label_ == "MENTION"}
    typed = {i for entity in retyped.values() for i in range(entity.start, entity.end)}
    for i, (was, now) in enumerate(zip(of_entities(before), of_entities(doc), strict=True)):
        if i in typed:
            assert (was[0], *was[2:]) == (now[0], *now[2:])
            assert now[1] in LABELS[:3]
        elif i not in inside:
            assert now == (was[0] or "O", *was[1:])  # what is missing becomes outside
            yield "tokens of entities" if was[1] else "blocked and free tokens"
    if key == KEY and "threshold" not in parts.get(CLASSIFIER, {}):
        free = [s for s in group if len(s) and not any(taken[s.start : s.end])]
        assert all(inside.intersection(range(s.start, s.end)) for s in free), "room is left"
    # Groups
    for foreign, group_before in before.spans.items():
        is_list = parts.get(SEGMENTER, {}).get("n_best", 1) > 1
        if foreign == key:
            spans, attributes = of_group(group_before, *SCORES)
            spans_now, attributes_now = of_group(doc.spans[foreign], *SCORES)
            assert [(s[:2], s[3:]) for s in spans] == [(s[:2], s[3:]) for s in spans_now]
            assert attributes == attributes_now
        elif not (is_list and foreign == f"{KEY}/1"):
            assert of_group(doc.spans[foreign]) == of_group(group_before)
            yield from ["spans of groups"] * len(group_before)
    scores = np.asarray(doc.spans[key or CLASSIFIER].attrs["scores"])
    assert len(scores) == len(group)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_what_others_set_stays(
    pipelines: dict[str, Language],
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    kept: Counter[str] = Counter()
    n_docs = cases(N_DOCS)
    for number, (name, nlp) in enumerate(pipelines.items()):
        # Made twice: spaCy cannot copy groups with empty spans.
        docs, before = (
            [random_doc(nlp.vocab, seed) for seed in range(number, n_docs, len(pipelines))]
            for _ in range(2)
        )
        rulers = [part for part in nlp.pipe_names if part in RULERS]
        for ruler in rulers:
            before = [nlp.get_pipe(ruler)(doc) for doc in before]
        for was, doc in zip(before, nlp.pipe(docs, batch_size=16), strict=True):
            kept.update(check(name, was, doc))
        # A second time: a classifier multiplies the scores of a group that nothing writes anew.
        without = () if written_group(name) == KEY else SCORES
        once = [everything(doc, *without) for doc in docs]
        with nlp.select_pipes(disable=rulers):
            assert [everything(nlp(doc), *without) for doc in docs] == once, name
    counts = ", ".join(f"{n:,} {what}" for what, n in sorted(kept.items()))
    figure(
        f"{n_docs:,} random Docs with annotation of others, {len(pipelines)} pipelines, each twice",
        f"no E1010, none lost; kept or made: {counts}",
    )
