"""Runs the blocks of a page, in order: `python run_page.py PAGE`, with the blocks as JSON to read.

Python blocks share one namespace; tracebacks show the lines of the page.
"""

import json
import subprocess
import sys


def main() -> None:
    page = sys.argv[1]
    namespace = {"__name__": "__main__"}
    for language, line, text in json.load(sys.stdin):
        print(f"== {page}:{line}", flush=True)
        if language == "python":
            exec(compile("\n" * line + text, page, "exec"), namespace)
        elif subprocess.run(["bash", "-euo", "pipefail", "-c", text], check=False).returncode:
            sys.exit(1)


if __name__ == "__main__":
    main()
