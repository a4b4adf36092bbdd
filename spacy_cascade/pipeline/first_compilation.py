"""Which kernels a component needs soon; a second process compiles some of them."""

from ..compiling_ahead import ANNOTATION, TRAINING, compile_ahead
from ..inference.linear_chain import ChainFamily
from .component import Component


def expect_annotation(pipe: Component) -> None:
    """A component was loaded."""
    if _is_usual(pipe):
        compile_ahead(ANNOTATION)


def expect_training(pipe: Component) -> None:
    """A component learns, and is then scored."""
    if _is_usual(pipe):
        compile_ahead(TRAINING + ANNOTATION)


def _is_usual(pipe: Component) -> bool:
    """Whether it is a chain whose features see label pairs, as by default: others need less."""
    return type(pipe.family) is ChainFamily and pipe.family.label_pairs
