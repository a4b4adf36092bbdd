"""What a pipeline on disk is known by, so that no run mixes the results of two pipelines."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from spacy.util import get_package_path, is_package

from ...errors import ConfigError, ModelFileError

_BLOCK = 1 << 20


def find_pipeline(path: str | Path) -> Path:
    """The folder of a pipeline, which is given by its path or as the name of a package.

    Raises `ConfigError` if there is none.
    """
    folder = Path(path)
    if folder.is_dir():
        return folder.resolve()
    if is_package(str(path)):
        return get_package_path(str(path)).resolve()
    raise ConfigError(
        f"There is no pipeline at {path}. Give the folder of a trained pipeline, such as "
        "OUT/model-best, or the name of an installed one."
    )


def fingerprint_of(folder: Path) -> str:
    """SHA-256 of the names and the contents of all files of a pipeline.

    Raises `ModelFileError` if a file cannot be read.
    """
    digest = sha256()
    try:
        for file in sorted(folder.rglob("*")):
            if not file.is_file() or "__pycache__" in file.parts:
                continue
            name = file.relative_to(folder).as_posix()
            digest.update(f"{len(name)} {name} {file.stat().st_size}\n".encode())
            with file.open("rb") as opened:
                while block := opened.read(_BLOCK):
                    digest.update(block)
    except OSError as error:
        raise ModelFileError(
            f"Cannot read {error.filename or folder}: {error.strerror}. Check the pipeline."
        ) from error
    return digest.hexdigest()
