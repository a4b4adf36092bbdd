"""The linear model behind both stages: a thinc model that scores units.

Its weights `W` `[K, S]` and `transitions` `[E]` are ordinary thinc parameters, so that
`use_params`, copying and pickling work as for any spaCy component. Scores of lexemes are
cached: a word's part of the score is summed once, however often it occurs.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from thinc.api import Model

from ..checks import configured
from ..errors import ConfigError, NotTrainedError
from ..features.pair_scores import add_unit_scores
from ..features.space import FeatureSpace
from ..features.templates import Templates
from ..features.units import Units
from ..inference.linear_chain import ChainFamily
from ..numeric.dense import width_of_units
from ..numeric.encoded import Encoded, sum_of_scores
from ..parallel import Workers
from ..rooms import offered
from ..types import Floats1d, Floats2d, Pointers1d, RealsXd
from .beside import Beside, Network
from .kept_scores import LexemeScores, PairScores, check_features

MANY_COLUMNS = 128
"""From so many score columns on, weights may be mostly zero."""
_NEW = -1
"""Place of what was not there before."""
_BLOCK = 1 << 16
"""So many units are scored at once, about a tenth of a second, so Ctrl-C takes effect soon."""
_SPARSE_BLOCK = 1 << 12
"""The same where all features of a unit are listed."""
_SMALLEST, _STEPS = 0.0625, 8.0
"""Unit of the Hessian's diagonal, and steps in which it is kept until it has doubled."""


def make_linear_model(
    name: str,
    templates: Templates,
    min_count: int,
    structure: Any,
    space: FeatureSpace | None = None,
    tok2vec: Model[Any, Any] | None = None,
    beside: Beside | None = None,
) -> "Model[Units, Floats2d]":
    """A model without weights; structure: those it can have, such as a `ChainFamily`.

    space: what it looks at, where that is more than units. tok2vec: gives vectors of tokens, which
    a linear layer scores, too; its weights are the last rows (`numeric.dense`). beside: what is
    trained by itself, and adds its scores.
    """
    if min_count < 1:
        raise ConfigError(f"min_count must be 1 or more, not {min_count}. Mend [model].")
    space = FeatureSpace(templates) if space is None else space
    if beside is not None:
        space.plan = replace(space.plan, margin=max(space.plan.margin, beside.margin))
    return Model(
        name,
        _forward,
        layers=[] if tok2vec is None else [tok2vec],
        refs={"tok2vec": tok2vec},
        params={"W": None, "transitions": None},
        attrs={
            "space": space,
            "beside": beside,
            "lexeme_scores": LexemeScores(),
            "pair_scores": PairScores(),
            "sparse_scores": None,
            "hessian_diagonal": None,
            "sentences": None,
            "min_count": min_count,
            "structure": structure,
        },
    )


@configured
def make_linear_chain(
    templates: Templates,
    min_count: int = 5,
    label_pairs: bool = True,
    tok2vec: Model[Any, Any] | None = None,
    network: Network | None = None,
) -> Model[Units, Floats2d]:
    """A linear chain.

    templates: what features look at. min_count: features in fewer tokens are dropped. label_pairs:
    combine features with the pair (previous label, label) too, not only with the label. tok2vec:
    an encoder, such as a listener, whose vectors are scored beside the features. network: what is
    trained by itself, and adds its scores, such as `spacy_cascade.WordWindow.v1`.
    """
    family = ChainFamily(label_pairs)
    beside = None if network is None else network.scorer(templates, are_spans=False)
    name = "cascade_linear_chain"
    return make_linear_model(name, templates, min_count, family, tok2vec=tok2vec, beside=beside)


@configured
def make_span_classifier(
    templates: Templates,
    min_count: int = 5,
    tok2vec: Model[Any, Any] | None = None,
    network: Network | None = None,
) -> Model[Units, Floats2d]:
    """A log-linear span classifier; min_count: features in fewer spans are dropped.

    tok2vec: an encoder; a span is seen as the vectors of its first and last token and their mean.
    network: as for a chain; it sees the words beside a span, at its edges and inside.
    """
    family = ChainFamily(label_pairs=False)
    beside = None if network is None else network.scorer(templates, are_spans=True)
    name = "cascade_span_classifier"
    model = make_linear_model(name, templates, min_count, family, tok2vec=tok2vec, beside=beside)
    model.attrs["are_spans"] = True
    return model


def parts_of(model: Model[Any, Any]) -> dict[str, bool]:
    """What else scores units, by name: without it, or with it alone, weights mean little."""
    parts = {"tok2vec": encoder_of(model), "network": model.attrs["beside"]}
    return {name: True for name, part in parts.items() if part is not None}


def encoder_of(model: Model[Any, Any]) -> Model[Any, Any] | None:
    """The `tok2vec` of a model, if it has one."""
    return model.maybe_get_ref("tok2vec")


