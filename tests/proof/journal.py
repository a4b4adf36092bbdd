"""What came of the items of a part, kept line by line, so that a proof can go on."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.proof.part import Came


class Journal:
    """The results of the items of a part that were tried on some code, in a file.

    code: a digest. What is there of other code is thrown away.
    """

    def __init__(self, file: Path, code: str) -> None:
        self._file = file
        lines = file.read_text(encoding="utf8").splitlines(keepends=True) if file.exists() else []
        # A process that was killed may have written a part of the last line.
        whole = [line for line in lines if line.endswith("\n")]
        if not whole or json.loads(whole[0]) != {"code": code}:
            whole = [json.dumps({"code": code}) + "\n"]
        rows = map(json.loads, whole[1:])
        self.came: dict[str, Came] = {row["item"]: row["came"] for row in rows}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(whole), encoding="utf8")

    def keep(self, item: str, came: Came) -> None:
        """Write down what came of an item."""
        self.came[item] = came
        with self._file.open("a", encoding="utf8") as file:
            file.write(json.dumps({"item": item, "came": came}) + "\n")
            file.flush()
            os.fsync(file.fileno())
