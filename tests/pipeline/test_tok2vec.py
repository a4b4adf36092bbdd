"""Chains and span classifiers over a `tok2vec`: trained, shared, frozen, sourced, saved."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Model, fix_random_seed

from encoded import BIAS, TEXTS, examples
from spacy_cascade import ConfigError, MissingStageError, ModelFileError, TrainingError
from spacy_cascade import fit as fit_pipeline
from spacy_cascade.losses.base import CorpusLoss
from spacy_cascade.parallel import Workers
from spacy_cascade.pipeline import decoding
from spacy_cascade.pipeline.learning import encode, training_state
from spacy_cascade.scorers.linear import encoder_of
from spacy_cascade.tools.annotation.adapting import adapt
from spacy_cascade.tools.explaining.explain import explain_spans, explain_types
from spacy_cascade.tools.explaining.top_features import top_features

WIDTH = 16
OWN = {
    "@architectures": "spacy.HashEmbedCNN.v2", "width": WIDTH, "depth": 1, "embed_size": 200,
    "window_size": 1, "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None,
}  # fmt: skip
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "*"}
MINIBATCH = {"@misc": "spacy_cascade.Minibatch.v1", "dense_rate": 0.02}
LIKELIHOOD = {"@misc": "spacy_cascade.Likelihood.v2"}
LBFGS = {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 20}


def settings(tok2vec: Any, architecture: str, **others: Any) -> dict[str, Any]:
    model = {"@architectures": architecture, "templates": BIAS, "min_count": 1, "tok2vec": tok2vec}
    trained = {"loss": LIKELIHOOD, "penalty": None, "trainer": MINIBATCH}
    return {"model": model, **trained, **others}


def pipeline(tok2vec: Any = OWN, shared: bool = False, **others: Any) -> Language:
    """A cascade over an encoder; shared: one of its own component for both stages."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    if shared:
        nlp.add_pipe("tok2vec", config={"model": OWN})
        tok2vec = LISTENER
    segmenter = settings(tok2vec, "spacy_cascade.LinearChain.v1", **others)
    nlp.add_pipe("cascade_segmenter", config=segmenter)
    classifier = settings(tok2vec, "spacy_cascade.SpanClassifier.v1", **others)
    nlp.add_pipe("cascade_classifier", config=classifier)
    return nlp


def trained(nlp: Language, passes: int = 30, **arguments: Any) -> Language:
    data = examples(nlp)
    sgd = nlp.initialize(lambda: data)
    for _ in range(passes):
        for begin in range(0, len(data), 2):
            nlp.update(data[begin : begin + 2], sgd=sgd, **arguments)
    return nlp


def found(nlp: Language) -> list[list[tuple[int, int, str]]]:
    return [[(e.start, e.end, e.label_) for e in nlp(text).ents] for text, _ in TEXTS]


GOLD = [spans for _, spans in TEXTS]


def params(model: Model[Any, Any]) -> list[np.ndarray[Any, Any]]:
    return [
        node.get_param(name).copy()
        for node in model.walk()
        for name in node.param_names
        if node.has_param(name)
    ]


@pytest.fixture(scope="module")
def own() -> Language:
    return trained(pipeline())


@pytest.fixture(scope="module")
def shared() -> Language:
    return trained(pipeline(shared=True))


def test_an_encoder_alone_learns_what_features_cannot_see(own: Language) -> None:
    assert found(own) == GOLD
    assert len(own.get_pipe("cascade_segmenter").space) == 1  # the bias


def test_a_shared_encoder_is_trained_by_both_stages(shared: Language) -> None:
    assert found(shared) == GOLD
    tok2vec = shared.get_pipe("tok2vec")
    assert set(tok2vec.listener_map) == {"cascade_segmenter", "cascade_classifier"}


@pytest.mark.parametrize("name", ["cascade_segmenter", "cascade_classifier"])
def test_gradients_reach_the_encoder_as_finite_differences_say(name: str) -> None:
    nlp = pipeline()
    data = examples(nlp)
    nlp.initialize(lambda: data)
    pipe = nlp.get_pipe(name)
    nlp.update(data)  # weights of zero pass nothing on
    pipe.sync_weights()
    encoder = encoder_of(pipe.model)
    assert encoder is not None
    layer = next(node for node in encoder.walk() if node.name == "maxout")
    bias = layer.get_param("b")
    layer.set_grad("b", np.zeros_like(bias))
    weights = pipe.weights

    def loss() -> float:
        found = CorpusLoss(encode(pipe, data), pipe.loss, Workers(1))
        return found.value_and_gradient(weights, np.empty(weights.features.shape))[0]

    pipe._fit = None
    pipe.update(data)
    gradient = layer.get_grad("b") * len(data if name == "cascade_segmenter" else _spans())
    step, largest = 1e-3, 0.0
    for place in [(0, 0), (3, 1), (7, 0)]:
        values = []
        for sign in (1, -1):
            changed = bias.copy()
            changed[place] += sign * step
            layer.set_param("b", changed)
            values.append(loss())
        layer.set_param("b", bias)
        slope = (values[0] - values[1]) / (2 * step)
        largest = max(largest, abs(slope))
        assert gradient[place] == pytest.approx(slope, rel=0.05, abs=2e-3)
    assert largest > 0.1


