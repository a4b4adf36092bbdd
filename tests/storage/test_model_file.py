"""Saved models: what is written can be read, and nothing else."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import blank
from spacy_cascade.errors import ModelFileError, NotTrainedError
from spacy_cascade.features.resources import SpanWordCounts
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.templates import Templates
from spacy_cascade.features.tokens import read_tokens
from spacy_cascade.numeric.index import KeyIndex
from spacy_cascade.storage import model_file as storage
from spacy_cascade.storage import sparse
from spacy_cascade.storage.header import VERSION, check_identity, make_header
from spacy_cascade.systems.dictionaries.lexicons import Lexicon
from spacy_cascade.systems.dictionaries.listed_terms import ExactlyListedTerms, ListedTerms
from spacy_cascade.systems.dictionaries.terms import TermList
from spacy_cascade.types import Keys1d

KIND = "cascade_linear_chain"
IDENTITY = {"templates": ["word@first+0", "lexicon(genes)@first+0"], "label_pairs": True}
LABELS = ["DNA", "größer", "𐌰"]
SETTINGS = {"threshold": 0.25, "label_thresholds": {"größer": 0.5}, "gold_key": None}
SHAPE, N_EDGES = (50, 4), 4


def make_space() -> FeatureSpace:
    lines = ("word@0", "seen_inside@0", "lexicon(genes)", "lexicon_exact(own)")
    lists = {"genes": ["p53", "STAT 5"], "own": TermList("own.jsonl", leave_out=True)}
    return FeatureSpace(Templates(lines, {}, lists))


def keys(*values: int) -> Keys1d:
    return np.array(values, dtype=np.uint64)


def saved_state() -> tuple[storage.Header, storage.Arrays]:
    generator = np.random.default_rng(2)
    space = make_space()
    space.index = KeyIndex(np.arange(1, SHAPE[0] + 1, dtype=np.uint64) << np.uint64(20))
    counts = generator.integers(0, 9, (3, 5)).astype(np.int32)
    plain = Lexicon(keys(7, 9), np.array([1, 0], dtype=np.int32), [""])
    labelled = Lexicon(
        keys(5, 6, 7),
        np.array([2, 0, 1], dtype=np.int32),
        ["größer", "𐌰"],
        np.array([False, False, True]),
    )
    space.resources.made = {
        "evidence": SpanWordCounts(KeyIndex(np.array([4, 2, 8], dtype=np.uint64)), counts),
        "lexicon(genes)": ListedTerms(plain, False),
        "lexicon_exact(own)": ExactlyListedTerms(labelled, True),
    }
    weights = generator.normal(size=SHAPE).astype(np.float16).astype(np.float32)
    curvature = generator.integers(0, 256, SHAPE).astype(np.uint8)
    header = make_header(KIND, LABELS, IDENTITY, SETTINGS)
    return header, storage.model_arrays(space, weights, np.zeros(N_EDGES), curvature)


def load(data: bytes) -> tuple[storage.Header, storage.Arrays, FeatureSpace]:
    """Everything that happens to the bytes of a model before kernels see its arrays."""
    header, arrays = storage.unpack(data, "the model")
    check_identity(header, KIND, IDENTITY)
    space = make_space()
    storage.check_arrays(arrays, SHAPE[0], SHAPE, N_EDGES, space)
    storage.restore_space(space, arrays)
    return header, arrays, space


GOOD = storage.pack(*saved_state())


def assert_is_the_saved_model(data: bytes) -> None:
    header, arrays, space = load(data)
    saved_header, saved_arrays = saved_state()
    assert header == saved_header
    assert arrays.keys() == saved_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, saved_arrays[name])
    np.testing.assert_array_equal(space.index.keys, saved_arrays["keys"])
    counts = space.resources.made["evidence"]
    np.testing.assert_array_equal(counts.index.keys, [4, 2, 8])
    np.testing.assert_array_equal(counts.counts, saved_arrays["evidence_counts"])
    plain, labelled = (
        space.resources.made[key].lexicon for key in ("lexicon(genes)", "lexicon_exact(own)")
    )
    np.testing.assert_array_equal(plain.keys, [7, 9])
    np.testing.assert_array_equal(plain.label, [1, 0])
    assert plain.labels == [""]
    assert plain.is_single is None
    np.testing.assert_array_equal(labelled.keys, [5, 6, 7])
    np.testing.assert_array_equal(labelled.label, [2, 0, 1])
    assert labelled.labels == ["größer", "𐌰"]
    np.testing.assert_array_equal(labelled.is_single, [False, False, True])


def test_an_untrained_reranker_has_not_read_its_lexicons() -> None:
    templates = {
        "@misc": "spacy_cascade.RerankingTemplates.v1",
        "lexicons": {"genes": ["IL-2 gene"]},
        "extra": ["seen_inside"],
    }
    nlp = blank()
    one, other = (
        nlp.add_pipe("cascade_reranker", name, config={"model": {"templates": templates}})
        for name in ("one", "other")
    )
    other.from_bytes(one.to_bytes())
    assert other.space.resources_to_read == ["lexicon(genes)"]
    assert list(other.space.resources.made) == ["evidence"]
    assert other.to_bytes() == one.to_bytes()


def test_a_model_that_lacks_a_lexicon_does_not_annotate() -> None:
    space = make_space()
    arrays = storage.model_arrays(space, np.zeros((0, 4)), np.zeros(4))
    storage.check_arrays(arrays, 0, (0, 4), 4, space)
    storage.restore_space(space, arrays)
    with pytest.raises(NotTrainedError, match=r"'lexicon\(genes\)' has not been read yet"):
        space.positions(read_tokens([blank()("IL-2 gene")]), str)
    space.index = KeyIndex(keys(7))
    arrays = storage.model_arrays(space, np.ones((1, 4)), np.zeros(4))
    with pytest.raises(ModelFileError, match="no valid array 'lexicon_keys:genes'"):
        storage.check_arrays(arrays, 1, (1, 4), 4, space)


def test_words_are_looked_at_anew_with_what_was_loaded() -> None:
    _, arrays, space = load(GOOD)
    n_before = len(space.lexemes)
    space.positions(read_tokens([blank()("IL-2 gene")]), str)
    assert len(space.lexemes) > n_before
    storage.restore_space(space, arrays)
    assert len(space.lexemes) == n_before


def refuse(data: bytes, match: str = "model") -> None:
    with pytest.raises(ModelFileError, match=match):
        load(data)


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """As the standard library writes it, all checksums right."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)
            member.create_system, member.compress_type = 3, method
            file.writestr(member, content)
    return buffer.getvalue()


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def array_bytes(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def with_member(name: str, content: bytes) -> bytes:
    return archive({**members_of(GOOD), name: content})


def with_array(name: str, array: Any) -> bytes:
    return with_member(f"{name}.npy", array_bytes(array))


def with_array_header(name: str, text: bytes, version: bytes = b"\x01\x00") -> bytes:
    """An array whose own header is any text."""
    return with_member(
        f"{name}.npy", b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + bytes(64)
    )


def with_header(**changes: Any) -> bytes:
    header, arrays = saved_state()
    header = {**header, **changes}
    return storage.pack({k: v for k, v in header.items() if v is not None}, arrays)


def test_what_was_saved_is_loaded():
    assert_is_the_saved_model(GOOD)


def test_equal_models_are_equal_bytes():
    assert storage.pack(*saved_state()) == GOOD


def test_the_archive_is_one_of_the_standard_library():
    assert archive(members_of(GOOD)) == GOOD


def test_arrays_are_those_of_numpy():
    arrays = saved_state()[1]
    with np.load(io.BytesIO(GOOD)) as loaded:
        assert list(loaded) == ["header", *arrays]
        for name, array in arrays.items():
            np.testing.assert_array_equal(loaded[name], array)
            assert array_bytes(array) == members_of(GOOD)[f"{name}.npy"]


def test_half_precision_only_where_it_loses_nothing():
    space = make_space()
    for weights, dtype in (
        ([[0.5]], np.float16),
        ([[0.1]], np.float32),
        ([[1e6]], np.float32),
        ([[1e-12]], np.float32),
    ):
        single = np.array(weights, dtype=np.float32)
        with np.errstate(over="raise"):
            saved = storage.model_arrays(space, single, np.array(weights[0]))["weights"]
        assert saved.dtype == dtype
        np.testing.assert_array_equal(saved, single)


def refused_or_unharmed(data: bytes) -> None:
    try:
        load(data)
    except ModelFileError:
        return
    assert_is_the_saved_model(data)


@given(st.binary(max_size=60), st.integers(0, len(GOOD)), st.integers(0, 60))
def test_overwritten_bytes(content, place, removed):
    refused_or_unharmed(GOOD[:place] + content + GOOD[place + removed :])


@given(st.binary(max_size=80))
def test_any_array_header(text):
    refuse(with_array_header("weights", text))


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"(" * 90,
        b"(" * 5000,
        b"-" * 20000 + b"1",
        b"[" * 200 + b"]" * 200,
        b"'unfinished",
        b"\x00",
        b"{}",
        b"1",
        b"{1: 2, 'a': 3}",
        b"{[]: 2}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        b"{'descr': 'nonsense', 'fortran_order': False, 'shape': (3,)}",
        b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
        b"{'descr': '<f4', 'fortran_order': 2, 'shape': (3,)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-3, -3)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (True, 0.5)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"9" * 400 + b",)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, " + b"9" * 40 + b")}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4000000000, 4000000000)}",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1," * 100 + b")}",
        b"{'descr': '<U0', 'fortran_order': False, 'shape': (4000000000,)}",
    ],
)
def test_array_headers_that_mislead(text):
    for member in ("weights", "keys", "header", "unknown"):
        refuse(with_array_header(member, text))


