"""What was annotated: a file to which lines are added only, and what they add up to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from spacy.util import logger

from ....errors import CorpusError
from ....files import append_to_file
from ....locking import lock_folder
from ..stream import Record

RECORDS = "annotated.jsonl"
_IGNORED = "ignore"
"""The `answer` of Prodigy for what does not count."""
_Place = tuple[str, str]


def forgotten(task: object = None, annotation: object = None, text: str | None = None) -> Record:
    """A line that says that an annotation, or all annotation of a task, counts no more.

    text: of a task without an id.
    """
    known = {"text": text} if task is None and text is not None else {}
    return {**known, "task": task, "annotation": annotation, "answer": _IGNORED}


class Journal:
    """The annotation that a folder has, for this process alone.

    Each line of its file `annotated.jsonl` is one change: an annotated text, with the ids of its
    task and annotation, or what `forgotten` makes. It takes the place of what earlier lines said of
    the same annotation, or of the whole task if one of the two names no annotation. A task without
    an id is known by its text. A last line that was cut, as by a full disk, was never confirmed,
    and is removed.

    Raises `ConfigError` if another process has the folder, `CorpusError` for a damaged file.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = lock_folder(folder)
        self._path = folder / RECORDS
        self._known: dict[_Place, dict[str | None, Record]] = {}
        for change in self._saved():
            self._apply(change)

    def close(self) -> None:
        """Free the folder for other processes."""
        self._lock.lock.release()

    def texts(self) -> list[Record]:
        """For each annotated task, the newest of its annotations that count."""
        return [list(annotations.values())[-1] for annotations in self._known.values()]

    def add(self, changes: Iterable[Record]) -> bool:
        """Keep changes; whether there was any. They are on the disk before they count.

        Raises `SavingError` if they cannot be written, and what making them raises; then nothing
        has changed.
        """
        every = list(changes)
        new = [each for each in every if each.get("answer") != _IGNORED or self._places(each)]
        if new:
            lines = "".join(f"{json.dumps(change, ensure_ascii=False)}\n" for change in new)
            append_to_file(self._path, lines.encode())
            for change in new:
                self._apply(change)
        return bool(new)

    def _apply(self, change: Record) -> None:
        name = _name(change.get("annotation"))
        for place in self._places(change):
            annotations = self._known[place]
            for replaced in [*annotations] if name is None else (name, None):
                annotations.pop(replaced, None)
            if not annotations:
                del self._known[place]
        own = _place(change)
        if own is not None and change.get("answer") != _IGNORED:
            self._known.setdefault(own, {})[name] = change

    def _places(self, change: Record) -> list[_Place]:
        """The tasks of which a change takes away something that is known."""
        place, name = _place(change), _name(change.get("annotation"))
        if place is None:
            return [each for each, annotations in self._known.items() if name in annotations]
        annotations = self._known.get(place, {})
        names = annotations.keys() if name is None else annotations.keys() & {name, None}
        return [place] if names else []

    def _saved(self) -> list[Record]:
        """The lines of the file; behind the last whole one nothing is left in it."""
        data = self._path.read_bytes() if self._path.exists() else b""
        *lines, rest = data.split(b"\n")
        changes = [self._read(line, number) for number, line in enumerate(lines, 1)]
        if rest:
            try:
                changes.append(self._read(rest, len(lines) + 1))
                append_to_file(self._path, b"\n")
            except CorpusError:
                logger.warning("The last line of %s was cut, and is left out.", self._path)
                with self._path.open("r+b") as file:
                    file.truncate(len(data) - len(rest))
        return changes

    def _read(self, line: bytes, number: int) -> Record:
        try:
            change = json.loads(line)
            if isinstance(change, dict) and isinstance(change.get("text", ""), str):
                return change
        except (ValueError, RecursionError):
            pass
        raise CorpusError(
            f"{self._path}:{number} is no annotation: {line[:60]!r}. Remove or mend the line."
        )


def _name(annotation: object) -> str | None:
    return None if annotation is None else str(annotation)


def _place(change: Record) -> _Place | None:
    """What a task is known by; None where a change names no task."""
    if change.get("task") is not None:
        return "task", str(change["task"])
    return ("text", change["text"]) if "text" in change else None
