"""Every code block of the documentation runs, every link leads somewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from spacy.util import registry
from thinc.config import Config

from helpers import PROJECT, run_python, write_sample
from pages import DOCS, PAGES, Block, anchors, blocks, links

RUN = ("python", "bash")
SHOWN = ("ini", "toml", "text", "json")
MOST_SECONDS = 600
MOST_LEFT_OUT = 2
"""Blocks of a page that may stay unrun, each for a reason that it gives."""
MOST_PAGES = 30
MOST_WORDS = 40_000
"""Of all pages of docs/, code and tables counted."""
OTHERS = (
    "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/README.md",
    "benchmarks/results/init.md", "benchmarks/results/proof.md", "benchmarks/results/scale.md",
)  # fmt: skip
LINKED = [*PAGES, *(PROJECT / name for name in OTHERS)]


def page_name(page: Path) -> str:
    return page.relative_to(PROJECT).as_posix()


# Blocks


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader has of the sample corpus: its files, a model, and no checkout."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(PROJECT / "assets/sample", folder / "assets/sample")
    for name in ("train", "dev"):
        write_sample(folder / f"{name}.spacy", name)
        shutil.copy(PROJECT / "assets" / "sample" / f"{name}.iob2", folder)
    result = run_python(
        "-m", "spacy", "train", str(PROJECT / "configs" / "memb.cfg"),
        "--output", str(folder / "OUT"), "--paths.train", str(folder / "train.spacy"),
        "--paths.dev", str(folder / "dev.spacy"), timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def is_left_out(block: Block) -> bool:
    """Not to run here: for a reason, or because the gate runs it."""
    return "not run" in block.marks or "run" in block.marks


def blocks_to_run(page: Path) -> list[tuple[str, int, str]]:
    return [
        (block.language, block.line, block.text)
        for block in blocks(page)
        if block.language in RUN and not is_left_out(block)
    ]


PAGES_WITH_BLOCKS = [page for page in PAGES if blocks_to_run(page)]


def run(page: Path, todo: list[tuple[str, int, str]], place: Path) -> tuple[int, str]:
    """Exit status and output of some blocks of a page; 124 where they do not end in time."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, str(PROJECT / "tests" / "support" / "run_page.py"), str(page)]
    with (place / "output.txt").open("w+", encoding="utf8") as output:
        try:
            status = subprocess.run(
                command,
                input=json.dumps(todo).encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=place,
                env={**os.environ, "PATH": path},
                timeout=MOST_SECONDS,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            status = 124
        output.seek(0)
        return status, output.read()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_WITH_BLOCKS, ids=page_name)
def test_blocks_run(page: Path, folder: Path, tmp_path: Path) -> None:
    todo = blocks_to_run(page)
    place = tmp_path / "reader"
    shutil.copytree(folder, place)
    status, output = run(page, todo, place)
    assert status == 0, f"A block does not run ({status}):\n{output[-6000:]}"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_blocks_are_run_or_say_why_not(page: Path) -> None:
    found = blocks(page)
    assert {block.language for block in found} <= {*RUN, *SHOWN}, "a block of another language"
    reasons = [block.marks["not run"] for block in found if "not run" in block.marks]
    assert len(reasons) <= MOST_LEFT_OUT
    assert all(len(reason.split()) >= 3 for reason in reasons), f"no reason: {reasons}"
    gate = {block.marks["run"] for block in found if "run" in block.marks}
    assert gate == ({"main", "tests"} if page == PAGES[0] else set())


def missing_parents(text: str) -> Config:
    """A part of a config as thinc wants it, with the sections that it stands in."""
    names = re.findall(r"^\[([\w.*]+)\]", text, re.MULTILINE)
    parents = {
        ".".join(parts[:n]) for parts in (x.split(".") for x in names) for n in range(1, len(parts))
    }
    before = "".join(f"[{name}]\n\n" for name in sorted(parents - set(names)))
    return Config().from_str(before + text, interpolate=False)


def named(section: Any) -> Any:
    """All blocks of a config that have a registered name, the innermost first."""
    if isinstance(section, dict):
        for part in section.values():
            yield from named(part)
        if any(key.startswith("@") for key in section):
            yield section


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_configs_have_known_names_and_options(page: Path) -> None:
    for block in blocks(page):
        if block.language == "ini":
            for section in named(missing_parents(block.text)):
                registry.fill({"block": section})


def test_a_slip_in_a_config_is_found() -> None:
    text = '[training.before_to_disk]\n@callbacks = "spacy_cascade.calibrate.v1"\n{} = "x"\n'
    (section,) = named(missing_parents(text.format("path")))
    registry.fill({"block": section})
    (section,) = named(missing_parents(text.format("paht")))
    with pytest.raises(ValueError, match="paht"):
        registry.fill({"block": section})


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_files_are_shown_as_they_are(page: Path) -> None:
    for block in blocks(page):
        if "file" in block.marks:
            path = PROJECT / block.marks["file"]
            assert block.text == path.read_text(encoding="utf8"), f"{page}:{block.line}"


def test_a_page_that_fails_says_where(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n\n```bash\ntrue\n```\n\n```python\n\nassert x > 1\n```\n"
    )
    found = blocks(page)
    assert [block.line for block in found] == [1, 5, 9]
    status, output = run(page, [(b.language, b.line, b.text) for b in found], tmp_path)
    assert status != 0
    assert f"== {page}:9" in output
    assert f'"{page}", line 11' in output
    assert "AssertionError" in output


# Links


@pytest.mark.parametrize("page", LINKED, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page}: {link}"
        assert not anchor or anchor in anchors(target), f"{page}: {link}"


def test_the_index_leads_to_every_page() -> None:
    index = DOCS / "README.md"
    linked = {link.partition("#")[0] for link in links(index)}
    assert {page.name for page in DOCS.glob("*.md")} - {index.name} <= linked


# Sizes and folders


def test_a_reader_can_read_all_of_it() -> None:
    pages = sorted(DOCS.glob("*.md"))
    assert len(pages) <= MOST_PAGES
    assert sum(len(page.read_text(encoding="utf8").split()) for page in pages) <= MOST_WORDS


def test_every_folder_of_the_package_has_its_row_in_contributing() -> None:
    package = PROJECT / "spacy_cascade"
    folders = {
        f"{folder.name}/"
        for room in (package, package / "systems", package / "tools")
        for folder in room.iterdir()
        if (folder / "__init__.py").exists() and folder.name not in ("systems", "tools")
    }
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf8")
    assert folders == set(re.findall(r"^\| `(\w+/)` \| \w", text, re.MULTILINE))