class Exploding:
    """An object that acts when it is read from a pickle."""

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        return pytest.fail, ("A pickle was executed.",)


@pytest.mark.parametrize("name", ["weights", "header", "unknown"])
def test_pickles_are_not_read(name):
    content = array_bytes(np.array([Exploding()], dtype=object), allow_pickle=True)
    refuse(with_member(f"{name}.npy", content), "no valid description of an array: .*'descr': '.O'")


def test_archive_of_someone_else():
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros(3))
    refuse(buffer.getvalue(), "damaged or not a model")
    refuse(with_header(format="word vectors"), "no model of spacy_cascade, its 'format'")


@pytest.mark.parametrize("field", ["format", "version", "kind", "labels", "identity", "settings"])
@pytest.mark.parametrize("value", [None, 1.5, [1], {"a": 1}, ["x", "x"]])
def test_fields_of_the_header(field, value):
    if (field, value) == ("identity", {"a": 1}):
        refuse(with_header(identity=value), "unknown setting 'a'")
    elif (field, value) == ("settings", {"a": 1}):
        load(with_header(settings=value))  # the component knows which settings there are
    else:
        refuse(with_header(**{field: value}))


@pytest.mark.parametrize(
    "labels", [["a", "a"], ["", "a"], ["b", "a"], [1], [["a"]], [None], ["\ud800"]]
)
def test_labels_of_the_header(labels):
    refuse(with_header(labels=labels), "labels|invalid unicode")


