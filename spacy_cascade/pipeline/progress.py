"""Long work: bars that show it, and Ctrl-C that ends it."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

_BAR_AFTER = 2.0
"""Seconds of work after which a progress bar appears."""


def progress(description: str, **settings: Any) -> Any:
    """A progress bar (tqdm's settings) that appears where work takes longer than two seconds."""
    return tqdm(desc=description, delay=_BAR_AFTER, leave=False, disable=None, **settings)


def is_interrupted() -> bool:
    """Whether Ctrl-C is on its way out, past code that still saves, as `spacy train` does.

    What takes long is left out then.
    """
    return isinstance(sys.exc_info()[1], KeyboardInterrupt)
