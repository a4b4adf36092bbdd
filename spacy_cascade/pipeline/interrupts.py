"""Ctrl-C in training."""

from __future__ import annotations

import sys


def is_interrupted() -> bool:
    """Whether Ctrl-C is on its way out, past code that still saves: what takes long is left out.

    `spacy train` saves the pipeline then, too.
    """
    return isinstance(sys.exc_info()[1], KeyboardInterrupt)