@pytest.mark.parametrize("value", [[1], {"a": {}}, [["a"]], {"a": [1]}])
def test_settings_of_no_kind_that_there_is(value):
    refuse(with_header(identity={**IDENTITY, "templates": value}), "'identity.templates")


@pytest.mark.parametrize("value", ["yes", 1, [True]])
def test_sentences_are_a_truth_value_or_unknown(value):
    refuse(with_header(sentences=value), "'sentences'")


def test_more_in_the_header():
    refuse(with_header(more=1), "'more': Unexpected keyword")


def test_too_long_a_header():
    """Not written, because it would not be read."""
    header, arrays = saved_state()
    for labels in (["x" * 300_000], [str(i) for i in range(20_000)]):
        with pytest.raises(ModelFileError, match="Have fewer labels"):
            storage.pack({**header, "labels": labels}, arrays)
        text = json.dumps({**header, "labels": labels}).encode()
        refuse(with_array("header", np.frombuffer(text, dtype=np.uint8)), "header is too long")


@pytest.mark.parametrize("version", [-1, VERSION - 1, VERSION + 1])
def test_other_versions(version):
    refuse(with_header(version=version), f"its 'version' is {version},.*Update spacy_cascade")


def test_settings_that_no_text_can_hold():
    refuse(with_header(settings={"spans_key": "\ud800"}), "invalid unicode")


def test_other_kind():
    refuse(with_header(kind="cascade_span_classifier"), "cascade_span_classifier")


def test_other_settings():
    changed_templates = {**IDENTITY, "templates": ["word@first+0"]}
    refuse(with_header(identity=changed_templates), r"'lexicon\(genes\)@first\+0' is only in")
    more = {**IDENTITY, "templates": [*IDENTITY["templates"], "bias"]}
    refuse(with_header(identity=more), "'bias' is not in the configuration")
    refuse(with_header(identity={**IDENTITY, "label_pairs": False}), "False instead of True")


