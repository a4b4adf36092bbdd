"""What MkDocs does besides, to make the site (`mkdocs.yml`).

- Pages and files outside of docs/ that a page links to, such as the CHANGELOG, go into the site.
- Two pages of the reference are written from the code: the Python API and the commands.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.cli import get_docs_for_click

from spacy_cascade.cli import app

PROJECT = Path(__file__).parents[1]
OUTSIDE = "project"
"""Folder of the site for what is outside of docs/."""
NAME = "python -m spacy cascade"
_LINK = re.compile(r"(?<=\]\()[^()\s]+(?=\))")
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source in linked_outside(Path(config.docs_dir)):
        file = File.generated(config, site_path(source), abs_src_path=str(PROJECT / source))
        files.append(file)
    for name, content in {
        "python_reference.md": python_reference(),
        "command_reference.md": command_reference(),
    }.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where the site has the files that they name."""
    source = source_of(page.file.src_uri)
    here = posixpath.dirname(page.file.src_uri)

    def moved(match: re.Match[str]) -> str:
        target, anchor = _target(source, match[0])
        return posixpath.relpath(site_path(target), here or ".") + anchor if target else match[0]

    parts = re.split(rf"({_FENCED.pattern})", markdown, flags=_FENCED.flags)
    parts[::2] = [_LINK.sub(moved, part) for part in parts[::2]]
    return "".join(parts)


# Links


def linked_outside(docs: Path) -> list[str]:
    """Paths in the project of what pages link to outside of docs/, by way of such pages, too."""
    todo = [path.relative_to(PROJECT).as_posix() for path in docs.glob("*.md")]
    seen = set(todo)
    while todo:
        source = todo.pop()
        if source.endswith(".md"):
            text = _FENCED.sub("", (PROJECT / source).read_text(encoding="utf8"))
            found = {_target(source, link)[0] for link in _LINK.findall(text)} - seen - {""}
            todo += found
            seen |= found
    return sorted(path for path in seen if not path.startswith("docs/"))


def _target(source: str, link: str) -> tuple[str, str]:
    """The file in the project that a link of a page leads to, and the anchor; "" if it is none."""
    name, hash_sign, anchor = link.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
    is_file = bool(name) and ":" not in name and (PROJECT / path).is_file()
    return (path if is_file else ""), hash_sign + anchor


def site_path(source: str) -> str:
    """Where the site has a file of the project."""
    inside = source.removeprefix("docs/")
    return inside if inside != source else f"{OUTSIDE}/{source}"


def source_of(uri: str) -> str:
    """The reverse: the file of the project that a file of the site comes from."""
    outside = uri.removeprefix(f"{OUTSIDE}/")
    return outside if outside != uri else f"docs/{uri}"


# Reference


def python_reference() -> str:
    """The page of the Python API: a section for each public name, filled in by mkdocstrings."""
    return "\n".join(
        [
            "# Python API from the code\n",
            "Signatures and docstrings of all public names. [Python API](api.md) is an overview.\n",
            *_sections(),
        ]
    )


def _sections() -> Iterator[str]:
    """Names as the snapshot of the public surface has them, without internal members."""
    snapshot = (PROJECT / "tests/support/public_api.txt").read_text(encoding="utf8")
    api_page = (PROJECT / "docs/api.md").read_text(encoding="utf8")
    internal = api_page.split("### Members for the package itself\n")[1].split("\n#")[0]
    names = re.findall(r"^(\w+)\.(\w+)", snapshot, re.MULTILINE)
    for owner, name in names:
        if owner != "spacy_cascade" or name == "__version__":
            continue
        members = [m for o, m in names if o == name and f"`{m}`" not in internal]
        yield f"::: spacy_cascade.{name}"
        if members:
            yield f"    options:\n      members: {members}"
        yield ""


def command_reference() -> str:
    """The page of the commands: what `--help` says of each."""
    command = typer.main.get_command(app)
    with command.make_context("cascade", [], resilient_parsing=True) as context:
        text = get_docs_for_click(obj=command, ctx=context, name=NAME)
    text = re.sub(rf"^(##+) `{NAME} (.*)`$", r"\1 \2", text, flags=re.MULTILINE)
    return (
        "# Commands from the code\n\nWhat `--help` says of each command. "
        "[Commands](commands.md) explains them.\n\n" + text.partition("\n")[2].lstrip()
    )
