"""What `project.yml` runs besides the command line of the package."""

from __future__ import annotations

from pathlib import Path

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
