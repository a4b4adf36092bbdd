"""Long work: bars that show it, and Ctrl-C that ends it."""

from __future__ import annotations

import sys
from threading import Timer
from typing import Any

_BAR_AFTER = 1.0
"""Seconds of work after which a progress bar appears, whether any part of it is done or not."""


def progress(description: str, **settings: Any) -> Any:
    """A progress bar (tqdm's settings) that appears where work takes longer than a second.

    In a terminal and in a notebook; elsewhere none is shown.
    """
    from tqdm.auto import tqdm  # imports asyncio, which a pipeline that only annotates can spare

    disable = False if _is_notebook() else None
    bar = tqdm(desc=description, delay=_BAR_AFTER, leave=False, disable=disable, **settings)
    if not bar.disable:
        # tqdm itself looks at the clock only when a part is done, which may take minutes.
        # Its `refresh` would leave a bar behind that no part follows.
        appear = Timer(_BAR_AFTER, bar.update, (0,))
        appear.daemon = True
        appear.start()
    return bar


def _is_notebook() -> bool:
    """Whether output goes to a notebook, which tqdm takes for no terminal."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "IPKernelApp" in getattr(shell, "config", ())


def is_interrupted() -> bool:
    """Whether Ctrl-C is on its way out, past code that still saves, as `spacy train` does.

    What takes long is left out then.
    """
    return isinstance(sys.exc_info()[1], KeyboardInterrupt)
