"""Sizes of models, checked before anything large is made.

Training has to end, and what it made has to fit into memory and into a model file. All estimates
are lower bounds: what is refused here could not have worked.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ..errors import TrainingError
from ..features.strings import is_valid
from ..scorers import linear
from ..storage import archive
from ..storage.header import header_excess, make_header
from ..trainers.base import BYTES_OF_WEIGHT, Room, Shape, Trainer
from .component import Component
from .settings import settings_of

MOST_TRANSITIONS = 1 << 24
"""Loss and gradient take about 0.3 ns for each and a token: 5 ms a token, and decoding half."""
MOST_WITH_PAIRS = 1 << 19
"""Where features see label pairs they take about 11 ns: nearly 6 ms a token."""

_BYTES_OF_TRANSITION = 3 * 4 + 1 + 3 * 8
"""Source, target and column, whether it goes on; weight, gradient and parameter."""
_BYTES_ON_DISK = 2 + 1
"""A weight in half precision, and the diagonal of the Hessian."""
_FEWER_FEATURES = "raise min_count in [model]"
_GROUPS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_names(name: str, labels: Iterable[object]) -> None:
    """Raise `TrainingError` for a label that no Doc can have; name: of the component."""
    for label in labels:
        if not isinstance(label, str) or not label or not is_valid(label):
            raise TrainingError(
                f"'{name}' cannot have the label {label!r}: spaCy could not write it to a Doc, "
                "because it is empty, no text, or not valid Unicode. Give it another name."
            )


def check_labels(component: Component, labels: Collection[str]) -> None:
    """Raise `TrainingError` where a component cannot be trained or saved with so many labels.

    Looks at the labels alone, before features are learnt and before a structure is made.
    """
    n_labels, name = len(labels), component.name
    header = make_header(component.model.name, sorted(labels), component._identity(), component.cfg)
    excess = header_excess(header)
    if excess is not None:
        raise TrainingError(
            f"'{name}' cannot have {n_labels:,} labels: the model could not be saved, because "
            f"{excess}. Learn fewer labels or shorter names: set gold_labels in a segmenter or "
            "classifier, or merge labels in the corpus."
        )
    n_transitions, n_columns = component._structure_size(n_labels)
    sees_pairs = getattr(component.family, "label_pairs", False)
    most = MOST_WITH_PAIRS if sees_pairs else MOST_TRANSITIONS
    if n_transitions > most:
        raise TrainingError(
            f"'{name}' cannot have {n_labels:,} labels: they make {n_transitions:,} transitions, "
            f"and with more than {most:,} each iteration of training takes about 5 milliseconds or "
            "more for every token. " + _advice(component, n_transitions=n_transitions)
        )
    _check_memory(
        component,
        n_transitions * _BYTES_OF_TRANSITION + 2 * n_columns**2 * 8,
        f"{n_labels:,} labels make {n_transitions:,} transitions and {n_columns:,} scores a unit",
    )


def set_to_zero(component: Component) -> None:
    """Give the model weights of zero for the features of its space and its labels.

    Raises `TrainingError` where these cannot be trained in memory, or not be saved.
    """
    labels = component.labels
    n_dense = dense_rows(component)
    check_weights(component, len(labels), len(component.space) + n_dense)
    structure = component.structure
    try:
        sizes = structure.n_columns, structure.n_transitions
        linear.set_to_zero(component.model, *sizes, n_dense)
    except MemoryError as error:
        raise TrainingError(
            f"There is not enough memory for '{component.name}': {len(labels)} labels and {error}. "
            + _advice(component, _FEWER_FEATURES)
        ) from None


def dense_rows(component: Component) -> int:
    """How many of the last rows of its weights are those of vectors (`numeric.dense`)."""
    return linear.n_dense(component.model)


def check_weights(component: Component, n_labels: int, n_features: int) -> None:
    """Raise `TrainingError` for weights that cannot be trained in memory, or not be saved."""
    _, n_columns = component._structure_size(n_labels)
    n_weights = n_features * n_columns
    what = (
        f"{n_labels:,} labels make {n_columns:,} scores a unit, and {n_features:,} features have "
        f"a weight for each: {n_weights:,} weights"
    )
    room = room_of(component, n_features, n_columns)
    # Only a penalty makes weights that are mostly not zero; others are saved without their zeros.
    size = max(n_weights // 8, room.n_weights * _BYTES_ON_DISK)
    if size >= archive.MAXIMUM_SIZE:
        raise TrainingError(
            f"The model of '{component.name}' could not be saved: {what} take {size:,} bytes, and "
            f"a file can hold {archive.MAXIMUM_SIZE:,}. " + _advice(component, _FEWER_FEATURES)
        )
    _check_memory(component, room.n_bytes, what, _FEWER_FEATURES)


def room_of(component: Component, n_features: int, n_columns: int) -> Room:
    """What training a model of a component takes at least; where it has no trainer, online."""
    trainer: Trainer | None = getattr(component, "trainer", None)
    if trainer is None:
        return Room(n_features * n_columns * BYTES_OF_WEIGHT, 0)
    return trainer.room(
        Shape(n_features, n_columns, getattr(component.family, "label_pairs", True))
    )


def _check_memory(component: Component, needed: int, what: str, *steps: str) -> None:
    available = available_memory()
    if available is not None and needed > available:
        raise TrainingError(
            f"There is not enough memory for '{component.name}': {what}. Training takes at least "
            f"{_gigabytes(needed)}, and {_gigabytes(available)} are available. "
            + _advice(component, *steps)
        )


def _advice(component: Component, *steps_before: str, n_transitions: int = 0) -> str:
    """What to change, as a sentence; n_transitions: of labels that make too many of them."""
    steps = list(steps_before)
    sees_pairs = getattr(component.family, "label_pairs", False)
    if sees_pairs and n_transitions <= MOST_TRANSITIONS:
        steps.append("set label_pairs = false in [model]")
    if "typed" in settings_of(type(component)) and getattr(component, "typed", False):
        steps.append("have a cascade, whose segmenter needs no labels (typed = false)")
    elif hasattr(component, "gold_labels"):
        steps.append("learn fewer labels (gold_labels)")
    else:
        steps.append("merge labels in the corpus")
    text = ", or ".join(steps)
    return f"{text[0].upper()}{text[1:]}."


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that this process can still take; None where the system does not say.

    On Linux the least of what is free, of the limit of the control group, and of the limit on
    address space; elsewhere all physical memory.
    """
    return min(_limits(root), default=None)


def _limits(root: Path) -> Iterator[int]:
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith(("MemAvailable:", "MemTotal:")):
                yield int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in _GROUPS:
        try:
            yield int((root / name).read_text())
        except (OSError, ValueError):
            continue
    try:
        import resource
    except ImportError:  # Windows
        return
    of_process, _ = resource.getrlimit(resource.RLIMIT_AS)
    if of_process != resource.RLIM_INFINITY:
        yield of_process
