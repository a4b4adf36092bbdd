"""Properties that are computed once, and hold no lock."""

from __future__ import annotations

from threading import Event, Thread

from spacy_cascade.caching import cached_property


class Counted:
    """An object with a value that is counted, and can be waited for."""

    def __init__(self, ready: Event) -> None:
        self.ready, self.computed = ready, 0

    @cached_property
    def value(self) -> int:
        """Thrice seven."""
        assert self.ready.wait(10.0)
        self.computed += 1
        return 21


def test_it_is_computed_once_for_each_object() -> None:
    ready = Event()
    ready.set()
    first, second = Counted(ready), Counted(ready)
    assert [first.value, first.value, second.value] == [21] * 3
    assert (first.computed, second.computed) == (1, 1)
    del first.value
    assert first.value == 21
    assert first.computed == 2


def test_the_class_has_the_property_with_its_text() -> None:
    assert isinstance(Counted.value, cached_property)
    assert Counted.value.__doc__ == "Thrice seven."


def test_another_object_does_not_wait() -> None:
    """A lock for the class, as Python 3.10 and 3.11 have one, would stay locked in a fork, too."""
    never, ready = Event(), Event()
    ready.set()
    slow = Counted(never)
    thread = Thread(target=lambda: slow.value)
    thread.start()
    found: list[int] = []
    other = Thread(target=lambda: found.append(Counted(ready).value))
    other.start()
    other.join(5.0)
    at_once = list(found)
    never.set()
    thread.join()
    other.join()
    assert at_once == [21]
