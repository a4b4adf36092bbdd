"""Each sentence of SECURITY.md has tests, or says that it promises nothing."""

from __future__ import annotations

import ast
import io
import zipfile

import numpy as np
import pytest

from helpers import PROJECT, sample_docs
from imports import PACKAGE, imports
from sample_pipelines import N_DOCS, with_lexicons
from tests.proof.promises import PAGE, TABLE, promises, sentences

PROMISES = promises(TABLE.read_text(encoding="utf8"))
OPEN_CONNECTIONS = {
    "aiohttp", "asyncio", "ftplib", "http", "httpx", "imaplib", "poplib", "requests", "smtplib",
    "socket", "socketserver", "telnetlib", "urllib.request", "urllib3", "xmlrpc",
}  # fmt: skip


def test_no_sentence_is_left_out() -> None:
    """Mend `tests/proof/promises.txt`, after a look whether the tests still try what is said."""
    assert list(PROMISES) == sentences(PAGE.read_text(encoding="utf8"))


@pytest.mark.parametrize("sentence", PROMISES)
def test_each_has_tests_or_a_reason(sentence: str) -> None:
    tried_by = PROMISES[sentence]
    assert tried_by
    if tried_by[0].startswith("- "):
        assert len(tried_by) == 1
        return
    for test in tried_by:
        file, _, name = test.partition("::")
        tree = ast.parse((PROJECT / file).read_text(encoding="utf8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_sentences_of_a_page() -> None:
    page = "# Title\n\nOne. Two\nlines.\n\n| a | b |\n|---|---|\n| x | **no** |\n\n- y,\n  z\n- w"
    assert sentences(page) == ["One.", "Two lines.", "x: no", "y, z", "w"]


def who_imports(names: set[str]) -> set[str]:
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for name in imports(path, PACKAGE)
        if name in names or name.split(".")[0] in names
    }


def test_no_module_can_open_a_connection() -> None:
    """The server of `label-studio` is one of the extra `serve`; it listens."""
    assert not who_imports(OPEN_CONNECTIONS)


def test_pickles_are_read_from_processes_of_our_own_alone() -> None:
    """And from the cache of kernels, which is promised to be nobody else's."""
    assert who_imports({"pickle", "cloudpickle", "marshal", "dill", "shelve"}) == {
        "kernel_cache.py", "pipeline/corpus.py", "pipeline/sending.py", "tools/scale/on_ray.py",
        "tools/scale/packing.py",
    }  # fmt: skip


def test_weights_name_no_word() -> None:
    """Neither those of the corpus nor those of a lexicon are in the file of a model."""
    nlp = with_lexicons()
    docs = sample_docs(nlp.vocab, n_docs=N_DOCS)
    # Settings, which are saved as text, have plain words of English.
    words = {token.text for doc in docs for token in doc if not token.is_lower and len(token) > 3}
    assert len(words) > 30
    words |= {"HeLa", "monocytes"}
    for _, component in nlp.pipeline:
        archive = zipfile.ZipFile(io.BytesIO(component.to_bytes()))
        arrays = [np.load(io.BytesIO(archive.read(name))) for name in archive.namelist()]
        assert len(arrays) > 3
        contents = b"".join(array.tobytes() for array in arrays)
        assert not [word for word in words if word.encode() in contents]
