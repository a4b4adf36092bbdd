"""The corpus that components are initialized from: read once, kept in blocks, and freed."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from helpers import SENTENCES, SMALL, blank, cascade, make_doc, make_example, make_examples
from spacy_cascade import ConfigError, SavingError
from spacy_cascade.features.space import FeatureSpace
from spacy_cascade.features.tokens import Tokens, read_tokens
from spacy_cascade.features.units import Units
from spacy_cascade.numeric.index import frequent_keys
from spacy_cascade.numeric.key_counts import KeyCounts
from spacy_cascade.pipeline import corpus
from spacy_cascade.pipeline.corpus import forget_words
from spacy_cascade.pipeline.initializing import _read, read_examples
from spacy_cascade.pipeline.learning import parts_of
from spacy_cascade.pipeline.reading import tokenizing
from spacy_cascade.systems.semi_markov.space import SegmentSpace

WORDS_AND_SPANS = ["word@-1..1 & word@0", "seen_inside", "lexicon(mine)@0 & seen_first"]


def templates(lines: list[str], terms: Path) -> dict[str, Any]:
    mine = {"@misc": "spacy_cascade.TermList.v1", "source": str(terms), "leave_out": True}
    return {
        "@misc": "spacy_cascade.Templates.v1", "templates": lines, "patterns": {},
        "lexicons": {"mine": mine},
    }  # fmt: skip


def with_resources(terms: Path) -> Language:
    of_tokens = templates([*WORDS_AND_SPANS, "bias"], terms)
    of_spans = templates(
        ["word@first", "lexicon(mine)", "similarity(training, jaccard)",
         "similarity(mine, jaro_winkler)"], terms,
    )  # fmt: skip
    return cascade(
        {"model": {"min_count": 2, "templates": of_tokens}},
        {"model": {"min_count": 1, "templates": of_spans}},
    )


def tagger(_: Path) -> Language:
    nlp = blank()
    nlp.add_pipe("cascade_tagger", config={"model": {"min_count": 2}})
    return nlp


def segments(_: Path) -> Language:
    nlp = blank()
    model = {
        "@architectures": "spacy_cascade.SemiMarkov.v1", "min_count": 2,
        "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
    }  # fmt: skip
    nlp.add_pipe("cascade_segmenter", config={**SMALL, "model": model})
    return nlp


PIPELINES: dict[str, Callable[[Path], Language]] = {
    "cascade": lambda _: cascade({"model": {"min_count": 2}}),
    "resources": with_resources,
    "tagger": tagger,
    "segments": segments,
}


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("terms") / "terms.txt"
    path.write_text("IL-2 gene\nSTAT5\nT cells\np53\nunknown term\n", encoding="utf8")
    return path


def examples_of(nlp: Language, numbers: list[int]) -> list[Example]:
    examples = [make_example(nlp, *SENTENCES[number]) for number in numbers]
    for example in examples:
        for token in example.reference:
            token.tag_ = token.text[0]
    return examples


def counted_at_once(space: FeatureSpace, units: Units, minimum: int) -> np.ndarray:
    """Keys of the features of a corpus that fits into memory, most frequent first."""
    attributes, n_slots = units.positions.table.attributes, space.plan.n_slots
    rows = space.unit_lexemes(units).indices
    counts = np.bincount(rows, minlength=len(attributes) * n_slots).astype(np.float64)
    of_lexemes = np.repeat(counts, np.tile(np.diff(space.plan.slot_start), len(attributes)))
    keys = [
        frequent_keys(space.lexeme_keys(attributes), of_lexemes, minimum),
        frequent_keys(space.unit_keys(units), None, minimum),
    ]
    if isinstance(space, SegmentSpace):
        gold = space.features_of(units).gold_keys()
        keys.append(frequent_keys(gold, None, space.segments.min_count))
    return np.concatenate(keys)


def learnt_at_once(pipe: Any, nlp: Language, examples: list[Example]) -> tuple[np.ndarray, Any]:
    tokens = read_examples(pipe, examples)
    gold = [pipe.gold.read(example) for example in examples]
    flags, resources = pipe.gold.flags(tokens, gold), pipe.space.resources
    with tokenizing(nlp) as tokenize:
        pipe.space.read_resources(tokenize)
    resources.made = {key: made.learn(tokens, flags) for key, made in resources.made.items()}
    pipe.space.forget_lexemes(0)
    keys = counted_at_once(pipe.space, pipe.gold_units(tokens, gold), pipe.model.attrs["min_count"])
    return keys, resources.arrays()


@pytest.mark.slow(kind="corpus blocks")
@pytest.mark.parametrize("kind", PIPELINES)
@settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
@given(
    numbers=st.lists(st.integers(0, 5), max_size=12).map(lambda n: [0, *n]),
    at_once=st.integers(1, 3), block=st.integers(1, 25), in_memory=st.integers(0, 60),
    entries=st.integers(40, 400), most_lexemes=st.integers(0, 30),
)  # fmt: skip
def test_blocks_teach_what_the_whole_corpus_teaches(
    kind: str, terms: Path, numbers: list[int], at_once: int, block: int, in_memory: int,
    entries: int, most_lexemes: int,
) -> None:  # fmt: skip
    nlp, twin = PIPELINES[kind](terms), PIPELINES[kind](terms)
    with (
        patch.multiple(corpus, _READ_AT_ONCE=at_once, _BLOCK=block, _IN_MEMORY=in_memory),
        patch.object(KeyCounts.__init__, "__defaults__", (64 * entries,)),
        patch("spacy_cascade.pipeline.initializing.MAXIMUM_LEXEMES", most_lexemes),
    ):
        nlp.initialize(lambda: iter(examples_of(nlp, numbers)))
    for name in nlp.pipe_names:
        pipe = nlp.get_pipe(name)
        keys, arrays = learnt_at_once(twin.get_pipe(name), twin, examples_of(twin, numbers))
        np.testing.assert_array_equal(pipe.space.index.keys, keys)
        found = pipe.space.resources.arrays()
        assert found.keys() == arrays.keys()
        for part, array in arrays.items():
            np.testing.assert_array_equal(found[part], array)
            assert found[part].dtype == array.dtype


def test_blocks_in_a_file_are_those_that_were_added() -> None:
    nlp = cascade()
    examples = make_examples(nlp)
    pipe = nlp.get_pipe("cascade_segmenter")
    with patch.multiple(corpus, _READ_AT_ONCE=2, _BLOCK=5, _IN_MEMORY=9):
        blocks = corpus.CorpusBlocks[Any]()
        pipe._annotation_read = 0
        read = partial(_read, pipe, times=Counter())
        added = list(corpus.read_blocks(examples, read))
        for block in added:
            blocks.append(*block)
            next(islice(blocks, 1, None), None)  # reading some of them changes nothing
    assert len(blocks._in_memory) == 1
    for _ in range(2):
        for (tokens, gold), (before, gold_before) in zip(blocks, added, strict=True):
            np.testing.assert_array_equal(tokens.words, before.words)
            assert [g.spans for g in gold] == [g.spans for g in gold_before]
            assert tokens.text_of(int(tokens.words[0])) == before.text_of(int(tokens.words[0]))
    assert blocks._file.seek(0, 2) < 20_000  # no table of strings


def test_texts_of_hashes_are_shared_with_blocks_in_a_file() -> None:
    vocab, blocks = blank().vocab, corpus.CorpusBlocks[Any]()
    with patch.object(corpus, "_IN_MEMORY", 0):
        blocks.append(read_tokens([make_doc(vocab, "a b")]), [vocab.strings, "gold"])
    ((tokens, gold),) = blocks
    assert gold[0] is vocab.strings
    assert (gold[1], tokens.words.tolist()) == ("gold", [vocab.strings["a"], vocab.strings["b"]])


@pytest.mark.parametrize("at_once", [1, 2, 100])
@pytest.mark.parametrize("n_tokens", [1, 9, 10**6])
def test_blocks_are_the_shards_of_a_corpus(at_once: int, n_tokens: int) -> None:
    """However many examples are read at once."""
    examples, sizes = make_examples(cascade()), list[int]()

    def read(some: Sequence[Example]) -> tuple[Tokens, list[str]]:
        sizes.append(len(some))
        return read_tokens([each.predicted for each in some]), [each.text for each in some]

    with patch.object(corpus, "_READ_AT_ONCE", at_once):
        blocks = list(corpus.read_blocks(examples, read, n_tokens))
    parts = [list(part) for part in parts_of(examples, n_tokens)]
    assert [gold for _, gold in blocks] == [[each.text for each in part] for part in parts]
    rest = ((part, range(0, len(part), at_once)) for part in parts)
    assert sizes == [min(at_once, len(part) - i) for part, begins in rest for i in begins]
    for (tokens, _), part in zip(blocks, parts, strict=True):
        assert tokens.words.tolist() == [token.orth for each in part for token in each.predicted]


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(corpus, "_IN_MEMORY", 0)
    monkeypatch.setattr(corpus.tempfile, "TemporaryFile", refuse)
    nlp = cascade()
    with pytest.raises(SavingError, match="TMPDIR"):
        nlp.initialize(lambda: make_examples(nlp))


def test_a_corpus_of_its_own_is_read_instead_of_what_spacy_shows() -> None:
    nlp, all_at_once = cascade(), cascade()
    shown = make_examples(nlp)[:1]

    def reader(pipeline: Language) -> Iterator[Example]:
        assert pipeline is nlp
        yield from make_examples(nlp)

    for name in nlp.pipe_names:
        nlp.get_pipe(name).initialize(lambda: shown, nlp=nlp, corpus=reader)
    all_at_once.initialize(lambda: make_examples(all_at_once))
    for name in nlp.pipe_names:
        pipe, other = nlp.get_pipe(name), all_at_once.get_pipe(name)
        assert pipe.labels == other.labels
        assert pipe.n_examples == len(SENTENCES)
        np.testing.assert_array_equal(pipe.space.index.keys, other.space.index.keys)
    with pytest.raises(ConfigError, match=r"without a pipeline.*argument nlp"):
        pipe.initialize(lambda: shown, corpus=reader)
    assert len(nlp(make_doc(nlp.vocab, "STAT5 binds")))


class Reader:
    """Gives examples one by one, and counts how often it is read to the end."""

    def __init__(self, examples: list[Example]) -> None:
        self.examples, self.n_passes = examples, 0

    def __call__(self) -> Iterator[Example]:
        yield from self.examples
        self.n_passes += 1


def initialized(kept_tokens: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Language, Reader]:
    monkeypatch.setattr(corpus, "_MOST_KEPT", kept_tokens)
    nlp = cascade()
    reader = Reader(make_examples(nlp))
    nlp.initialize(reader)
    return nlp, reader


def keys_of(nlp: Language) -> list[np.ndarray]:
    return [nlp.get_pipe(name).space.index.keys for name in nlp.pipe_names]


def test_the_second_component_gets_what_the_first_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    n_tokens = sum(len(text.split()) for text, _ in SENTENCES)
    shared, once = initialized(n_tokens, monkeypatch)
    apart, twice = initialized(n_tokens - 1, monkeypatch)
    assert (once.n_passes, twice.n_passes) == (1, 2)
    for one, other in zip(keys_of(shared), keys_of(apart), strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_is_kept_after_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp, reader = initialized(1000, monkeypatch)
    assert not corpus._kept
    reader.examples = reader.examples[:2]
    nlp.initialize(reader)
    assert reader.n_passes == 2
    assert nlp.get_pipe("cascade_classifier").n_examples == 2


def test_an_earlier_attempt_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first component always reads anew."""
    monkeypatch.setattr(corpus, "_MOST_KEPT", 1000)
    nlp = cascade()
    reader = Reader(make_examples(nlp))
    nlp.get_pipe("cascade_segmenter").initialize(reader, nlp=nlp)
    reader.examples = reader.examples[:2]
    nlp.initialize(reader)
    assert [nlp.get_pipe(name).n_examples for name in nlp.pipe_names] == [2, 2]


