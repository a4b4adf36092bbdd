"""Which kernels a component needs soon; a second process compiles some of them."""

from ..compiling_ahead import ANNOTATION, TRAINING, compile_ahead
from ..inference.linear_chain import ChainFamily
from .component import Component


def expect_annotation(pipe: Component) -> None:
    """A component was loaded."""
    compile_ahead(ANNOTATION if _is_usual(pipe) else ())


def expect_training(pipe: Component) -> None:
    """A component learns, and is then scored."""
    compile_ahead(TRAINING + ANNOTATION if _is_usual(pipe) else ())


def _is_usual(pipe: Component) -> bool:
    """Whether it is a chain whose features see label pairs, as by default: others need less."""
    return type(pipe.family) is ChainFamily and pipe.family.label_pairs
