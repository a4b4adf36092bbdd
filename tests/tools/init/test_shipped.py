"""`spacy cascade init --from`: the configs of the project, from a checkout or a wheel."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from spacy.util import load_config

from commands import check_errors, run_command
from helpers import CONFIGS, PROJECT
from pages import PAGES, blocks

run = partial(run_command, "init")


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_a_copy_differs_in_its_own_path_alone(config: Path, tmp_path: Path) -> None:
    copy = tmp_path / "new" / "copy.cfg"
    stdout, _ = run(copy, "--from", config.stem)
    assert "Its first lines say how to train it." in stdout
    text, original = copy.read_text(encoding="utf8"), config.read_text(encoding="utf8")
    assert text.replace(str(copy), f"configs/{config.name}") == original
    heading = text.partition("\n\n")[0]
    assert f"\n# python -m spacy train {copy} --output OUT --paths." in heading
    assert "\n# It trains on the CPU: leave out --gpu-id." in heading
    assert load_config(copy) == load_config(config)


def test_errors_of_from_are_one_line(tmp_path: Path) -> None:
    output, there = tmp_path / "x.cfg", tmp_path / "there.cfg"
    there.write_text("mine", encoding="utf8")
    check_errors(
        run,
        ((output, "--from", "mamb"), "knows no config 'mamb'. Give one of: adapt, conll2000,"),
        ((output, "--from", "memb", "--lang", "de"), "Leave out the other options"),
        ((there, "--from", "memb"), "there.cfg already exists"),
    )
    assert not output.exists()
    assert there.read_text(encoding="utf8") == "mine"


def test_pages_take_no_config_from_a_checkout() -> None:
    """A reader may have installed a wheel: blocks write the configs that they use."""
    pages = [page for page in PAGES if page.is_relative_to(PROJECT / "docs")]
    texts = [block.text for page in pages for block in blocks(page)]
    assert not [text for text in texts if "configs/" in text or "scripts/" in text]
    assert any("--from memb" in text for text in texts)
