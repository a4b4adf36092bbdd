"""Cascades with a network: trained, saved, copied, adapted, explained; and what is refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example

from encoded import BIAS, TEXTS
from spacy_cascade import ConfigError, ModelFileError, TrainingError
from spacy_cascade import fit as fit_pipeline
from spacy_cascade.pipeline import decoding
from spacy_cascade.pipeline.learning import restore_training, training_state
from spacy_cascade.storage import model_file
from spacy_cascade.systems.unlabelled.product import become_product
from spacy_cascade.systems.word_window import scorer as scorers
from spacy_cascade.systems.word_window.settings import Settings
from spacy_cascade.systems.words.sources import make_english
from spacy_cascade.tools.annotation.adapting import adapt
from spacy_cascade.tools.annotation.suggest import suggest
from spacy_cascade.tools.explaining.explain import explain_spans, explain_types
from window_networks import ARCHITECTURES, NETWORK, STAGES, beside, blank, trained, twice

GOLD = [spans for _, spans in TEXTS]


def found(nlp: Language) -> list[list[tuple[int, int, str]]]:
    return [[(e.start, e.end, e.label_) for e in nlp(text).ents] for text, _ in TEXTS]


def confidences(nlp: Language) -> list[float]:
    return [float(e._.confidence) for text, _ in TEXTS for e in nlp(text).ents]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return trained(blank())


def test_the_network_learns_what_features_cannot_see(nlp: Language) -> None:
    assert found(nlp) == GOLD
    assert len(nlp.get_pipe(STAGES[0]).space) == 1  # the bias


def test_the_same_seed_gives_the_same_bits_and_another_one_others(nlp: Language) -> None:
    again, other = trained(blank()), trained(blank(seed=1))
    assert again.get_pipe(STAGES[0]).to_bytes() == nlp.get_pipe(STAGES[0]).to_bytes()
    assert other.get_pipe(STAGES[0]).to_bytes() != nlp.get_pipe(STAGES[0]).to_bytes()


@pytest.mark.parametrize("how", ["bytes", "disk", "pickle", "copy"])
def test_what_was_saved_is_the_same(nlp: Language, how: str, tmp_path: Any) -> None:
    if how == "bytes":
        again = blank().from_bytes(nlp.to_bytes())
    elif how == "disk":
        nlp.to_disk(tmp_path)
        again = spacy.load(tmp_path)
    else:
        again = pickle.loads(pickle.dumps(nlp)) if how == "pickle" else copy.deepcopy(nlp)
    assert found(again) == GOLD
    assert confidences(again) == confidences(nlp)


def test_batches_processes_and_zones_give_the_same(nlp: Language) -> None:
    texts = [text for text, _ in TEXTS]
    expected = confidences(nlp)
    for options in ({"batch_size": 4}, {"n_process": 2}):
        docs = nlp.pipe(texts, **options)
        own = [float(e._.confidence) for doc in docs for e in doc.ents]
        assert own == pytest.approx(expected, abs=1e-6)
    for _ in range(2):
        with nlp.memory_zone():
            zoned = [[e.text for e in doc.ents] for doc in nlp.pipe(["Zqx met Hilbert", *texts])]
    for words, (text, spans) in zip(zoned[1:], TEXTS, strict=True):
        assert words == [" ".join(text.split()[start:end]) for start, end, _ in spans]


def test_the_table_of_words_is_bounded(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = confidences(nlp)
    monkeypatch.setattr(scorers, "_MOST_BYTES", 0)
    assert confidences(nlp) == pytest.approx(expected, abs=1e-6)
    assert beside(nlp)._table.n_bytes < 20 * 5 * 32 * 4  # a Doc has few words


def test_scores_are_those_of_layers(nlp: Language) -> None:
    """Word by word, without a table: the sum of the parts of all places."""
    pipe, network = nlp.get_pipe(STAGES[0]), beside(nlp)
    doc = nlp.make_doc(TEXTS[0][0])
    with_network = decoding.linear_potentials(pipe, [doc])[1].scores
    share, network.settings = network.settings, type(network.settings)(**{
        **vars(network.settings), "share": 1e-9})  # fmt: skip
    without = decoding.linear_potentials(pipe, [doc])[1].scores
    network.settings = share
    units = decoding.token_units(pipe, decoding.read(pipe, [doc]))
    columns = list(range(with_network.shape[1]))
    for token in range(len(doc)):
        parts = network.contributions(units.take(slice(token, token + 1)), columns)
        assert [place for place, _ in parts] == ["-2", "-1", "0", "+1", "+2", "bias"]
        added = np.sum([values for _, values in parts], axis=0)
        assert np.allclose(without[token] + added, with_network[token], atol=1e-4)


def test_explanations_add_up(nlp: Language) -> None:
    doc = nlp(TEXTS[0][0])
    (of_span, *_) = explain_spans(nlp.get_pipe(STAGES[0]), doc, [(0, 2, "ENT")])
    names = {each.name for each in of_span.contributions}
    assert "network@0" in names
    (of_type, *_) = explain_types(nlp.get_pipe(STAGES[1]), doc, [(3, 4, "PER")])
    network = [each for each in of_type.contributions if each.template == "network"]
    assert {each.name for each in network} == {
        "network@first-2", "network@first-1", "network@first", "network@last", "network@last+1",
        "network@last+2", "network@inside", "network@bias",
    }  # fmt: skip
    scores = nlp.get_pipe(STAGES[1]).scores([doc], [np.array([[3, 4]])], [np.array([[3, 4]])])
    classes = nlp.get_pipe(STAGES[1]).structure_labels
    own = sum(each.weight for each in of_type.contributions)
    assert own == pytest.approx(scores[0, classes.index("PER")], abs=1e-3)


def test_n_best_thresholds_and_presets(nlp: Language) -> None:
    segmenter = nlp.get_pipe(STAGES[0])
    doc = nlp.make_doc(TEXTS[0][0])
    best, *others = segmenter.nbest(doc, 4)[0]
    assert best.probability == max(each.probability for each in (best, *others))
    assert sum(each.probability for each in (best, *others)) <= 1 + 1e-9
    strict = trained(blank())
    strict.get_pipe(STAGES[1]).threshold = 1.0
    assert not any(found(strict))


def test_partial_annotation_is_learnt_from() -> None:
    nlp = blank()
    data = []
    for text, spans in [*TEXTS, *TEXTS]:
        reference = nlp.make_doc(text)
        ents = [Span(reference, *span) for span in spans]
        reference.set_ents(ents, missing=[reference[0:1]] if not spans else [], default="outside")
        data.append(Example(nlp.make_doc(text), reference))
    nlp.initialize(lambda: data)
    nlp.update(data)
    assert found(nlp) == GOLD


def test_threads_find_the_same(nlp: Language) -> None:
    texts = [f"{text} with New{i}" for i in range(5) for text, _ in TEXTS]
    expected = [[e.text for e in nlp(text).ents] for text in texts]
    again = blank().from_bytes(nlp.to_bytes())
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: [e.text for e in again(text).ents], texts)) == expected


def test_a_training_goes_on_from_a_checkpoint() -> None:
    one, other = blank(epochs=3), blank(epochs=3)
    for each, n_updates in ((one, 2), (other, 1)):
        data = twice(each)
        each.initialize(lambda data=data: data)
        for _ in range(n_updates):
            each.update(data)
    pipe, twin = (each.get_pipe(STAGES[0]) for each in (one, other))
    restore_training(twin, training_state(pipe))
    assert twin.to_bytes() == pipe.to_bytes()


def test_suggestions_and_likely_spans_go_by_the_sum(nlp: Language) -> None:
    (sure, *_) = suggest(nlp, ["Vienna is where Hilbert spoke", "Zqx qzx xqz"])
    assert sure.doc.text == "Zqx qzx xqz"
    plain = copy.deepcopy(nlp)
    beside(plain).restore({}, [])
    assert not any(found(plain))


def test_there_is_no_product_of_networks(nlp: Language) -> None:
    untrained = blank().get_pipe(STAGES[0])
    with pytest.raises(ConfigError, match=r"more than features\. Leave out network"):
        become_product(untrained, [nlp.get_pipe(STAGES[0])] * 2)


def test_nothing_is_learnt_where_no_label_is_known(nlp: Language) -> None:
    pipe, network = nlp.get_pipe(STAGES[0]), copy.deepcopy(beside(nlp))
    units = decoding.token_units(pipe, decoding.read(pipe, [nlp.make_doc(TEXTS[0][0])]))
    network.train(units, np.full(len(units.first), -1, dtype=np.int32), ["O"], list)
    assert not network.is_trained


def test_adapting_keeps_the_network_and_takes_new_labels(nlp: Language) -> None:
    again = blank().from_bytes(nlp.to_bytes())
    before = {name: array.tobytes() for name, array in beside(again).arrays().items()}
    reference = again.make_doc("The Rhine flows past Basel")
    reference.ents = [Span(reference, 1, 2, "RIVER"), Span(reference, 4, 5, "LOC")]
    adapt(again, [Example(again.make_doc(reference.text), reference)])
    assert {name: array.tobytes() for name, array in beside(again).arrays().items()} == before
    assert "RIVER" in again.get_pipe(STAGES[1]).labels
    kept = sum(a == b for a, b in zip(found(again), GOLD, strict=True))
    assert kept >= len(GOLD) - 1
    assert found(blank().from_bytes(nlp.to_bytes())) == GOLD


def test_a_new_label_gets_the_least_score_of_it(nlp: Language) -> None:
    again = blank().from_bytes(nlp.to_bytes())
    again.get_pipe(STAGES[1]).add_label("AAA")
    network = beside(again, STAGES[1])
    assert network._columns.tolist() == [-1, 0, 1]
    assert found(again) == GOLD
    doc = again(TEXTS[0][0])
    (of_type, *_) = explain_types(again.get_pipe(STAGES[1]), doc, [(3, 4, "AAA")])
    bounds = [np.array([[3, 4]])]
    scores = again.get_pipe(STAGES[1]).scores([doc], bounds, bounds)
    own = sum(each.weight for each in of_type.contributions)
    assert own == pytest.approx(scores[0, 0], abs=1e-3)
    assert scores[0].argmax() == 2


def test_fit_trains_it() -> None:
    nlp = blank()
    fit_pipeline(nlp, [example.reference for example in twice(nlp)], dev=None)
    assert beside(nlp).is_trained
    assert found(nlp) == GOLD


def test_initializing_again_forgets_it(nlp: Language) -> None:
    again = blank().from_bytes(nlp.to_bytes())
    data = twice(again)
    again.initialize(lambda: data)
    assert not beside(again).is_trained
    assert beside(again).arrays() == {}
    assert not any(found(again))


# Tables of words, and vectors of the pipeline

WITH_TABLES = {
    "@misc": "spacy_cascade.SegmentationTemplates.v1",
    "words": {"english": {"@misc": "spacy_cascade.English.v1"}},
}


def test_it_has_the_tables_that_templates_look_at(tmp_path: Any) -> None:
    nlp = trained(blank(WITH_TABLES))
    network = beside(nlp)
    keys = set(network._space.resources.made)
    assert {key.split("(")[0] for key in keys} == {"words"}
    assert len(keys) == len(make_english())
    assert len(network._centre) == 128  # vectors of pieces
    nlp.to_disk(tmp_path)
    assert confidences(spacy.load(tmp_path)) == confidences(nlp)
    without = {**BIAS, "words": WITH_TABLES["words"]}
    assert not beside(trained(blank(without)))._space.resources.made


def with_vectors(nlp: Language) -> Language:
    words = sorted({word for text, _ in TEXTS for word in text.split()})
    rows = np.random.default_rng(0).standard_normal((len(words), 3)).astype(np.float32)
    for word, row in zip(words, rows, strict=True):
        nlp.vocab.set_vector(word, row)
    return nlp


def test_vectors_of_the_pipeline_are_seen() -> None:
    nlp = trained(with_vectors(blank()))
    assert len(beside(nlp)._centre) == 3
    assert found(nlp) == GOLD
    assert len(beside(trained(with_vectors(blank(vectors=False))))._centre) == 0


def test_vectors_of_another_width_or_none_are_refused() -> None:
    nlp = trained(with_vectors(blank()))
    nlp.vocab.vectors.clear()
    beside(nlp)._table = None
    nlp.vocab.vectors = type(nlp.vocab.vectors)(shape=(2, 4))
    with pytest.raises(TrainingError, match=r"trained with 3 numbers .* now there are 4"):
        nlp("Vienna is where Hilbert spoke")


def test_a_vector_that_is_no_number_counts_as_none() -> None:
    nlp = with_vectors(blank())
    nlp.vocab.set_vector("Paris", np.full(3, np.nan, dtype=np.float32))
    trained(nlp)
    assert np.isfinite(beside(nlp)._centre).all()
    assert found(nlp) == GOLD


# What is refused


@pytest.mark.parametrize("name", ["width", "hidden", "window", "epochs", "share", "seed"])
def test_settings_out_of_range_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        blank(**{name: -1 if name == "seed" else 0})


@pytest.mark.parametrize("features", [[], ["lower@-1"], ["lower & class"], ["tag"]])
def test_features_are_those_of_a_word_alone(features: list[str]) -> None:
    with pytest.raises(ConfigError, match="attributes of a word alone"):
        blank(features=features)


def test_affixes_and_shapes_can_be_left_out() -> None:
    nlp = trained(blank(features=["lower"], epochs=1))
    distinct = {token for text, _ in TEXTS for token in text.lower().split()}
    assert len(beside(nlp)._space.index) == len(distinct)


@pytest.mark.parametrize(("are_spans", "n_units"), [(False, 100_000), (True, 16_000)])
def test_a_large_corpus_is_learnt_by_fewer_and_larger_steps(are_spans: bool, n_units: int) -> None:
    settings = Settings(epochs=11)
    usual = settings.schedule(n_units, are_spans)
    large = settings.schedule(n_units + 1, are_spans)
    assert (usual.epochs, large.epochs) == (11, 8)
    assert (large.batch, large.rate) == (2 * usual.batch, 1.5 * usual.rate)


def test_a_trainer_by_parts_is_refused() -> None:
    nlp = spacy.blank("en")
    model = {
        "@architectures": ARCHITECTURES[STAGES[0]], "templates": BIAS, "network": NETWORK,
    }  # fmt: skip
    trainer = {"@misc": "spacy_cascade.PassiveAggressive.v1"}
    loss = {"@misc": "spacy_cascade.Hinge.v2"}
    nlp.add_pipe(
        STAGES[0], config={"model": model, "trainer": trainer, "loss": loss, "penalty": None}
    )
    data = twice(nlp)
    nlp.initialize(lambda: data)
    with pytest.raises(ConfigError, match="takes it in parts"):
        nlp.update(data)


def changed(nlp: Language, change: Callable[[dict[str, Any]], None]) -> bytes:
    header, arrays = model_file.unpack(nlp.get_pipe(STAGES[0]).to_bytes(), "here")
    change(arrays)
    return model_file.pack(header, arrays)


def without_bias(arrays: dict[str, Any]) -> None:
    del arrays["beside:bias"]


def cut(arrays: dict[str, Any]) -> None:
    arrays["beside:of_features"] = arrays["beside:of_features"][:-1]


def not_finite(arrays: dict[str, Any]) -> None:
    arrays["beside:of_hidden"] = arrays["beside:of_hidden"] * np.float16(np.nan)


def no_size(arrays: dict[str, Any]) -> None:
    arrays["beside:centre"] = np.zeros(2, np.float16)
    arrays["beside:scale"] = np.zeros(2, np.float16)
    arrays["beside:of_vectors"] = np.zeros((2, 32), np.float16)


def fewer_columns(arrays: dict[str, Any]) -> None:
    arrays["beside:columns"] = arrays["beside:columns"][:1]


def another_label(arrays: dict[str, Any]) -> None:
    arrays["beside:columns"] = arrays["beside:columns"] + np.int32(9)


def single_precision(arrays: dict[str, Any]) -> None:
    arrays["beside:bias"] = arrays["beside:bias"].astype(np.float32)


def further(arrays: dict[str, Any]) -> None:
    arrays["beside:more"] = np.zeros(3, np.float32)


@pytest.mark.parametrize(
    "change",
    [
        without_bias, cut, not_finite, no_size, fewer_columns, another_label, single_precision,
        further,
    ],
)  # fmt: skip
def test_damaged_arrays_are_refused(nlp: Language, change: Callable[..., None]) -> None:
    again = blank().from_bytes(nlp.to_bytes())
    with pytest.raises(ModelFileError, match="beside:"):
        again.get_pipe(STAGES[0]).from_bytes(changed(nlp, change))
    assert found(again) == GOLD


def test_a_model_without_a_network_is_another_one(nlp: Language) -> None:
    plain = spacy.blank("en")
    model = {"@architectures": ARCHITECTURES[STAGES[0]], "templates": BIAS}
    plain.add_pipe(STAGES[0], config={"model": model})
    with pytest.raises(ModelFileError, match="network"):
        plain.get_pipe(STAGES[0]).from_bytes(nlp.get_pipe(STAGES[0]).to_bytes())
