"""The state of an encoder in a model file, and which states an encoder takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from thinc.api import Embed, LayerNorm, Linear, Model, chain

from spacy_cascade import ModelFileError
from spacy_cascade.storage.encoder_state import checked_encoder, encoder_arrays

WIDTH = 4


def encoder(n_rows: int = 7) -> Model[Any, Any]:
    """Rows of a table, and two layers on them, with numbers that differ."""
    made: Model[Any, Any] = chain(
        Embed(WIDTH, n_rows), Linear(WIDTH, WIDTH), LayerNorm(WIDTH)
    ).initialize()
    generator = np.random.default_rng(3)
    for node in made.walk():
        for name in node.param_names:
            node.set_param(name, generator.random(node.get_param(name).shape, dtype=np.float32))
    return made


def state(model: Model[Any, Any]) -> Any:
    return encoder_arrays(model)["tok2vec"]


def test_nothing_of_no_encoder() -> None:
    assert encoder_arrays(None) == {}
    assert checked_encoder(None, None, is_needed=False) is None
    assert checked_encoder(None, None, is_needed=True) is None


def test_what_was_written_is_restored() -> None:
    written, read = encoder(), encoder()
    read.layers[0].set_param("E", np.zeros((7, WIDTH), np.float32))
    checked = checked_encoder(read, state(written), is_needed=True)
    assert checked is not None
    assert checked.width == WIDTH
    assert not read.layers[0].get_param("E").any(), "a check changes nothing"
    checked.restore()
    assert np.array_equal(read.layers[0].get_param("E"), written.layers[0].get_param("E"))


def test_an_encoder_without_state_is_taken_where_no_weights_need_it() -> None:
    assert checked_encoder(encoder(), None, is_needed=False) is None
    with pytest.raises(ModelFileError, match="configuration has a tok2vec, and the file has none"):
        checked_encoder(encoder(), None, is_needed=True)


@pytest.mark.parametrize("is_needed", [False, True])
def test_a_state_of_no_encoder_is_refused(is_needed: bool) -> None:
    with pytest.raises(ModelFileError, match="file has a tok2vec, and the configuration has none"):
        checked_encoder(None, state(encoder()), is_needed=is_needed)


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(ModelFileError, match="damaged, or of another tok2vec"):
        checked_encoder(encoder(), state(encoder())[:50], is_needed=True)
    with pytest.raises(ModelFileError, match="damaged, or of another tok2vec"):
        checked_encoder(encoder(), state(Linear(WIDTH, WIDTH).initialize()), is_needed=True)


def test_a_state_of_another_size_is_refused() -> None:
    with pytest.raises(ModelFileError, match="'nV' for model 'embed' from 7 to 8"):
        checked_encoder(encoder(), state(encoder(n_rows=8)), is_needed=True)


def test_an_encoder_without_width_is_refused() -> None:
    nameless: Model[Any, Any] = Model("nameless", lambda model, X, is_train: (X, lambda dX: dX))
    with pytest.raises(ModelFileError, match="does not say how wide"):
        checked_encoder(nameless, state(nameless), is_needed=True)


def longer(values: Any) -> Any:
    return np.concatenate([values, values[:1]])


def whole(values: Any) -> Any:
    return values.astype(np.int32)


def infinite(values: Any) -> Any:
    values.flat[-1] = np.inf
    return values


@pytest.mark.parametrize(
    ("layer", "name"),
    [(0, "E"), (1, "W"), (1, "b"), (2, "G"), (2, "b")],
    ids=["rows", "matrix", "bias", "norm", "shift"],
)
@pytest.mark.parametrize(
    ("change", "message"),
    [(longer, "has the shape"), (whole, "no finite numbers"), (infinite, "no finite numbers")],
)
def test_an_array_that_its_layer_cannot_have_is_refused(
    layer: int, name: str, change: Callable[[Any], Any], message: str
) -> None:
    changed = encoder()
    node = changed.layers[layer]
    node.set_param(name, change(node.get_param(name).copy()))
    with pytest.raises(ModelFileError, match=f"in '{node.name}', '{name}' has.*{message[4:]}"):
        checked_encoder(encoder(), state(changed), is_needed=True)


def test_a_file_cannot_hide_what_a_layer_is() -> None:
    """Sizes go by the layers of the config, whatever the file calls them."""
    changed = encoder()
    changed.layers[0].set_param("E", longer(changed.layers[0].get_param("E")))
    changed.layers[0].name = "of mine"
    with pytest.raises(ModelFileError, match="in 'embed', 'E' has the shape"):
        checked_encoder(encoder(), state(changed), is_needed=True)


def test_layers_of_others_may_have_any_shape() -> None:
    """Sizes say what shapes arrays have only for layers that we know."""

    def other() -> Model[Any, Any]:
        rows: Any = np.ones((3, 2), np.float32)
        return Model(
            "another",
            lambda model, X, is_train: (X, lambda dX: dX),
            params={"R": rows, "unset": None},
            dims={"nO": 5},
        )

    checked = checked_encoder(other(), state(other()), is_needed=True)
    assert checked is not None
    assert checked.width == 5
