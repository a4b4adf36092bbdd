"""Puts `configs/` into the wheel; all else is in `pyproject.toml`, which cannot say this."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithConfigs(build_py):
    """They are not copied for an editable install, which finds them in the checkout."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "spacy_cascade/tools/init/configs")
            self.copy_tree("configs", str(target))


setup(cmdclass={"build_py": WithConfigs})
