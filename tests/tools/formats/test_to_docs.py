"""Docs and `.spacy` files: what spaCy holds, and that all annotation gets there."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.vocab import Vocab

from format_files import docs_in, written
from helpers import blank
from spacy_cascade.errors import CorpusError
from spacy_cascade.tools.formats.columns import Document, ReadOptions, Sentence, read_columns
from spacy_cascade.tools.formats.docs import (
    ConversionSummary,
    check_suffix,
    files_in,
    to_docs,
    with_progress,
    write_documents,
)
from spacy_cascade.tools.formats.encodings import word_problem
from spacy_cascade.tools.formats.spacing import Spacing
from spacy_cascade.tools.formats.tags import LabelledSpan, Scheme
from spacy_cascade.tools.tokenizers.lost_spans import lost_spans

DOCUMENT = Document(
    (
        Sentence(
            words=("The", "IL-2", "gene"),
            spans=(LabelledSpan(1, 3, "DNA"),),
            pos=("DT", "NN", "NN"),
            chunks=(LabelledSpan(0, 3, "NP"),),
        ),
        Sentence(
            words=("is", "what", "?"),
            spans=(LabelledSpan(0, 1, "X"),),
            missing=(1,),
            pos=("VB", "WP", "."),
            chunks=(),
        ),
    )
)


def one_doc(document: Document = DOCUMENT, **options: str) -> Doc:
    (doc,) = to_docs([document], Vocab(), **options)
    return doc


def through_bytes(doc: Doc) -> Doc:
    data = DocBin(docs=[doc]).to_bytes()
    (doc,) = DocBin().from_bytes(data).get_docs(Vocab())
    return doc


def converted(
    output: Path, *sources: Path, spacing: Spacing = Spacing.NATURAL
) -> ConversionSummary:
    documents = [one for source in sources for one in read_columns(source)]
    return write_documents(documents, output, spacing=spacing)


def spans(found: object) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label_) for span in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize("word", ["", "\ud800", "caf\udce9", "\xa0", "\u3000", "\x85", "\x1c"])
def test_bad_words_are_those_that_spacy_refuses_or_takes_for_whitespace(word: str) -> None:
    assert word_problem(word) is not None
    if word.isspace():
        doc = Doc(blank().vocab, words=["a", word])
        assert [token.text for token in through_bytes(doc)] == ["a", word]
        assert doc[1].is_space
    else:
        with pytest.raises(ValueError, match=r"E031|surrogates not allowed"):
            Doc(Vocab(), words=["a", word])


@seed(0)
@settings(max_examples=50)
@given(words=st.lists(st.text(), min_size=1, max_size=8))
def test_spacy_keeps_every_other_word(words: list[str]) -> None:
    kept = [word for word in words if word_problem(word) is None]
    assert [token.text for token in through_bytes(Doc(Vocab(), words=kept))] == kept


@pytest.mark.parametrize("change", [lambda doc: doc, through_bytes], ids=["made", "read back"])
def test_all_annotation_is_there(change: object) -> None:
    doc = change(one_doc(spans_key="sc"))  # type: ignore[operator]
    assert [token.text for token in doc] == ["The", "IL-2", "gene", "is", "what", "?"]
    assert doc.has_unknown_spaces
    assert [token.is_sent_start for token in doc] == [True, False, False, True, False, False]
    assert [token.tag_ for token in doc] == ["DT", "NN", "NN", "VB", "WP", "."]
    assert [token.ent_iob_ for token in doc] == ["O", "B", "I", "B", "", "O"]
    assert spans(doc.ents) == [(1, 3, "DNA"), (3, 4, "X")]
    assert spans(doc.spans["sc"]) == spans(doc.ents)
    assert spans(doc.spans["chunks"]) == [(0, 3, "NP")]


def test_columns_not_read_leave_no_trace_and_empty_groups_are_there() -> None:
    doc = one_doc(Document((Sentence(("a", "b"), ()),)))
    assert not doc.has_annotation("TAG")
    tagged = one_doc(Document((DOCUMENT.sentences[0], Sentence(("a",), ()))))
    assert [token.tag_ for token in tagged] == ["DT", "NN", "NN", ""]
    assert dict(doc.spans) == {}
    assert [token.ent_iob_ for token in doc] == ["O", "O"]
    assert [token.is_sent_start for token in doc] == [True, False]
    doc = through_bytes(one_doc(Document((Sentence(("a",), (), chunks=()),)), spans_key="sc"))
    assert spans(doc.spans["sc"]) == spans(doc.spans["chunks"]) == []


def test_two_kinds_of_spans_need_two_keys() -> None:
    assert "np" in one_doc(chunks_key="np").spans
    with pytest.raises(CorpusError, match="--spans-key or --chunks-key"):
        one_doc(spans_key="chunks")


@pytest.mark.filterwarnings("ignore:.*a phrase begins with I-")
@seed(0)
@settings(max_examples=50)
@given(
    tags=st.lists(
        st.lists(st.sampled_from(["O", "-", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_converted_entities_match_spacys_own_reading(tmp_path: Path, tags: list[list[str]]) -> None:
    rows = ["\n".join(f"w\t{tag}" for tag in sentence) for sentence in tags]
    source = written(tmp_path / "in.iob", "\n\n".join(rows))
    docs = list(to_docs(read_columns(source, ReadOptions(n_sents=1)), Vocab()))
    assert len(docs) == len(tags)
    for doc, sentence in zip(docs, tags, strict=True):
        ents = ["" if tag == "-" else tag for tag in sentence]
        # spaCy reads IOB1 too, save for a phrase at the very beginning.
        ents[0] = ents[0].replace("I-", "B-")
        expected = Doc(Vocab(), words=["w"] * len(sentence), ents=ents)
        assert spans(doc.ents) == spans(expected.ents)
        assert [t.ent_iob_ for t in doc] == [t.ent_iob_ for t in expected]


@pytest.mark.parametrize(
    ("text", "spacing", "reference", "tokens", "tags"),
    [
        ("can't B-X\n(a)b I-X\n. O\n", Spacing.WORDS, "can't (a)b . ", ["can't", "(a)b", "."],
         ["B-X", "L-X", "O"]),
        ("ca B-X\n, I-X\n( O\na O\n) O\n. O\n", Spacing.NATURAL, "ca, (a).",
         ["ca", ",", "(", "a", ")", "."], ["B-X", "L-X", "O", "O", "O", "O"]),
    ],
)  # fmt: skip
def test_training_takes_words_or_tokenizes_text_of_natural_spacing(
    text: str, spacing: Spacing, reference: str, tokens: list[str], tags: list[str], tmp_path: Path
) -> None:
    source = written(tmp_path / "in.txt", text)
    assert converted(tmp_path / "out.spacy", source, spacing=spacing).spacing == spacing
    (example,) = Corpus(tmp_path / "out.spacy")(blank())
    assert example.reference.text == reference
    assert example.reference.has_unknown_spaces == (spacing == Spacing.WORDS)
    assert [token.text for token in example.predicted] == tokens
    assert example.get_aligned_ner() == tags


def test_a_line_break_follows_a_heading(tmp_path: Path) -> None:
    sentences = (
        Sentence(("The", "title"), (LabelledSpan(1, 2, "X"),), pos=("DT", "NN")),
        Sentence(("A", "."), (LabelledSpan(0, 1, "X"),), pos=("DT", "."), chunks=()),
        Sentence(("B",), (), missing=(0,), pos=("NN",), chunks=(LabelledSpan(0, 1, "NP"),)),
        Sentence(("C",), (LabelledSpan(0, 1, "Y"),), pos=("NN",)),
    )
    (doc,) = to_docs([Document(sentences)], Vocab(), spacing=Spacing.NATURAL)
    assert doc.text == "The title\nA. B\nC"
    assert [token.text for token in doc] == ["The", "title", "\n", "A", ".", "B", "\n", "C"]
    assert [token.tag_ for token in doc] == ["DT", "NN", "_SP", "DT", ".", "NN", "_SP", "NN"]
    assert [t.i for t in doc if t.is_sent_start] == [0, 3, 5, 7]
    assert spans(doc.ents) == [(1, 2, "X"), (3, 4, "X"), (7, 8, "Y")]
    assert [token.ent_iob_ for token in doc] == ["O", "B", "O", "B", "O", "", "", "B"]
    assert spans(doc.spans["chunks"]) == [(5, 6, "NP")]
    (doc,) = to_docs([Document(sentences)], Vocab(), spacing=Spacing.ONE_LINE)
    assert doc.text == "The title A. B C"


def test_words_of_no_known_style_have_natural_spaces_too() -> None:
    document = Document((Sentence(("A", "(", "B", ")", "."), ()),))
    assert one_doc(document, spacing=Spacing.NATURAL).text == "A (B)."


def test_of_equal_spans_the_first_is_an_entity_and_the_others_are_lost() -> None:
    span = LabelledSpan(0, 2, "X")
    doc = one_doc(Document((Sentence(("A", "b"), (span,) * 3),)))
    assert spans(doc.ents) == [(0, 2, "X")]
    assert [(one.start, one.end, one.reason) for one in lost_spans(doc, 1)] == [
        (0, 3, "overlapping another span")
    ] * 2


def test_pieces_of_words_keep_the_spacing_of_words(tmp_path: Path) -> None:
    source = written(tmp_path / "in.txt", "play B-X\n##ing I-X\n. O\n")
    summary = converted(tmp_path / "out.spacy", source)
    assert (summary.style.is_pieces, summary.spacing) == (True, Spacing.WORDS)
    assert docs_in(tmp_path / "out.spacy")[0].has_unknown_spaces


def test_files_of_a_folder_become_one_file_of_one_style_and_are_counted(tmp_path: Path) -> None:
    """One file alone has too few hyphens to tell their style."""
    folder = tmp_path / "in"
    (folder / "deeper.txt").mkdir(parents=True)
    written(folder / "b.iob2", "-DOCSTART-\nb B-X\n? ?\n")
    written(folder / "a.BIO", "-DOCSTART-\na I-Y\n\nc O\n-DOCSTART-\nd O")
    written(folder / "notes.md", "not a corpus")
    assert [path.name for path in files_in(folder)] == ["a.BIO", "b.iob2"]
    assert files_in(folder / "notes.md") == [folder / "notes.md"]
    output = tmp_path / "new" / "folder" / "out.spacy"
    summary = converted(output, *files_in(folder))
    assert [doc[0].text for doc in docs_in(output)] == ["a", "d", "b"]
    assert (summary.documents, summary.sentences, summary.words, summary.missing) == (3, 4, 5, 1)
    assert summary.entities == {"X": 1, "Y": 1}
    assert summary.schemes == {Scheme.IOB1, Scheme.IOB2}
    written(folder / "a.BIO", "NF B-X\n- I-X\nB I-X\n")
    written(folder / "b.iob2", "p O\n- O\nq O\n\n" * 9)
    converted(output, *files_in(folder))
    assert docs_in(output)[0].text == "NF-B"


def test_nothing_to_read_or_no_place_to_write(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="absent does not exist"):
        files_in(tmp_path / "absent")
    with pytest.raises(CorpusError, match=r"no files to read.*\.iob2"):
        files_in(tmp_path)
    for refuse in (check_suffix, converted):
        with pytest.raises(CorpusError, match=r"does not end in \.spacy"):
            refuse(tmp_path)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_shows_the_progress_in_a_terminal_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def shown(output: io.StringIO) -> str:
        monkeypatch.setattr("sys.stderr", output)
        assert list(with_progress("ab", "out.spacy", 2)) == ["a", "b"]
        return output.getvalue()

    assert shown(_Terminal()) == ""
    monkeypatch.setattr("spacy_cascade.tools.formats.docs._DELAY_SECONDS", 0)
    bar = shown(_Terminal())
    assert "out.spacy:   0%" in bar
    assert "/2 [" in bar
    assert " documents" in bar
    assert "\n" not in bar  # it goes away
    assert shown(io.StringIO()) == ""
