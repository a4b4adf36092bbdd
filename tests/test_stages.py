"""Results of stages, which a later run with the same input uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_cascade.errors import ConfigError
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
    assert len(list(folder.iterdir())) == 2  # no result of other input is kept
    Stages(folder).remove()
    assert not folder.exists()


def test_half_a_stage_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, 1, 2, fails=True)
    assert len(list(tmp_path.iterdir())) == 1
    assert run(tmp_path, 1, 2) == ["b"]


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
