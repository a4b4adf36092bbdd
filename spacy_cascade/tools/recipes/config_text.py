"""Configs as text, in the order that people read them in, with comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

from thinc.api import Config

_WIDTH = 96


def config_text(config: Config, comments: Mapping[str, Sequence[str]] | None = None) -> str:
    """The config as text, each section followed by those inside of it.

    thinc writes sections by their depth, which puts the parts of a component far apart. comments:
    for dotted names of sections paragraphs that stand above them; those of a section that the
    config does not have stand above the one that it would be part of.
    """
    blocks = {text.split("]", 1)[0][1:]: text for text in config.to_str().split("\n\n")}
    number = {name: i for i, name in enumerate(blocks)}
    above: dict[str, list[str]] = {}
    for name, paragraphs in (comments or {}).items():
        above.setdefault(_nearest(name, number), []).extend(paragraphs)

    def place(name: str) -> list[int]:
        parts = name.split(".")
        return [number[".".join(parts[:end])] for end in range(1, len(parts) + 1)]

    texts = [comment(above.get(name, ())) + blocks[name] for name in sorted(blocks, key=place)]
    return "\n\n".join(texts) + "\n"


def comment(paragraphs: Sequence[str]) -> str:
    """Paragraphs as lines that spaCy passes over when it reads a config."""
    lines = [line for text in paragraphs for line in wrap(text, _WIDTH, break_on_hyphens=False)]
    return "".join(f"# {line}\n" for line in lines)


def _nearest(name: str, known: Mapping[str, int]) -> str:
    while name not in known and "." in name:
        name = name.rpartition(".")[0]
    return name if name in known else next(iter(known))
