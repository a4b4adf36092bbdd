"""What is done before a component learns: samples, tokenizers, kernels, and its factory."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from itertools import count
from typing import Any

import pytest
from spacy.language import Language
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from spacy.training import Example

from helpers import SMALL, add_classifier, add_segmenter, blank, make_doc, make_examples
from spacy_cascade import ConfigError, TrainingError
from spacy_cascade.compiling_ahead import ANNOTATION, TRAINING
from spacy_cascade.pipeline import first_compilation
from spacy_cascade.pipeline.factories import component_factory
from spacy_cascade.pipeline.initializing import _sampled, name_sources
from spacy_cascade.pipeline.reading import tokenizing
from spacy_cascade.pipeline.recognisers import main_score, recognisers
from spacy_cascade.pipeline.segmenter import CascadeSegmenter, chain_factory
from spacy_cascade.pipeline.splitting import splitting_of

_NUMBERS = count()


def test_an_encoder_begins_with_the_docs_of_the_first_examples() -> None:
    """As spaCy's own components do."""
    nlp = blank()
    examples = make_examples(nlp) * 2
    sample: list[Doc] = []
    assert list(_sampled(iter(examples), sample)) == examples
    assert [id(doc) for doc in sample] == [id(each.predicted) for each in examples[:10]]


def test_without_examples_the_pipeline_at_hand_has_to_have_what_is_listened_to() -> None:
    nlp, other = blank(), blank()
    segmenter = add_segmenter(nlp)
    segmenter.model.layers.append(Tok2VecListener("tok2vec", width=4))
    segmenter.model.set_ref("tok2vec", segmenter.model.layers[-1])
    other.add_pipe("sentencizer", name="sentences")

    def none() -> Iterator[Any]:
        return iter(())

    none.__module__ = "spacy.language"
    with pytest.raises(
        ConfigError, match=r"listens to the component 'tok2vec'.*It has sentences\."
    ):
        segmenter.initialize(none, nlp=other)


@pytest.mark.parametrize("in_zone", [False, True])
def test_words_of_terms_are_not_kept(in_zone: bool) -> None:
    nlp = blank()

    def tokens() -> list[str]:
        with tokenizing(nlp) as tokenize:
            return list(tokenize("unheard-of (terms)"))

    if in_zone:
        with nlp.vocab.memory_zone():  # type: ignore[attr-defined]
            found = tokens()
            assert nlp.vocab.in_memory_zone  # type: ignore[attr-defined]
    else:
        found = tokens()
    assert found == [token.text for token in blank()("unheard-of (terms)")]
    assert "unheard" not in nlp.vocab.strings
    with tokenizing(None) as tokenize:
        assert list(tokenize("a-b (c)")) == ["a-b", "(c)"]


def test_sources_are_named_once() -> None:
    nlp = blank()
    one, other = ({"name": name, "url": "", "author": "", "license": ""} for name in "ab")
    name_sources(nlp, [one])
    name_sources(nlp, [one, other])
    name_sources(nlp, [])
    assert nlp.meta["sources"] == [one, other]


def test_how_text_is_split_is_known_where_the_pipeline_made_the_docs() -> None:
    nlp = blank()

    def tokenize(word: str) -> list[str]:
        return [token.text for token in nlp.tokenizer(word)]

    own, other = nlp.make_doc("one (two)"), make_doc(nlp.vocab, "one (two)")
    words = Doc(nlp.vocab, words=["one", "(", "two)"], spaces=[True, False, False])
    assert splitting_of(None, [own], tokenize) is None
    for docs in ([other], [words], [own, words]):
        assert splitting_of(nlp, docs, tokenize) is None
    for docs in ([own], []):
        found = splitting_of(nlp, docs, tokenize)
        assert found is not None
        assert found.name == "spacy.Tokenizer.v1 of 'xx'"
        assert found.words[:3] == ["NF - kappaB", "well - known", "IL-2"]


