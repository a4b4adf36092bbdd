"""Clusters and their tree against sums over all pairs; words, and the forms of rare ones."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.clustering import tree, words
from spacy_cascade.tools.clustering.tree import cluster_words, tree_paths
from spacy_cascade.tools.clustering.vectors import WordVectors
from spacy_cascade.tools.clustering.words import write_forms

pytest.importorskip("sklearn")


def are_leaves(paths: list[str]) -> bool:
    """Whether they are all leaves of one binary tree in which each node has two parts."""
    return sum(2.0 ** -len(path) for path in paths) == 1 and len(set(paths)) == len(paths)


def slow_ward(centres: np.ndarray) -> set[frozenset[int]]:
    """The parts of the tree, by the increase in squared deviations that each joining brings."""
    parts = [frozenset([i]) for i in range(len(centres))]
    found = set(parts)

    def deviation(part: frozenset[int]) -> float:
        chosen = centres[sorted(part)]
        return float(((chosen - chosen.mean(axis=0)) ** 2).sum())

    while len(parts) > 1:
        a, b = min(
            combinations(parts, 2),
            key=lambda pair: deviation(pair[0] | pair[1]) - deviation(pair[0]) - deviation(pair[1]),
        )
        parts = [part for part in parts if part not in (a, b)] + [a | b]
        found.add(a | b)
    return found


def test_the_tree_joins_what_is_alike(generator: np.random.Generator) -> None:
    centres = generator.normal(size=(12, 3))
    paths = tree_paths(centres.astype(np.float32))
    assert are_leaves(paths)
    prefixes = {path[:n] for path in paths for n in range(len(path) + 1)}
    parts = {
        frozenset(i for i, path in enumerate(paths) if path.startswith(prefix))
        for prefix in prefixes
    }
    assert parts == slow_ward(centres)


@pytest.mark.parametrize("n", [1, 2, 5, 61, 100])
def test_no_path_is_too_long(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Centres at growing distances are joined one by one."""
    centres = np.cumsum(1.5 ** np.arange(n))[:, None].astype(np.float32)
    longest = max(map(len, tree_paths(centres)))
    assert longest <= tree.LONGEST_PATH
    monkeypatch.setattr(tree, "LONGEST_PATH", 8)
    paths = tree_paths(centres)
    assert max(map(len, paths)) <= min(8, max(longest, 1))
    assert n == 1 or are_leaves(paths)


def test_words_of_like_direction_are_together(generator: np.random.Generator) -> None:
    """Words of a path are in order of their counts, whatever the length of their vectors."""
    n = 300
    themes = generator.integers(4, size=n)
    vectors = np.eye(4)[themes] + generator.normal(scale=0.05, size=(n, 4))
    vectors *= generator.uniform(0.1, 10, size=(n, 1))
    words = [f"{theme} {i}" for i, theme in enumerate(themes)]
    counts = sorted(generator.integers(1, 100, size=n).tolist(), reverse=True)
    found = WordVectors(words, counts, vectors.astype(np.float32))
    clustered = cluster_words(found, 4, seed=0)
    assert {one.word: one.count for one in clustered} == dict(zip(words, counts, strict=True))
    of_path: dict[str, set[str]] = {}
    for one in clustered:
        of_path.setdefault(one.path, set()).add(one.word.split()[0])
    assert sorted(map(sorted, of_path.values())) == [["0"], ["1"], ["2"], ["3"]]
    assert are_leaves(list(of_path))
    for before, after in pairwise(clustered):
        assert before.path < after.path or before.count >= after.count
    assert cluster_words(found, 4, seed=0) == clustered


def test_more_clusters_than_words() -> None:
    found = WordVectors(["a", "b"], [3, 2], np.eye(2, dtype=np.float32))
    assert sorted(one.path for one in cluster_words(found, 1024, seed=0)) == ["0", "1"]


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
