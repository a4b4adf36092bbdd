"""The child process: `python -m benchmarks.lib.child FOLDER.MODULE:FUNCTION CORES CORE`.

It reads the arguments of the function as JSON from standard input. The last line of its standard
output is the result as JSON, with the peak memory of the process.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from .machine import peak_megabytes, stay_on


def main(task: str, cores: int, first: int) -> None:
    """Run one task. Its module is imported here only: the process of a peer holds no spaCy."""
    stay_on(cores, first)
    arguments: dict[str, Any] = json.load(sys.stdin)
    module, _, function = task.partition(":")
    result = getattr(importlib.import_module(f"benchmarks.{module}"), function)(**arguments)
    print()
    print(json.dumps({**result, "peak_memory_megabytes": peak_megabytes()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