def _spans() -> list[tuple[int, int, str]]:
    return [span for spans in GOLD for span in spans]


def test_saved_and_loaded_it_is_the_same(own: Language, tmp_path: Any) -> None:
    own.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert found(loaded) == found(own)
    again = pickle.loads(pickle.dumps(own))
    assert found(again) == found(own)
    for name in own.pipe_names:
        one, other = own.get_pipe(name), loaded.get_pipe(name)
        assert one.to_bytes() == other.to_bytes()


def test_processes_find_the_same(own: Language) -> None:
    texts = [text for text, _ in TEXTS]
    several = [doc.ents for doc in own.pipe(texts, n_process=2, batch_size=2)]
    one = [doc.ents for doc in own.pipe(texts)]
    assert [list(map(str, ents)) for ents in several] == [list(map(str, ents)) for ents in one]


def test_confidences_are_exact_posteriors(own: Language) -> None:
    doc = own(TEXTS[0][0])
    segmenter = own.get_pipe("cascade_segmenter")
    spans = [(span.start, span.end, "ENT") for span in doc.spans["cascade"]]
    (exact,) = segmenter.posteriors([own.make_doc(doc.text)], [spans])
    blank = segmenter(own.make_doc(doc.text))
    np.testing.assert_allclose(exact, blank.spans["cascade"].attrs["scores"], rtol=1e-9)


def test_parts_of_a_batch_have_their_own_vectors(own: Language, monkeypatch: Any) -> None:
    whole = found(own)
    monkeypatch.setattr(decoding, "PART", 3)
    docs = list(own.pipe([text for text, _ in TEXTS]))
    assert [[(e.start, e.end, e.label_) for e in doc.ents] for doc in docs] == whole


def test_the_same_seed_gives_the_same_bits() -> None:
    one, other = (trained(pipeline(shared=True), 3, drop=0.2) for _ in range(2))
    for name in one.pipe_names:
        assert one.get_pipe(name).to_bytes() == other.get_pipe(name).to_bytes()


# Frozen, replaced and sourced encoders


def test_a_frozen_encoder_is_features_for_a_batch_trainer(shared: Language) -> None:
    nlp = trained(pipeline(shared=True, trainer=LBFGS, penalty=GAUSSIAN), 0)
    tok2vec, data = nlp.get_pipe("tok2vec"), examples(nlp)
    tok2vec.from_bytes(shared.get_pipe("tok2vec").to_bytes())
    before = params(tok2vec.model)
    for _ in range(3):
        nlp.update(data, exclude=["tok2vec"], annotates=["tok2vec"])
    assert found(nlp) == GOLD
    for one, other in zip(before, params(tok2vec.model), strict=True):
        np.testing.assert_array_equal(one, other)


GAUSSIAN = {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 3.0}


def test_a_batch_trainer_refuses_an_encoder_that_is_trained_beside_it() -> None:
    nlp = pipeline(shared=True, trainer=LBFGS, penalty=GAUSSIAN)
    data = examples(nlp)
    sgd = nlp.initialize(lambda: data)
    with pytest.raises(ConfigError, match="frozen_components"):
        nlp.update(data, sgd=sgd)


