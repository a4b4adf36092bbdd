"""Cascaded named entity recognition for spaCy: find spans first, then type them.

Importing the package is enough to use the components `cascade_segmenter`,
`cascade_classifier`, `cascade_reranker`, `cascade_tagger`, `cascade_linker` and `cascade_ensemble`;
spaCy finds them by their entry points. The public names are those of `__init__.pyi`. Each is
imported when it is first asked for: all commands of spaCy import the package, and start soon.
"""

import sys

import lazy_loader

from ._version import NEWEST_PYTHON
from .msgpack_hooks import remember_hooks
from .pipeline.spans.confidences import register_confidence

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

register_confidence()
remember_hooks()

if sys.version_info[:2] > NEWEST_PYTHON:
    from . import jit  # noqa: F401 - says what to do if numba refuses this Python
