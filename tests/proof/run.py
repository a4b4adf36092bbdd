"""The proof of a release: `python -m tests.proof.run [PART …]`, or `nox -s proof`.

All parts take some nights on two cores. A proof that is stopped goes on where it was, also in a
clone that has its journals; what was tried on this code already is not tried again (`--anew` does).
Results go to one file, of which `benchmarks.reports.readme_tables` makes `docs/robustness.md`.
`--short` tries a little of each part, in minutes, and keeps nothing. It ends with 1 where something
is not as promised.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.lib.machine import describe_machine
from tests.proof.journal import Journal
from tests.proof.part import FAILED, Came, Part, Tried
from tests.proof.parts import PARTS

PROJECT = Path(__file__).parents[2]
RESULTS = PROJECT / "benchmarks/results/proof.json"
JOURNALS = PROJECT / "benchmarks/results/proof"
"""What came of each item, a file for each part: committed, so that any machine can go on."""
CODE = ("spacy_cascade", "setup.py", "pyproject.toml")
"""What is proved."""
WHEN = ("commit", "date", "machine")
"""What a result says of the last item that was tried."""
LOWEST = re.compile(r">=[\d.]+")
"""A lowest release in `pyproject.toml`: it says what may be installed, not what the code does."""


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(PROJECT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def code(part: Part) -> str:
    """A digest of the code of the last commit, as far as it matters to the part."""
    *files, project = CODE
    text = _git("show", f"HEAD:{project}")
    of_project = sha256((text if part.installs else LOWEST.sub("", text)).encode()).hexdigest()
    digests = [*(_git("rev-parse", f"HEAD:{path}") for path in files), of_project]
    return " ".join(digest[:12] for digest in digests)


def try_part(part: Part, tried: Tried, journal: Journal) -> dict[str, Came]:
    """Try the items that were not tried yet, or failed; what came of all of them."""
    items = part.items(tried)
    for number, item in enumerate(items, 1):
        if item in journal.came and not journal.came[item].get(FAILED):
            continue
        print(f"{part.title}, {number} of {len(items)}: {item}", flush=True)
        begin = time.monotonic()
        came = part.attempt(item, tried)
        journal.keep(item, {**came, "seconds": round(time.monotonic() - begin, 1)})
    return {item: journal.came[item] for item in items}


def prove(name: str, work: Path, journals: Path, is_short: bool) -> dict[str, Any]:
    """One part; what the file of results keeps of it."""
    part, folder, proved = PARTS[name], work / name, code(PARTS[name])
    journal = Journal(journals / f"{name}.jsonl", proved)
    if not journal.came:  # else an item may go on with what is there
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    before = dict(journal.came)
    came = try_part(part, Tried(folder, is_short, proved), journal)
    return {
        "title": PARTS[name].title,
        "says": PARTS[name].says,
        "code": proved,
        "commit": _git("rev-parse", "HEAD")[:12],
        "date": time.strftime("%Y-%m-%d"),
        "machine": describe_machine(),
        **(_when_it_was_tried(name, proved) if journal.came == before else {}),
        "hours": round(sum(each["seconds"] for each in came.values()) / 3600, 1),
        "summary": part.summary(came),
        "rows": [row._asdict() for row in part.rows(came)],
        "listed": part.listed(came),
    }


def _when_it_was_tried(name: str, proved: str) -> dict[str, Any]:
    """Commit, date and machine of the last item, where nothing is left to try."""
    result = _results().get(name, {})
    return {key: result[key] for key in WHEN} if result.get("code") == proved else {}


def _results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text("utf8")) if RESULTS.exists() else {}
    return found


def write(name: str, result: Mapping[str, Any]) -> None:
    """Into the file of results, parts in their order; another process may try other parts."""
    results = {**_results(), name: result}
    ordered = {each: results[each] for each in PARTS if each in results}
    RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf8")


def tell(name: str, result: Mapping[str, Any]) -> bool:
    """Print the rows of a part; whether there is a gap."""
    print(f"== {PARTS[name].title}: {result['summary']}")
    for row in result["rows"]:
        print(f"{'GAP ' if row['is_gap'] else ''}{row['tried']}: {row['found']}")
    return any(row["is_gap"] for row in result["rows"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--short", action="store_true", help="a little of each, as the gate does")
    parser.add_argument("--anew", action="store_true", help="forget what was tried before")
    parser.add_argument("--work", type=Path, default=PROJECT / ".proof", help="to work in")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if not options.short and (changed := _git("status", "--porcelain", "--", *CODE)):
        parser.error(f"a proof names its commit, and this is in none:\n{changed}")
    has_gap = False
    with TemporaryDirectory() as temporary:
        for name in options.parts or PARTS:
            work = Path(temporary) if options.short else options.work.resolve()
            journals = work if options.short else JOURNALS
            if options.anew:
                (journals / f"{name}.jsonl").unlink(missing_ok=True)
            result = prove(name, work, journals, options.short)
            has_gap |= tell(name, result)
            if not options.short:
                write(name, result)
    sys.exit(int(has_gap))


if __name__ == "__main__":
    main()
