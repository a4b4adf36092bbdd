"""What is saved of a component, and pipelines saved as a whole or not at all."""

from collections.abc import Container
from pathlib import Path

from spacy.language import Language

from ..errors import ModelFileError
from ..files import replace_folder
from ..scorers import linear
from ..scorers.beside import BESIDE
from ..storage import model_file, sparse
from ..storage.arrays import Arrays
from ..storage.encoder_state import ENCODER, checked_encoder, encoder_arrays
from ..storage.header import Header, check_identity, make_header
from .component import Component
from .examples import CorpusReader
from .first_compilation import expect_annotation
from .sequences import ATTRIBUTE
from .settings import check_saved, take_saved, to_save
from .sizes import dense_rows
from .splitting import ATTRIBUTE as SPLITTING
from .splitting import Splitting


def save_pipeline(nlp: Language, path: str | Path) -> None:
    """Save a pipeline as `nlp.to_disk` does, but so that an old one stays until it is complete.

    Files that are not the pipeline's stay in the folder. Raises `SavingError` where the disk is
    full or the folder cannot be written; the old pipeline is then still there
    (`files.replace_folder`).
    """
    replace_folder(path, nlp.to_disk)


def saved(pipe: Component, exclude: Container[str]) -> tuple[Header, Arrays]:
    """What the file of a component holds."""
    pipe.sync_curvature()
    settings = to_save(pipe, exclude)
    stated = pipe.model.name, list(pipe.labels), pipe._identity(), settings
    splitting: Splitting | None = pipe.model.attrs.get(SPLITTING)
    known = pipe.model.attrs[ATTRIBUTE], None if splitting is None else splitting.to_save()
    header = make_header(*stated, *known)
    if not pipe.model.has_param("W"):
        return header, {}
    curvature = pipe.model.attrs["hessian_diagonal"]
    features, transitions = pipe.weights
    arrays = model_file.model_arrays(pipe.space, features, transitions, curvature)
    beside = pipe.model.attrs["beside"]
    of_beside = {} if beside is None else beside.arrays()
    return header, arrays | encoder_arrays(linear.encoder_of(pipe.model)) | of_beside


def load(pipe: Component, header: Header, arrays: Arrays, exclude: Container[str]) -> None:
    """Take what was saved. Raises `ModelFileError`, and changes nothing, where it is wrong."""
    check_identity(header, pipe.model.name, pipe._identity())
    labels, settings = header["labels"], header.get("settings", {})
    check_saved(pipe, settings)
    encoder_state = arrays.pop(ENCODER, None)
    beside, of_beside = pipe.model.attrs["beside"], {}
    if beside is not None:
        of_beside = {name: arrays.pop(name) for name in list(arrays) if name.startswith(BESIDE)}
        beside.check(of_beside, pipe._structure_size(len(labels))[1])
    encoder = checked_encoder(linear.encoder_of(pipe.model), encoder_state, bool(arrays))
    if arrays:
        n_dense = 0 if encoder is None else linear.n_dense(pipe.model, encoder.width)
        _check_arrays(pipe, len(labels), arrays, n_dense)
    take_saved(pipe, settings, exclude)
    pipe._set_labels(labels)
    expect_annotation(pipe)
    pipe.model.attrs[ATTRIBUTE] = header.get("sentences")
    pipe.model.attrs[SPLITTING] = Splitting.saved(header.get("tokenizer"))
    if encoder is not None:
        encoder.restore()
    if arrays:
        _restore(pipe, arrays)
    else:
        pipe._forget_weights()
    if beside is not None:
        beside.restore(of_beside, linear.labels_of(pipe._names()) if of_beside else [])
    pipe.reset_fit()
    pipe.n_examples, pipe._reader, pipe._awaited = None, CorpusReader(), None
    pipe.warm_start = bool(arrays) and bool(pipe.weights.features.any())


def _check_arrays(pipe: Component, n_labels: int, arrays: Arrays, n_dense: int) -> None:
    """Raise `ModelFileError` where they are not those of a model of so many labels.

    n_dense: rows of the weights that are those of vectors.
    """
    n_features = arrays["keys"].size if "keys" in arrays else 0
    if not n_labels and (n_features or not pipe._may_be_untrained):
        raise ModelFileError(f"The saved model of '{pipe.name}' has no labels.")
    n_transitions, n_columns = pipe._structure_size(n_labels)
    shape = n_features + n_dense, n_columns
    model_file.check_arrays(arrays, n_features, shape, n_transitions, pipe.space)


def _restore(pipe: Component, arrays: Arrays) -> None:
    """Have the weights, features and resources of checked arrays."""
    model_file.restore_space(pipe.space, arrays)
    n_rows = len(pipe.space) + dense_rows(pipe)
    shape = n_rows, pipe._structure_size(len(pipe._labels))[1]
    linear.set_weights(pipe.model, sparse.restore("weights", arrays, shape), arrays["transitions"])
    has_curvature = sparse.is_there("curvature", arrays)
    curvature = sparse.restore("curvature", arrays, shape) if has_curvature else None
    linear.set_hessian_diagonal(pipe.model, curvature)