def test_listeners_can_be_replaced(shared: Language) -> None:
    nlp = spacy.blank("en").from_config(shared.config)
    nlp.from_bytes(shared.to_bytes())
    nlp.replace_listeners("tok2vec", "cascade_classifier", ["model.tok2vec"])
    nlp.replace_listeners("tok2vec", "cascade_segmenter", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    assert found(nlp) == GOLD
    again = spacy.blank("en").from_config(nlp.config)
    again.from_bytes(nlp.to_bytes())
    assert found(again) == GOLD


def test_a_sourced_stage_takes_its_listener_with_it(shared: Language) -> None:
    nlp = spacy.blank("en")
    for name in shared.pipe_names:
        nlp.add_pipe(name, source=shared)
    assert found(nlp) == GOLD


def test_training_goes_on_where_a_pipeline_was_loaded(own: Language, tmp_path: Any) -> None:
    own.to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    new = nlp.make_doc("Grace Hopper sailed to Boston")
    reference = new.copy()
    reference.ents = [Span(reference, 0, 2, "PER"), Span(reference, 4, 5, "CITY")]
    data = [*examples(nlp), Example(new, reference)]
    sgd = nlp.resume_training()
    for _ in range(40):
        nlp.update(data, sgd=sgd)
    assert [(e.text, e.label_) for e in nlp(new.text).ents] == [
        ("Grace Hopper", "PER"), ("Boston", "CITY"),
    ]  # fmt: skip
    assert found(nlp) == GOLD


# Workflows


@pytest.mark.parametrize("is_shared", [False, True])
def test_fit_trains_encoders_that_nobody_else_listens_to(is_shared: bool) -> None:
    nlp = pipeline(shared=is_shared)
    data = examples(nlp)
    fit_pipeline(nlp, data, dev=data, updates=8)
    assert found(nlp) == GOLD


def test_fit_leaves_an_encoder_that_others_listen_to() -> None:
    nlp = trained(pipeline(shared=True), 1)
    nlp.add_pipe("ner", config={"model": {**NER, "tok2vec": LISTENER}})
    data = examples(nlp)
    nlp.get_pipe("ner").initialize(lambda: data, nlp=nlp)
    before = params(nlp.get_pipe("tok2vec").model)
    fit_pipeline(nlp, data, dev=data, updates=1)
    for one, other in zip(before, params(nlp.get_pipe("tok2vec").model), strict=True):
        np.testing.assert_array_equal(one, other)


NER = {
    "@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner",
    "extra_state_tokens": False, "hidden_width": 16, "maxout_pieces": 2, "use_upper": True,
    "nO": None,
}  # fmt: skip


@pytest.mark.parametrize("is_shared", [False, True])
def test_adapting_keeps_the_encoder_and_what_was_known(is_shared: bool, tmp_path: Any) -> None:
    trained(pipeline(shared=is_shared, penalty=GAUSSIAN)).to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    models = [pipe.model for _, pipe in nlp.pipeline]
    encoders = [encoder_of(model) or model for model in models]
    before = [values for encoder in encoders if not is_shared for values in params(encoder)]
    new = nlp.make_doc("Grace Hopper sailed to Boston")
    reference = new.copy()
    reference.ents = [Span(reference, 0, 2, "PER"), Span(reference, 4, 5, "CITY")]
    adapt(nlp, [Example(new, reference)], updates=4)
    assert [(e.text, e.label_) for e in nlp(new.text).ents][1:] == [("Boston", "CITY")]
    assert sum(one == two for one, two in zip(found(nlp), GOLD, strict=True)) >= 5
    after = [values for encoder in encoders if not is_shared for values in params(encoder)]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not any(
        encoder.get_grad(name).any()
        for model in encoders
        for encoder in model.walk()
        for name in encoder.grad_names
        if name != "W" or encoder.name != "cascade_linear_chain"
    )


def test_explanations_add_up_to_the_score(own: Language) -> None:
    doc = own(TEXTS[0][0])
    for explanation in explain_spans(own.get_pipe("cascade_segmenter"), doc):
        assert any(c.name == "tok2vec" for c in explanation.contributions)
        assert explanation.evidence > 0
    classifier = own.get_pipe("cascade_classifier")
    bounds = [np.array([(e.start, e.end) for e in doc.ents])]
    scores = classifier.scores([doc], bounds, bounds)
    for row, explanation in zip(scores, explain_types(classifier, doc), strict=True):
        best, second = np.sort(row)[::-1][:2]
        assert explanation.score == pytest.approx(best)
        assert explanation.runner_up_score == pytest.approx(second)
        names = {c.name for c in explanation.contributions}
        assert {"tok2vec of the first", "tok2vec of the last", "tok2vec of all tokens"} <= names


def test_what_is_not_annotated_teaches_nothing() -> None:
    nlp = pipeline()
    reference = nlp.make_doc("Ada met Babbage in London")
    reference.set_ents([Span(reference, 0, 1, "PER")], missing=[Span(reference, 2, 5)])
    data = [*examples(nlp), Example(nlp.make_doc(reference.text), reference)]
    sgd = nlp.initialize(lambda: data)
    for _ in range(30):
        nlp.update(data, sgd=sgd)
    assert found(nlp) == GOLD
    texts = {e.text for e in nlp(reference.text).ents}
    assert {"Ada", "Babbage", "London"} & texts


def test_presets_and_lists_of_segmentations(own: Language) -> None:
    nlp = pickle.loads(pickle.dumps(own))
    segmenter = nlp.get_pipe("cascade_segmenter")
    segmenter.constrained = True
    doc = nlp.make_doc(TEXTS[0][0])
    doc.set_ents([], blocked=[Span(doc, 0, 2)], default="unmodified")
    assert [span.text for span in segmenter(doc).spans["cascade"]] == ["Babbage", "London"]
    listed = segmenter.nbest(nlp.make_doc(TEXTS[0][0]), 3)[0]
    assert len(listed) == 3


def test_no_checkpoint_holds_an_encoder(own: Language) -> None:
    with pytest.raises(ConfigError, match="a tok2vec learns with it"):
        training_state(own.get_pipe("cascade_segmenter"))


# What is wrong


def test_a_listener_without_upstream_is_named() -> None:
    nlp = pipeline(LISTENER)
    with pytest.raises(ConfigError, match="listens to the component"):
        nlp.initialize(lambda: examples(nlp))


@pytest.mark.parametrize("width", [0, -3])
def test_vectors_of_no_width_are_refused(width: int) -> None:
    nlp = pipeline({**OWN, "width": width})
    with pytest.raises(ConfigError, match=f"1 number or more, not {width}"):
        nlp.initialize(lambda: examples(nlp))


def test_docs_that_an_encoder_has_not_seen_are_named(shared: Language) -> None:
    with pytest.raises(MissingStageError, match=r"no doc\.tensor"):
        shared.get_pipe("cascade_segmenter")(shared.make_doc("Ada Lovelace"))


def giving(rows: Callable[[Doc], Any]) -> Model[Any, Any]:
    """An encoder that gives what a function says."""

    def forward(model: Model[Any, Any], docs: Iterable[Doc], is_train: bool) -> Any:
        return [rows(doc) for doc in docs], lambda slopes: []

    return Model("giving", forward, dims={"nO": WIDTH})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lambda doc: np.zeros((len(doc) + 1, WIDTH)), "tokens of this pipeline"),
        (lambda doc: np.zeros((len(doc), WIDTH + 1)), "as wide as in training"),
        (lambda doc: np.full((len(doc), WIDTH), np.nan), "no finite numbers"),
    ],
)
def test_vectors_that_are_none_of_the_tokens_are_refused(
    own: Language, rows: Callable[[Doc], Any], message: str, tmp_path: Any
) -> None:
    nlp = pickle.loads(pickle.dumps(own))
    model = nlp.get_pipe("cascade_segmenter").model
    encoder = encoder_of(model)
    model.layers[0] = giving(rows)
    model.set_ref("tok2vec", model.layers[0])
    with pytest.raises(TrainingError, match=message):
        nlp("Ada Lovelace")
    assert encoder is not None


