"""Results of stages, which a later run with the same input uses."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from spacy_cascade import stages
from spacy_cascade.errors import ConfigError
from spacy_cascade.locking import LOCK
from spacy_cascade.stages import Stages


def run(folder: Path, first: object, second: object, fails: bool = False) -> list[str]:
    """The stages that were done."""
    done: list[str] = []

    def fill(path: Path, name: str) -> None:
        done.append(name)
        path.write_text(name)
        if fails and name == "b":
            raise KeyboardInterrupt

    stages = Stages(folder)
    stages.file("a", first, lambda path: fill(path, "a"))
    assert stages.file("b", second, lambda path: fill(path, "b")).read_text() == "b"
    return done


def test_a_stage_is_done_once_for_what_it_is_given(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    assert run(folder, 1, [2]) == ["a", "b"]
    assert run(folder, 1, [2]) == []
    assert run(folder, 1, [3]) == ["b"]
    assert run(folder, 0, [3]) == ["a", "b"]
    assert run(folder, {"a": 1, "b": 2}, 3) == ["a", "b"]
    assert run(folder, {"b": 2, "a": 1}, 3) == []
    assert len(list(folder.iterdir())) == 2  # no result of other input is kept
    Stages(folder).remove()
    assert not folder.exists()


def test_stages_of_another_name_are_other_stages(tmp_path: Path) -> None:
    names = []
    for earlier in ("a", "b"):
        stages = Stages(tmp_path / earlier)
        stages.file(earlier, 1, lambda path: path.write_text("a"))
        names.append(stages.file("last", 2, lambda path: path.write_text("b")).name)
    assert names[0] != names[1]


@pytest.mark.parametrize("result", ["of nobody", "own", "of the other"])
@pytest.mark.parametrize("system", ["nt", "posix"])
def test_the_folder_of_another_run_stays(
    system: str, result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that begins when the lock is free; on Windows the folder only goes once it is."""
    monkeypatch.setattr(stages, "os", SimpleNamespace(name=system))
    folder = tmp_path / "work"
    with Stages(folder) as own:
        if result == "own":
            own.file("a", 1, lambda path: path.write_text("a"))
        if system == "nt":
            monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
        release = own._lock.lock.release

        def release_to_another_run() -> None:
            release()
            folder.mkdir(exist_ok=True)
            (folder / LOCK).touch()
            if result == "of the other":
                (folder / "b").touch()

        monkeypatch.setattr(own._lock.lock, "release", release_to_another_run)
    assert folder.exists() == (system == "posix" or result != "of nobody")
    assert (folder / LOCK).exists() == (system == "posix" or result == "own")


def test_half_a_stage_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, 1, 2, fails=True)
    assert len(list(tmp_path.iterdir())) == 1
    assert run(tmp_path, 1, 2) == ["b"]
    result = max(tmp_path.iterdir())
    left = result.rename(tmp_path / f".{result.name}.0123456789abcdef")  # by a killed process
    assert run(tmp_path, 1, 2) == ["b"]
    assert not left.exists()


def test_a_folder_has_one_process_and_goes_if_nothing_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with Stages(folder), pytest.raises(ConfigError, match="Another run is at work in"):
        Stages(folder).__enter__()
    assert not folder.exists()
    with Stages(folder) as stages:
        stages.file("a", 1, lambda path: path.write_text("a"))
    with Stages(folder) as stages:
        assert stages.file("a", 1, lambda path: pytest.fail("it is there")).read_text() == "a"
        stages.remove()
    assert not folder.exists()