@pytest.mark.parametrize("name", [name for name in saved_state()[1] if name != "curvature"])
def test_missing_array(name):
    header, arrays = saved_state()
    del arrays[name]
    refuse(storage.pack(header, arrays), name.split("_")[0])


def test_a_model_may_have_no_curvature():
    header, arrays = saved_state()
    del arrays["curvature"]
    assert "curvature" not in load(storage.pack(header, arrays))[1]


@pytest.mark.parametrize("name", list(saved_state()[1]))
@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[:-1],
        lambda array: array[..., None],
        lambda array: array.reshape(-1)[0],
        lambda array: array.astype(np.int16),
        lambda array: array.astype(np.complex128),
        lambda array: array.astype(str),
        lambda array: np.zeros(0, dtype=array.dtype),
    ],
    ids=["shorter", "deeper", "scalar", "int16", "complex", "text", "empty"],
)
def test_misshapen_array(name, change):
    header, arrays = saved_state()
    data = storage.pack(header, arrays)
    refuse(archive({**members_of(data), f"{name}.npy": array_bytes(change(arrays[name]))}))


@pytest.mark.parametrize("name", ["weights", "transitions"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers(name, value):
    array = saved_state()[1][name].copy()
    array.reshape(-1)[1] = value
    refuse(with_array(name, array), "not finite")


@pytest.mark.parametrize("name", ["weights", "transitions"])
def test_weights_that_single_precision_cannot_hold(name):
    array = saved_state()[1][name].astype(np.float64)
    array.reshape(-1)[1] = 1e300
    refuse(with_array(name, array), name)


@pytest.mark.parametrize(
    "name", ["keys", "evidence_keys", "lexicon_keys:genes", "lexicon_exact_keys:own"]
)
def test_keys_that_repeat_or_mean_nothing(name):
    for value in (saved_state()[1][name][0], 0):
        array = saved_state()[1][name].copy()
        array[-1] = value
        refuse(with_array(name, array), "repeats a key")


def test_flags_that_are_neither_true_nor_false():
    """A kernel looks up the values of labels by them."""
    for name in ("lexicon_complete:genes", "lexicon_exact_single:own"):
        array = saved_state()[1][name].view(np.uint8).copy()
        array[1] = 2
        refuse(with_array(name, array.view(np.bool_)), f"{name}.*neither true nor false")


def test_unknown_arrays():
    refuse(with_array("more", np.zeros(3, np.float32)), "unknown array 'more'")
    refuse(with_array("../more", np.zeros(3, np.float32)), "unknown array '../more'")


def with_few_weights() -> tuple[storage.Header, storage.Arrays]:
    """Those of a model that has no weights but three, one of them a negative zero."""
    header, arrays = saved_state()
    weights = np.zeros(SHAPE, np.float16)
    weights[0, 1], weights[3, 2], weights[-1, -1] = 1.5, -0.0, -2.0
    del arrays["weights"]
    return header, {**arrays, **sparse.shortest("weights", weights)}


def test_weights_that_are_mostly_zero():
    header, arrays, _ = load(storage.pack(*with_few_weights()))
    assert {"weights_places", "weights_values"} < arrays.keys()
    weights = sparse.restore("weights", arrays, SHAPE)
    assert [weights[0, 1], weights[3, 2], weights[-1, -1]] == [1.5, 0.0, -2.0]
    assert np.signbit(weights[3, 2])
    assert np.count_nonzero(weights) == 2
    assert storage.pack(header, arrays) == storage.pack(*with_few_weights())


def with_little_curvature() -> tuple[storage.Header, storage.Arrays]:
    header, arrays = saved_state()
    curvature = np.zeros(SHAPE, np.uint8)
    curvature[0, 1], curvature[-1, -1] = 7, 255
    del arrays["curvature"]
    return header, {**arrays, **sparse.shortest("curvature", curvature)}


def test_curvature_that_is_mostly_zero():
    header, arrays, _ = load(storage.pack(*with_little_curvature()))
    curvature = sparse.restore("curvature", arrays, SHAPE)
    assert curvature.dtype == np.uint8
    assert [curvature[0, 1], curvature[-1, -1], curvature.sum()] == [7, 255, 262]
    assert storage.pack(header, arrays) == storage.pack(*with_little_curvature())
    changed = {**arrays, "curvature_values": arrays["curvature_values"].astype(np.float16)}
    refuse(storage.pack(header, changed), "no valid array 'curvature_values'")
    changed = {**arrays, "curvature_places": ~arrays["curvature_places"]}
    refuse(storage.pack(header, changed), "curvature_places")
    del arrays["curvature_places"]
    refuse(storage.pack(header, arrays), "no valid array 'curvature_places'")


@pytest.mark.parametrize(
    ("name", "change", "named"),
    [
        ("weights_places", lambda array: array[:-1], "weights_places"),
        ("weights_places", lambda array: ~array, "weights_places"),
        ("weights_places", lambda array: array.astype(np.float32), "weights_places"),
        ("weights_values", lambda array: array[:-1], "3 places for the 2 values of"),
        ("weights_values", lambda array: array * np.float16(np.inf), "weights_values.*not finite"),
        ("weights_values", lambda array: array.astype(np.int32), "weights_values"),
    ],
)
def test_few_weights_that_do_not_fit(name, change, named):
    header, arrays = with_few_weights()
    with np.errstate(invalid="ignore"):
        refuse(storage.pack(header, {**arrays, name: change(arrays[name])}), named)


def test_few_weights_and_all_of_them():
    header, arrays = with_few_weights()
    refuse(storage.pack(header, {**saved_state()[1], **arrays}), "unknown array 'weights_places'")
    for name in ("weights_places", "weights_values"):
        rest = {other: array for other, array in arrays.items() if other != name}
        refuse(storage.pack(header, rest), f"no valid array '{name}'")


def test_counts_below_zero():
    counts = saved_state()[1]["evidence_counts"].copy()
    counts[1, 2] = -1
    refuse(with_array("evidence_counts", counts), "negative numbers")


def test_numbers_of_labels():
    """A kernel looks up the values of labels by them."""
    name = "lexicon_exact_complete:own"
    refuse(with_array(name, np.array([3, 0, 1], dtype=np.int32)), "labels beyond its own")
    refuse(with_array(name, np.array([-1, 0, 1], dtype=np.int32)), "negative numbers")
    refuse(with_array(name, np.array([True, False, True])), name)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b'["a"',
        b'{"a": 1, "b": 2}',
        b'"ab"',
        b"[1, 2]",
        b"\xff\xff",
        b"[" * 100_000,
        b"[]",
        b'["a", "b"] ',
        b'["a", "b", ',
        b'["a", "b\n"]',
        b'["a", "\\ud800"]',
        b'["a", "\\x"]',
    ],
)
def test_labels_of_a_lexicon_that_are_no_list_of_texts(text):
    refuse(with_array("lexicon_exact_labels:own", np.frombuffer(text, np.uint8)), "list of labels")


