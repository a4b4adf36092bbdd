"""What differs on Windows, as far as other systems can show it."""

from __future__ import annotations

import errno
import ntpath
import os
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest
from spacy.util import load_config

from commands import run_command
from helpers import PROJECT
from spacy_cascade import files
from spacy_cascade.errors import SavingError
from spacy_cascade.files import replace_file, replace_folder
from spacy_cascade.tools.bulk.sources import finding


class Refusals:
    """A call that Windows refuses a few times, because a program has the file open."""

    def __init__(self, call: Callable[..., object], times: int) -> None:
        self._call, self._left = call, times

    def __call__(self, *arguments: Path) -> object:
        self._left -= 1
        if self._left >= 0:
            raise PermissionError(errno.EACCES, "Access is denied")
        return self._call(*arguments)


def fill(folder: Path) -> None:
    (folder / "meta").write_text("new")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that saving waited, which take no time."""
    found: list[float] = []
    monkeypatch.setattr(files, "time", SimpleNamespace(sleep=found.append))
    return found


@pytest.mark.parametrize("times", [0, 1, 3])
def test_a_file_that_is_open_for_a_moment_is_replaced(
    times: int, pauses: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", Refusals(os.replace, times))
    replace_file(tmp_path / "model", b"new")
    assert (tmp_path / "model").read_bytes() == b"new"
    assert len(pauses) == times
    assert sum(pauses) < 2


def test_a_file_that_stays_open_is_an_error(
    pauses: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", Refusals(os.replace, 99))
    with pytest.raises(SavingError) as caught:
        replace_file(tmp_path / "model", b"new")
    assert str(caught.value) == (
        f"Cannot save {tmp_path / 'model'}: Access is denied. What was there before is unchanged. "
        "Close programs that have it open, check its permissions, or choose another place."
    )
    assert (tmp_path / "model").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize(("times", "found"), [(1, "new"), (3, "new"), (4, "old"), (5, "old")])
def test_a_folder_in_which_a_file_is_open(
    times: int, found: str, pauses: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old one stays if it cannot be moved."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "meta").write_text("old")
    refused = Refusals(Path.rename, times)
    monkeypatch.setattr(Path, "rename", lambda path, to: refused(path, to))
    if found == "new":
        replace_folder(model, fill)
    else:
        with pytest.raises(SavingError, match=r"model: Access is denied\. .* Close programs"):
            replace_folder(model, fill)
    assert (model / "meta").read_text() == found
    assert os.listdir(tmp_path) == ["model"]


def test_a_folder_is_replaced_where_pathlib_knows_no_mounts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows before Python 3.12."""

    def unsupported(path: Path) -> bool:
        # What pathlib itself raises there.
        raise NotImplementedError("Path.is_mount() is unsupported on this system")

    monkeypatch.setattr(Path, "is_mount", unsupported)
    for _ in range(2):
        replace_folder(tmp_path / "model", fill)
    assert os.listdir(tmp_path / "model") == ["meta"]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["C:\\data\\a.txt", "C:\\data\\more\\b.txt"], ["a.txt", "more/b.txt"]),
        (["C:\\data\\a.txt", "D:\\b.txt"], ["C:/data/a.txt", "D:/b.txt"]),
        (["\\\\host\\share\\a.txt", "D:\\b.txt"], ["//host/share/a.txt", "D:/b.txt"]),
    ],
)
def test_files_on_several_drives_have_names(
    paths: list[str], names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "os", SimpleNamespace(path=ntpath))
    monkeypatch.setattr(finding, "Path", PureWindowsPath)
    assert finding._names([PureWindowsPath(path) for path in paths]) == names  # type: ignore[misc]


def test_backslashes_come_through_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere they are letters of a name; in a config they have to be doubled."""
    monkeypatch.chdir(tmp_path)
    train, config = "C:\\new\\train.spacy", "C:\\tables\\ner.cfg"
    run_command("convert", PROJECT / "assets/sample/dev.iob2", train)
    output, _ = run_command("init", config, "--train", train, "--dev", train)
    assert f"spacy train {config}" in " ".join(output.split())
    assert load_config(Path(config))["paths"]["train"] == train
    assert sorted(os.listdir(tmp_path)) == [train, config] or os.name == "nt"