def damaged(own: Language, change: Callable[[Model[Any, Any]], None]) -> bytes:
    """The bytes of a segmenter whose encoder was changed after training."""
    pipe = pickle.loads(pickle.dumps(own)).get_pipe("cascade_segmenter")
    encoder = encoder_of(pipe.model)
    assert encoder is not None
    change(encoder)
    return bytes(pipe.to_bytes())


def fewer_rows(encoder: Model[Any, Any]) -> None:
    layer = next(node for node in encoder.walk() if node.name == "hashembed")
    layer.set_param("E", layer.get_param("E")[:5])


def a_nan(encoder: Model[Any, Any]) -> None:
    layer = next(node for node in encoder.walk() if node.name == "maxout")
    layer.set_param("b", np.full_like(layer.get_param("b"), np.nan))


@pytest.mark.parametrize(("change", "message"), [(fewer_rows, "shape"), (a_nan, "finite")])
def test_a_damaged_encoder_is_not_loaded(
    own: Language, change: Callable[[Model[Any, Any]], None], message: str
) -> None:
    pipe = pipeline().get_pipe("cascade_segmenter")
    with pytest.raises(ModelFileError, match=message):
        pipe.from_bytes(damaged(own, change))


@pytest.mark.parametrize("other", [{**OWN, "width": 8}, {**OWN, "depth": 2}, None])
def test_another_encoder_does_not_take_the_weights(own: Language, other: Any) -> None:
    pipe = pipeline(other).get_pipe("cascade_segmenter")
    with pytest.raises(ModelFileError):
        pipe.from_bytes(own.get_pipe("cascade_segmenter").to_bytes())


def test_listed_features_are_those_with_names(own: Language) -> None:
    listed = top_features(own.get_pipe("cascade_segmenter"), examples(own), 5)
    assert listed.n_unnamed == 0
    names = {f.name for of in listed.labels for f in (*of.strongest, *of.weakest)}
    assert names == {"bias"}


@pytest.mark.parametrize("is_shared", [False, True])
def test_batches_without_entities_and_empty_docs(is_shared: bool) -> None:
    nlp = pipeline(shared=is_shared)
    data = examples(nlp)
    sgd = nlp.initialize(lambda: data)
    empty = Example(nlp.make_doc(""), nlp.make_doc(""))
    for batch in ([data[3]], [empty, *data], [empty], data):
        nlp.update(batch, sgd=sgd)
    assert len(list(nlp.pipe(["", "Ada Lovelace", ""]))) == 3