def test_labels_of_a_lexicon_that_are_too_many_or_too_long():
    for labels in (["a"] * 70_000, ["a" * 40_000]):
        text = np.frombuffer(json.dumps(labels).encode(), np.uint8)
        refuse(with_array("lexicon_exact_labels:own", text), "list of labels")
    most = np.frombuffer(json.dumps(["\x01" * 5_000, "b"]).encode(), np.uint8)
    assert load(with_array("lexicon_exact_labels:own", most))


def test_byte_order_of_another_machine():
    header, arrays = saved_state()
    others = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in arrays.items()}
    assert storage.pack(header, others) == GOOD


def test_the_message_names_the_file_and_what_to_do():
    with pytest.raises(ModelFileError, match=r"models/best/cascade\.npz.*train the model again"):
        storage.unpack(GOOD[:50], "models/best/cascade.npz")


@pytest.mark.skipif(os.name != "posix", reason="there are no pipes and devices as files")
@pytest.mark.parametrize(
    "make", [lambda path: os.mkfifo(path), lambda path: os.symlink("/dev/zero", path), os.mkdir]
)
def test_what_is_no_file_is_not_read(make, tmp_path):
    make(tmp_path / "cascade.npz")
    with pytest.raises(ModelFileError, match=r"cascade\.npz: it is no file"):
        storage.read_file(tmp_path)


def test_header_is_readable_without_this_package():
    header = json.loads(
        np.load(io.BytesIO(GOOD))["header"].tobytes().decode("utf8", "surrogatepass")
    )
    assert header["format"] == "spacy_cascade"
