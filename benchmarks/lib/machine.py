"""The machine: its cores, its load, its packages, and the memory of processes.

Only the standard library is imported here and in `processes`. The process that starts the others
stays small, because Linux counts the peak memory of a child from that of its parent.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("spacy-cascade", "spacy", "thinc", "numpy", "numba", "python-crfsuite")


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def stay_on(cores: int, first: int) -> None:
    """Bind this process to a number of cores, from the given one on, if the system can do it."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0), reverse=True)
        os.sched_setaffinity(0, (allowed[first:] + allowed[:first])[:cores])


def is_installed(package: str) -> bool:
    """Whether a distribution of that name is there; nothing is imported."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def load_average() -> float | None:
    """Mean number of processes that wanted to run in the last minute, ours included."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def resident_megabytes(process: int) -> float | None:
    """Resident memory of a process; None where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf8").splitlines()
    except OSError:
        return None
    found = (int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
    return next(found, None)  # a process that has ended has none


def peak_megabytes() -> float | None:
    """Peak memory of this process; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def size_in_bytes(path: Path) -> int:
    """The size of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def folder_megabytes(folder: str) -> float:
    return size_in_bytes(Path(folder)) / 1e6


def describe_machine() -> dict[str, Any]:
    """Hardware and software, without anything that identifies the machine."""
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory_gigabytes": _memory_gigabytes(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES if is_installed(name)},
    }


def describe_run() -> dict[str, Any]:
    """The machine and its load; to be called before anything is measured."""
    return {"machine": describe_machine(), "load_average_before": load_average()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_gigabytes() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None
