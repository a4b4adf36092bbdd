"""The file of words, and the forms of rare ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.clustering import words
from spacy_cascade.tools.clustering.words import write_forms


def forms(folder: Path, text: str, min_count: int) -> str:
    (folder / "words").write_text(text)
    write_forms(folder / "forms", folder / "words", min_count)
    return (folder / "forms").read_text()


def test_digits_of_rare_words_become_zeros(tmp_path: Path) -> None:
    text = "IL-2 IL-2 binds CDK17 .\nIL-2 CDK4 rare binds 1,234 .\n"
    assert forms(tmp_path, text, 2) == "IL-2 IL-2 binds CDK00 .\nIL-2 CDK0 rare binds 0,000 .\n"


def test_forms_alone_may_be_frequent_enough(tmp_path: Path) -> None:
    assert forms(tmp_path, "a1 a2 b\n", 2) == "a0 a0 b\n"


@pytest.mark.parametrize("text", ["", "\n\n", "a b c1 d2\n"])
def test_too_little_text_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(CorpusError, match=r"No word occurs 2 times in the text: it has [04] words"):
        forms(tmp_path, text, 2)
    assert not (tmp_path / "forms").exists()


def test_counts_are_exact_or_too_low_by_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generator: np.random.Generator
) -> None:
    path = tmp_path / "words"
    text = [f"w{k}" for k in generator.zipf(1.5, 20_000)]
    path.write_text("".join(" ".join(text[i : i + 20]) + "\n" for i in range(0, len(text), 20)))
    exact = Counter(word.encode() for word in text)
    assert words._count(path) == exact
    monkeypatch.setattr(words, "_MOST_DISTINCT", 300)
    pruned = words._count(path)
    assert len(pruned) <= 300
    for word, count in exact.most_common(20):
        assert 0.9 * count <= pruned[word] <= count
