"""What `project.yml` runs besides the command line of the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from helpers import PROJECT, run_python
from spacy_cascade.tools.formats.columns import ReadOptions, read_columns

GENIA = """UI\tLS
-\t:
95333264\tCD

TI\tLS
-\t:
The\tDT
site\tNN

AB\tLS
-\t:
Cells\tNNS
.\t.

TI\tNN
binds\tVBZ

UI\tLS
-\t:
95347379\tCD

TI\tLS
-\t:
Genes\tNNS
"""


def test_scaffolding_is_taken_out_of_genia(tmp_path: Path) -> None:
    source, output = tmp_path / "in.tsv", tmp_path / "new" / "out.tsv"
    source.write_text(GENIA, encoding="utf8")
    result = run_python(str(PROJECT / "scripts" / "genia_pos.py"), str(source), str(output))
    assert result.returncode == 0, result.stderr
    documents = list(read_columns(output, ReadOptions(tag_column=None, pos_column=1)))
    assert [[" ".join(s.words) for s in document.sentences] for document in documents] == [
        ["The site", "Cells .", "TI binds"],
        ["Genes"],
    ]
    assert documents[0].sentences[1].pos == ("NNS", ".")


@pytest.mark.slow(kind="commands")
def test_a_share_of_a_corpus_is_held_out(tmp_path: Path) -> None:
    vocab = Vocab()
    source, train, dev = (tmp_path / f"{name}.spacy" for name in ("all", "train", "new/dev"))
    docs = [Doc(vocab, words=[f"w{i}"]) for i in range(25)]
    docs[0].spans["x"] = [docs[0][:1]]
    DocBin(docs=docs).to_disk(source)
    script = str(PROJECT / "scripts" / "hold_out.py")
    result = run_python(script, str(source), str(train), str(dev), "--share", "0.2")
    assert result.returncode == 0, result.stderr
    parts = [[d.text.strip() for d in DocBin().from_disk(p).get_docs(vocab)] for p in (train, dev)]
    assert parts[1] == ["w0", "w5", "w10", "w15", "w20"]
    assert sorted([*parts[0], *parts[1]]) == sorted(doc.text.strip() for doc in docs)
    result = run_python(script, str(source), str(train), str(dev), "--share", "1.5")
    assert result.returncode == 2
    assert "cannot hold out 1.5 of 25 Docs" in result.stderr