@pytest.mark.parametrize(
    ("kind", "needs_kernels"), [("pairs", True), ("no pairs", False), ("classifier", False)]
)
def test_a_chain_with_label_pairs_has_its_kernels_compiled_ahead(
    kind: str, needs_kernels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(first_compilation, "compile_ahead", asked.append)
    nlp = blank()
    pairs = {"model": {"min_count": 1, "label_pairs": kind == "pairs"}}
    pipe = add_classifier(nlp) if kind == "classifier" else add_segmenter(nlp, **pairs)
    first_compilation.expect_annotation(pipe)
    pipe.initialize(lambda: make_examples(nlp)[:1])
    assert asked == ([ANNOTATION, TRAINING + ANNOTATION] if needs_kernels else [(), ()])


def test_a_component_learns_without_a_pipeline() -> None:
    segmenter = add_segmenter(blank())
    segmenter.initialize(lambda: make_examples(blank())[:2])
    assert segmenter.n_examples == 2
    assert segmenter.model.attrs["tokenizer"] is None or segmenter.pipeline is None
    with pytest.raises(TrainingError, match="'cascade_segmenter' got no examples"):
        segmenter.initialize(list)


@pytest.mark.parametrize(
    ("key", "advice"), [(None, r"doc\.set_ents\(\[\]\)"), ("g", r"doc\.spans\['g'\] = \[\]")]
)
def test_docs_without_annotation_teach_nothing(key: str | None, advice: str) -> None:
    nlp = blank()
    segmenter = add_segmenter(nlp, gold_key=key)
    examples = [Example(make_doc(nlp.vocab, "a b"), make_doc(nlp.vocab, "a b"))]
    with pytest.raises(TrainingError, match=f"in 1 examples: nothing in .*say so by {advice}"):
        segmenter.initialize(lambda: examples)


def test_a_chain_sees_label_pairs_by_default() -> None:
    name = f"noted_chain_{next(_NUMBERS)}"
    chain_factory(name, CascadeSegmenter, "spacy_cascade.SegmentationTemplates.v1", requires=[])
    made = Language.get_factory_meta(name).default_config
    assert made == Language.get_factory_meta("cascade_segmenter").default_config
    assert Language.get_factory_meta(name).assigns == ["doc.spans", "span._.confidence"]


def test_labels_are_known_to_the_vocabulary() -> None:
    nlp = blank()
    tagger: Any = nlp.add_pipe("cascade_tagger")
    assert tagger.add_label("N-unheard") == 1
    assert "N-unheard" in nlp.vocab.strings


def test_the_main_score_of_spans_that_cannot_overlap_is_that_of_entities() -> None:
    nlp = blank()
    assert main_score(nlp) == "ents_f"
    segmenter = add_segmenter(nlp, set_ents=True)
    assert recognisers(nlp) == (segmenter, None)
    assert main_score(nlp) == "ents_f"
    classifier = add_classifier(nlp)
    assert recognisers(nlp) == (segmenter, classifier)


def test_a_factory_has_the_blocks_and_settings_of_a_class() -> None:
    name = f"noted_segmenter_{next(_NUMBERS)}"
    blocks = {
        block: value
        for block, value in Language.get_factory_meta("cascade_segmenter").default_config.items()
        if block in {"model", "loss", "penalty", "trainer", "scorer"}
    }
    make = component_factory(name, CascadeSegmenter, blocks, assigns=["doc.spans"])
    assert name in str(make.__doc__)
    kinds = {key: each.annotation for key, each in signature(make).parameters.items()}
    assert list(kinds)[:2] == ["nlp", "name"]
    assert kinds["threshold"] is CascadeSegmenter.threshold.kind
    assert make.__annotations__ == {**kinds, "return": CascadeSegmenter}
    meta = Language.get_factory_meta(name)
    assert meta.assigns == ["doc.spans"]
    assert meta.default_config == Language.get_factory_meta("cascade_segmenter").default_config
    assert meta.default_config["label_thresholds"] is not CascadeSegmenter.label_thresholds.default
    nlp = blank()
    made: Any = nlp.create_pipe(name, config={**SMALL, "threshold": 0.25})
    assert (type(made), made.threshold, made.scheme) == (CascadeSegmenter, 0.25, "BILOU")
    assert (made.name, made.trainer.iterations, made.vocab) == (name, 5, nlp.vocab)
    bag = {"@architectures": "spacy.TextCatBOW.v3", "exclusive_classes": True, "ngram_size": 1}
    message = rf"model of '{name}' is none of spacy_cascade.*\[components.{name}.model\]"
    with pytest.raises(ConfigError, match=message):
        nlp.add_pipe(name, config={"model": {**bag, "no_output_layer": False}})