WORDS, OTHER_WORDS = ["p53", "-", "null", "mice"], ["p53-null", "mice"]


def example() -> Example:
    vocab = blank().vocab
    return Example(Doc(vocab, WORDS, [False, False, True, False]), Doc(vocab, OTHER_WORDS))


def test_words_that_no_alignment_needs_are_freed():
    one = example()
    assert one._cached_words_x == WORDS
    forget_words([one])
    assert not one._cached_words_x
    assert not one._cached_words_y


def test_an_alignment_stays():
    one = example()
    alignment = one.alignment
    forget_words([one])
    assert one.alignment is alignment
    assert one._cached_words_y == OTHER_WORDS


def test_an_alignment_that_is_asked_for_later_is_the_same():
    one = example()
    forget_words([one])
    expected = [[0], [0], [0], [1]]
    assert [one.alignment.x2y[i].tolist() for i in range(len(WORDS))] == expected
    one.predicted = Doc(one.predicted.vocab, OTHER_WORDS)
    assert [one.alignment.x2y[i].tolist() for i in range(len(OTHER_WORDS))] == [[0], [1]]


def test_components_free_them_in_training():
    nlp = blank()
    nlp.add_pipe("cascade_segmenter", config={"model": {"min_count": 1}})
    reference = Doc(nlp.vocab, OTHER_WORDS, ents=["B-DNA", "O"])
    one = Example(Doc(nlp.vocab, OTHER_WORDS), reference)
    nlp.initialize(lambda: [one])
    assert not one._cached_words_x
    other = Example(Doc(nlp.vocab, OTHER_WORDS), reference)
    nlp.get_pipe("cascade_segmenter").update([other])
    assert not other._cached_words_x
    doc = nlp(Doc(nlp.vocab, OTHER_WORDS))
    assert [span.text for span in doc.spans["cascade"]] == ["p53-null"]
