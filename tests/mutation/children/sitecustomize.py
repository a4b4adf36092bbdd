"""Processes that a test starts import the mutant, too: this folder is then on PYTHONPATH."""

import importlib.abc
import importlib.machinery
import os
import sys
from pathlib import Path


class Mutated(importlib.abc.MetaPathFinder):
    """Finds one module, with the source of a mutant in place of its own."""

    def find_spec(self, name, path=None, target=None):
        if name != os.environ["MUTATED_MODULE"]:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader = Loader(name, spec.origin)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        source = Path(os.environ["MUTATED_SOURCE"]).read_text(encoding="utf8")
        return compile(source, self.path, "exec", dont_inherit=True)


if "MUTATED_MODULE" in os.environ:
    sys.meta_path.insert(0, Mutated())
