"""The contract that every component keeps: `check_component`."""

from .case import CheckFailed
from .contract import CHECKS, check_component
from .sample import sample_examples, train

__all__ = ["CHECKS", "CheckFailed", "check_component", "sample_examples", "train"]
