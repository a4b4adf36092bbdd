"""Whether a call waits for the lock of the tables of words."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from spacy_cascade.parallel import LEXEME_LOCK


def waits_for_lock(call: Callable[[], object]) -> bool:
    """Make a call in another thread, while this one holds the lock; it has to end after that."""
    begun, done = Event(), Event()

    def run() -> None:
        begun.set()
        call()
        done.set()

    thread = Thread(target=run, daemon=True)
    with LEXEME_LOCK:
        thread.start()
        assert begun.wait(10)
        has_waited = not done.wait(0.1)
    assert done.wait(10)
    thread.join()
    return has_waited
