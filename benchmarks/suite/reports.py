"""Write the reports and pictures of results again, without measuring.

python -m benchmarks.suite.reports [NAME …]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from ..experiments import icrf, precision_recall
from ..lib.paths import RESULTS
from ..lib.processes import Result
from ..reports import active_learning_report, adaptation_report, segmentation_report
from ..reports.output import Picture, read_json, write_report
from . import domains, forest, low_resource, old_share, unseen_words

Report = tuple[Callable[[Result], str], Picture | None]
REPORTS: dict[str, Report] = {
    "active_learning": (active_learning_report.make_report, None),
    "domains": domains.REPORT,
    "domains_online": domains.REPORT,
    "forest": forest.REPORT,
    "icrf": (icrf.make_report, None),
    "jnlpba_adapt": (adaptation_report.make_report, None),
    "jnlpba_precision_recall": precision_recall.REPORT,
    "low_resource": (low_resource.make_report, None),
    "low_resource_10000": (low_resource.make_report, None),
    "old_share": (old_share.make_report, None),
    "segmentations": segmentation_report.REPORT,
    "unseen_words": unseen_words.REPORT,
}
"""What makes the report, and the picture, of each file of results."""


def as_written(path: Path, report: Report) -> str:
    """The report of a file of results, with its picture if that was drawn."""
    make_report, picture = report
    beside = path.with_suffix(".png")
    link = picture.link(beside) if picture and beside.exists() else ""
    return make_report(read_json(path)) + link


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(REPORTS)}")
    for name in parser.parse_args().names or REPORTS:
        path = RESULTS / f"{name}.json"
        write_report(read_json(path), path, *REPORTS[name])


if __name__ == "__main__":
    main()
