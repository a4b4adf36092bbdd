"""Texts of every kind, chosen and generated: nothing fails, and no token or character changes."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from helpers import blank, weights
from sample_pipelines import PIPELINES, memb, ocr, typed
from spacy_cascade import CascadeError
from unusual_texts import LONE_SURROGATES, UNUSUAL

pytestmark = pytest.mark.slow

N_GENERATED = 5000
N_TRAININGS = 40
KINDS = ["memb", "tagged", "reranked", "overlapping", "lexicons", "typed", "semi-Markov"]
WITH_SENTENCES = ["memb", "reranked"]
ODD = ("Cc", "Cf", "Cn", "Co", "Me", "Mn", "Mc", "Zs", "Zl", "Zp", "Sk", "So", "Lo", "No")
WORDS = ["STAT5", "T cells", "NF-kappa B", "IL-2", ".", "the", "(", "\n\n", " ", "\u200d", "\r\n"]

anything = st.text(max_size=40)
lone = st.text(st.sampled_from("STAT5 \ud800\udc00\udcff\udfff."), min_size=1, max_size=20)
odd = st.text(st.characters(categories=ODD), max_size=20)
repeated = st.builds(
    lambda text, n: text * (n // len(text)),
    st.text(st.characters(categories=("L", "N", "M", "Cf", "Zs")), min_size=1, max_size=3),
    st.sampled_from([100, 1_000, 10_000]),
)
mixed = st.lists(st.one_of(st.sampled_from(WORDS), odd, st.text(max_size=3)), max_size=30).map(
    "".join
)
normal = st.builds(
    unicodedata.normalize, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), st.one_of(odd, mixed)
)
texts = st.one_of(anything, lone, odd, mixed, normal, mixed, repeated)


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Language]:
    """With and without sentences; only for prediction."""
    found = {name: PIPELINES[name]() for name in KINDS}
    for name in WITH_SENTENCES:
        source = found[name]
        nlp = blank().from_config(source.config).from_bytes(source.to_bytes())
        nlp.add_pipe("sentencizer", first=True)
        found[f"{name} with sentences"] = nlp
    return found


@cache
def spacy_alone() -> Language:
    return blank()


def valid(text: str) -> bool:
    return not any(unicodedata.category(character) == "Cs" for character in text)


def tokens_of(doc: Doc) -> list[tuple[str, str, int]]:
    return [(token.text, token.whitespace_, token.idx) for token in doc]


def check(nlp: Language, text: str) -> Doc | None:
    """The Doc has the text and tokens of the tokenizer alone, and spans and confidences are fit.

    None where spaCy refuses the text; it is then refused with spaCy's very error.
    """
    if not valid(text):
        with pytest.raises(UnicodeEncodeError) as of_spacy:
            spacy_alone()(text)
        with pytest.raises(UnicodeEncodeError) as caught:
            nlp(text)
        assert caught.value.args == of_spacy.value.args
        return None
    plain, doc = spacy_alone()(text), nlp(text)
    assert doc.text == plain.text == text
    assert tokens_of(doc) == tokens_of(plain)
    for entity in doc.ents:
        assert entity.doc is doc
        assert text[entity.start_char : entity.end_char] == entity.text
    for key, group in doc.spans.items():
        scores = np.asarray(group.attrs["scores"])
        assert len(scores) == len(group), key
        assert (np.isfinite(scores) & (scores >= 0) & (scores <= 1)).all()
        assert all(0 <= span.start < span.end <= len(doc) for span in group)
        assert all(span.label_ for span in group)
    return doc


def with_preset(nlp: Language, text: str) -> None:
    """An entity that is there before the segmenter, which is told to keep to such ones."""
    doc = nlp.make_doc(text)
    if len(doc) > 1:
        doc.ents = [Span(doc, 1, 2, "preset")]
        assert "preset" in {entity.label_ for entity in nlp(doc).ents}


def test_chosen_texts(
    pipelines: dict[str, Language],
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    n_entities = 0
    n_each = min(len(pipelines), cases(20))
    for number, (name, text) in enumerate({**UNUSUAL, **LONE_SURROGATES}.items()):
        for kind in np.roll(list(pipelines), -number)[:n_each].tolist():
            doc = check(pipelines[kind], text)
            assert (doc is None) == (name in LONE_SURROGATES), (name, kind)
            n_entities += 0 if doc is None else len(doc.ents)
        if name not in LONE_SURROGATES:
            with_preset(pipelines["typed"], text)
    assert n_entities > len(UNUSUAL)
    figure(
        f"{len(UNUSUAL) + len(LONE_SURROGATES)} chosen texts, each through {n_each} of "
        f"{len(pipelines)} pipelines",
        f"text and tokens unchanged, {n_entities:,} entities; the {len(LONE_SURROGATES)} with lone "
        "surrogates are refused by spaCy's own error",
    )


def test_generated_texts(
    pipelines: dict[str, Language],
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=cases(N_GENERATED))
    @given(text=texts, kind=st.sampled_from(sorted(pipelines)))
    def check_one(text: str, kind: str) -> None:
        doc = check(pipelines[kind], text)
        counts["texts"] += 1
        counts["refused by spaCy"] += doc is None
        counts["entities"] += 0 if doc is None else len(doc.ents)

    check_one()
    figure(
        f"{counts['texts']:,} generated texts through {len(pipelines)} pipelines in turn",
        f"text and tokens unchanged, {counts['entities']:,} entities; {counts['refused by spaCy']} "
        "with lone surrogates refused by spaCy's own error",
    )


def test_training_on_odd_texts(
    cases: Callable[[int], int], figure: Callable[[str, str], None]
) -> None:
    """Gold entities stand anywhere, also on spaces and across sentences."""
    counts: Counter[str] = Counter()
    chosen = [text for text in UNUSUAL.values() if len(text) < 1000]
    corpora = st.lists(st.one_of(mixed, odd, st.sampled_from(chosen)), min_size=1, max_size=30)
    sources = [make() for make in (memb, ocr, typed)]

    @settings(max_examples=cases(N_TRAININGS))
    @given(st.sampled_from(sources), corpora, st.randoms(use_true_random=False))
    def train_one(source: Language, corpus: list[str], random: object) -> None:
        nlp = blank().from_config(source.config)
        generator = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
        examples = [odd_example(nlp, text, generator) for text in corpus if valid(text)]
        counts["trainings"] += 1
        try:
            nlp.initialize(lambda: examples)
            nlp.update(examples)
            nlp.update(examples)
        except CascadeError:
            counts["refused"] += 1
            return
        for name in nlp.pipe_names:
            assert all(np.isfinite(part).all() for part in weights(nlp.get_pipe(name)))
        for text in corpus:
            check(nlp, text)

    train_one()
    assert counts["refused"] < counts["trainings"]
    figure(
        f"{counts['trainings']} trainings on odd texts with gold entities anywhere",
        f"{counts['trainings'] - counts['refused']} with finite weights, {counts['refused']} "
        "refused by a documented error",
    )


def odd_example(nlp: Language, text: str, generator: np.random.Generator) -> Example:
    reference = nlp.make_doc(text)
    edges = np.sort(generator.integers(0, len(reference) + 1, 6)).reshape(3, 2)
    spans = [
        Span(reference, start, end, str(generator.choice(["a", "b", "é"])))
        for start, end in edges.tolist()
        if start < end
    ]
    reference.set_ents(spans)
    return Example(nlp.make_doc(text), reference)