def n_dense(model: Model[Any, Any], width: int | None = None) -> int:
    """How many of the last rows of the weights are those of vectors.

    width: of the vectors; None for those that the encoder gives now.
    """
    encoder = encoder_of(model)
    if encoder is None:
        return 0
    own = encoder.get_dim("nO") if width is None else width
    return width_of_units(own, model.attrs.get("are_spans", False))


def all_scores(
    model: Model[Units, Floats2d],
    units: Units,
    others: Sequence[Encoded],
    blocks: Sequence[slice],
) -> list[Floats2d]:
    """Scores of units, with what other scorers add; blocks: the columns of each array."""
    of_units = model.predict(units)
    beside = model.attrs["beside"]
    if beside is not None and beside.is_trained:
        beside.add_scores(units, of_units)
    if not others:
        return [of_units]
    weights, _ = get_weights(model)
    check_features(model.attrs["space"], weights)
    return sum_of_scores(others, weights, blocks, Workers(1), of_units)


def unit_scores(model: Model[Units, Floats2d], units: Units) -> Floats2d:
    """Scores of units `[U, S]`, where nothing but units has scores."""
    others = model.attrs["space"].encode_others(units)
    (scores,) = all_scores(model, units, others, [slice(None)])
    return scores


def set_weights(model: Model[Units, Floats2d], weights: RealsXd, transitions: Floats1d) -> None:
    """Publish weights `[K, S]` and transitions `[E]`.

    They are rounded to half precision, which does not change the result and halves the model
    on disk. Rounding them here keeps a saved model and the one in memory equal.
    """
    for name, values in (("W", weights), ("transitions", transitions)):
        with np.errstate(over="ignore"):
            rounded = values.astype(np.float16)
        kept = rounded if np.isfinite(rounded).all() else values
        model.set_param(name, cast(Any, kept.astype(np.float32)))


def can_be_kept(values: npt.NDArray[Any]) -> bool:
    """Whether all values are numbers in single precision, in which weights are kept."""
    largest = np.finfo(np.float32).max
    # No comparison with a NaN is true.
    return bool(values.max(initial=0.0) <= largest and values.min(initial=0.0) >= -largest)


def get_weights(
    model: Model[Units, Floats2d], name: str | None = None
) -> tuple[Floats2d, Floats1d]:
    """Weights `[K, S]` and transitions `[E]`. Raises `NotTrainedError` before there are any.

    name: of the component, for the error.
    """
    if not model.has_param("W"):
        raise NotTrainedError(
            f"{'The component' if name is None else repr(name)} has no weights yet. Train it with "
            "'spacy train' or spacy_cascade.fit, or call nlp.initialize(lambda: examples), and "
            "then nlp.update(examples), before you run it on Docs."
        )
    transitions: Any = model.get_param("transitions")
    return cast(Any, model.get_param("W")), transitions.astype(np.float64)


def set_to_zero(
    model: Model[Units, Floats2d], n_columns: int, n_transitions: int, n_dense: int = 0
) -> None:
    """Weights of zero for all features, and for so many numbers in vectors.

    Raises `MemoryError`, which says how many they would be.
    """
    shape = len(model.attrs["space"]) + n_dense, n_columns
    try:
        set_weights(model, np.zeros(shape), np.zeros(n_transitions))
    except MemoryError:
        raise MemoryError(f"{shape[0]} features take {shape[0]} x {shape[1]} weights") from None
    set_hessian_diagonal(model, None)
    if model.attrs["beside"] is not None:
        model.attrs["beside"].restore({}, [])


def forget_weights(model: Model[Units, Floats2d]) -> None:
    """Have no weights, as before training."""
    for name in ("W", "transitions"):
        model.set_param(name, None)
    if model.attrs["beside"] is not None:
        model.attrs["beside"].restore({}, [])
    set_hessian_diagonal(model, None)


def add_features(model: Model[Units, Floats2d], n: int, n_dense: int = 0) -> None:
    """Add `n` rows of zero weights, before those of vectors."""
    weights, transitions = get_weights(model)
    set_weights(model, with_rows(weights, n, n_dense), transitions)
    if model.attrs["hessian_diagonal"] is not None:
        model.attrs["hessian_diagonal"] = with_rows(model.attrs["hessian_diagonal"], n, n_dense)


def with_rows(values: npt.NDArray[Any], n: int, n_dense: int) -> npt.NDArray[Any]:
    """Values `[K, S]` with `n` rows of zeros before the last `n_dense` ones."""
    place = len(values) - n_dense
    zeros = np.zeros((n, values.shape[1]), dtype=values.dtype)
    return np.concatenate([values[:place], zeros, values[place:]])


Names = tuple[Sequence[Hashable], Sequence[Hashable]]
"""What the score columns and the transitions of a model are known by."""


