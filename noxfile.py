"""What is run before a release: `python -m nox`, with the extra `release` (nox, uv and others).

`python -m nox -s package` builds and checks the artefacts. `python -m nox -s tests` runs the fast
tests with the lowest and with the newest dependencies on each Python; `-p 3.10` chooses one, and
arguments after `--` go to pytest. Interpreters that are not on the PATH are taken from pyenv's
folder.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
RESOLUTIONS = ["lowest-direct", "highest"]
PROJECT = Path(__file__).parent
MAIN_JOB = ("project.yml", "assets/sample", "configs", "scripts")
"""What `weasel run all` needs besides the package. The sdist has it, the wheel does not."""

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["package", "wheel", "site", "tests"]

for _folder in Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"):
    os.environ["PATH"] += os.pathsep + str(_folder)


@nox.session(python=PYTHONS)
@nox.parametrize("resolution", RESOLUTIONS)
def tests(session: nox.Session, resolution: str) -> None:
    """The fast tests; arguments replace them."""
    session.install("--resolution", resolution, ".[test]")
    session.run("uv", "pip", "list", external=True)
    chosen = session.posargs or ["-n", "auto", "--dist", "loadfile"]
    session.run("python", "-m", "pytest", "-m", "not slow", *chosen)


@nox.session
def package(session: nox.Session) -> None:
    """Wheel and sdist in dist/: built, and checked."""
    session.install("build", "twine", "check-wheel-contents")
    shutil.rmtree(PROJECT / "dist", ignore_errors=True)
    session.run("python", "-m", "build", silent=True)
    artefacts = sorted(map(str, (PROJECT / "dist").iterdir()))
    session.run("twine", "check", "--strict", *artefacts)
    session.run("check-wheel-contents", *(a for a in artefacts if a.endswith(".whl")))


@nox.session
def wheel(session: nox.Session) -> None:
    """The main job, and `init`, `train`, annotate, from the wheel, in empty folders elsewhere."""
    (built,) = (PROJECT / "dist").glob("*.whl")
    (source,) = (PROJECT / "dist").glob("*.tar.gz")
    session.install(str(built))
    folder = Path(session.create_tmp()).resolve()
    for name in ("sdist", "main_job", "own_data"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
    shutil.unpack_archive(source, folder / "sdist")
    (unpacked,) = (folder / "sdist").iterdir()

    session.chdir(folder / "main_job")
    for name in MAIN_JOB:
        copy = shutil.copytree if (unpacked / name).is_dir() else shutil.copy
        copy(unpacked / name, name)
    session.run("python", "-m", "weasel", "run", "all")

    session.chdir(folder / "own_data")
    spacy, sample = ("python", "-m", "spacy"), unpacked / "assets/sample"
    for part in ("train", "dev"):
        session.run(*spacy, "cascade", "convert", str(sample / f"{part}.iob2"), f"{part}.spacy")
    session.run(
        *spacy, "cascade", "init", "ner.cfg", "--train", "train.spacy", "--dev", "dev.spacy"
    )
    session.run(*spacy, "train", "ner.cfg", "--output", "OUT")
    session.run(*spacy, "evaluate", "OUT/model-best", "dev.spacy")
    session.run("python", "-c", ANNOTATE)


ANNOTATE = """
import spacy
doc = spacy.load("OUT/model-best")("NF-kappa B binds the IL-2 promoter in Jurkat T cells .")
assert doc.ents and all(0 < entity._.confidence <= 1 for entity in doc.ents)
print([(entity.text, entity.label_, round(entity._.confidence, 2)) for entity in doc.ents])
"""


@nox.session
def site(session: nox.Session) -> None:
    """The documentation in site/."""
    session.install(".[docs]")
    session.run("python", "-m", "mkdocs", "build", "--strict")
