"""What came of the items of a part, kept line by line, so that a proof can go on."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from tests.proof.part import Came


class Journal:
    """The results of the items of a part that were tried on some code, in a folder of its own.

    code: a digest. What is there of other code is thrown away.
    """

    def __init__(self, folder: Path, code: str) -> None:
        self._file = folder / "journal.jsonl"
        self.came: dict[str, Came] = {}
        if self._file.exists():
            lines = self._file.read_text(encoding="utf8").splitlines(keepends=True)
            if json.loads(lines[0]) == {"code": code}:
                # A process that was killed may have written a part of the last line.
                whole = [json.loads(line) for line in lines[1:] if line.endswith("\n")]
                self.came = {line["item"]: line["came"] for line in whole}
                self._file.write_text(
                    "".join(line for line in lines if line.endswith("\n")), encoding="utf8"
                )
                return
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._append({"code": code})

    def keep(self, item: str, came: Came) -> None:
        """Write down what came of an item."""
        self.came[item] = came
        self._append({"item": item, "came": came})

    def _append(self, line: Came) -> None:
        with self._file.open("a", encoding="utf8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