def rearrange(model: Model[Units, Floats2d], before: Names, now: Names) -> None:
    """Give the model other score columns and transitions; new ones are zero."""
    weights, transitions = get_weights(model)
    columns, edges = (places(*pair) for pair in zip(before, now, strict=True))
    set_weights(model, taken(weights, columns), taken(transitions, edges))
    if model.attrs["beside"] is not None:
        model.attrs["beside"].set_columns(labels_of(now))
    if model.attrs["hessian_diagonal"] is not None:
        model.attrs["hessian_diagonal"] = taken(model.attrs["hessian_diagonal"], columns)


def labels_of(names: Names) -> list[str]:
    """The label that each score column is of."""
    return [str(seen[-1]) if isinstance(seen, tuple) else str(seen) for seen in names[0]]


def places(before: Sequence[Hashable], now: Sequence[Hashable]) -> Pointers1d:
    """Where each name stood before, -1 where it is new."""
    place = {name: i for i, name in enumerate(before)}
    return np.array([place.get(name, _NEW) for name in now], dtype=np.int64)


def taken(values: npt.NDArray[Any], places: Pointers1d) -> npt.NDArray[Any]:
    """Values at places of the last axis, zero where a name is new."""
    return np.where(places == _NEW, 0, values[..., places]).astype(values.dtype)


def keep_hessian_diagonal(model: Model[Units, Floats2d], diagonal: Floats2d) -> None:
    """Keep that of the loss, `[K, S]`, in 256 steps, which differ by less than a tenth."""
    kept = np.empty(diagonal.shape, dtype=np.uint8)
    n_rows = max(1, _BLOCK // max(1, diagonal.shape[1]))
    for begin in range(0, len(diagonal), n_rows):
        block = slice(begin, begin + n_rows)
        steps = np.rint(_STEPS * np.log2(1.0 + np.maximum(diagonal[block], 0.0) / _SMALLEST))
        kept[block] = np.minimum(steps, 255.0)
    model.attrs["hessian_diagonal"] = kept


def set_hessian_diagonal(
    model: Model[Units, Floats2d], diagonal: npt.NDArray[np.uint8] | None
) -> None:
    """Set it `[K, S]` as it is kept."""
    model.attrs["hessian_diagonal"] = None if diagonal is None else diagonal.copy()


def get_hessian_diagonal(model: Model[Units, Floats2d]) -> Floats2d | None:
    """That of the loss, `[K, S]`, as it was kept; None where nothing is known of it."""
    return hessian_of(model.attrs["hessian_diagonal"])


def hessian_of(steps: npt.NDArray[np.uint8] | None) -> Floats2d | None:
    """The diagonal that these steps stand for, `[K, S]`."""
    return None if steps is None else _SMALLEST * (np.exp2(steps / _STEPS) - 1.0)


def _forward(
    model: Model[Units, Floats2d], units: Units, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Units]]:
    """Scores `[U, S]`. The way back adds to the gradient of `W` and returns the units."""
    weights, _ = get_weights(model)
    space: FeatureSpace = model.attrs["space"]
    scores = np.zeros((len(units.first), weights.shape[1]))
    sparse = _sparse_scores(model, weights)
    if sparse is None:
        _add_dense_scores(model, units, weights, scores)
    else:
        for begin in range(0, len(scores), _SPARSE_BLOCK):
            block = slice(begin, begin + _SPARSE_BLOCK)
            sparse.add_scores(space, units.take(block), weights, scores[block])

    def backprop(score_gradient: Floats2d) -> Units:
        gradient = np.zeros(weights.shape)
        space.design(units).add_gradient(score_gradient, gradient, Workers(1))
        model.inc_grad("W", cast(Any, gradient.astype(np.float32)))
        return units

    return scores, backprop


def _sparse_scores(model: Model[Units, Floats2d], weights: Floats2d) -> Any:
    """What sums weights of many labels (`systems.many_labels.scores`), if it is there and pays."""
    family = model.attrs["structure"]
    if weights.shape[1] < MANY_COLUMNS or type(family) is not ChainFamily or family.label_pairs:
        return None
    if model.attrs["sparse_scores"] is None and (made := offered("unit_scores")) is not None:
        model.attrs["sparse_scores"] = made()
    scores = model.attrs["sparse_scores"]
    return None if scores is None else scores.of(weights)


def _add_dense_scores(
    model: Model[Units, Floats2d], units: Units, weights: Floats2d, out: Floats2d
) -> None:
    """Add the scores of units `[U, S]`, with those of words that are known."""
    space: FeatureSpace = model.attrs["space"]
    table = units.positions.table
    by_lexeme = model.attrs["lexeme_scores"].rows(space, table, weights)
    with model.attrs["pair_scores"].lent(space, table, weights) as known:
        check_features(space, weights)
        for begin in range(0, len(out), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            add_unit_scores(space, units.take(block), by_lexeme, known, weights, out[block])
