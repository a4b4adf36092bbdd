"""Small pipelines, Docs and Examples for tests of components."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.cli._util import app as spacy_app
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import get_lang_class
from spacy.vocab import Vocab
from typer.testing import CliRunner

import spacy_cascade.cli  # noqa: F401 - as spaCy imports it before it reads its command line
from spacy_cascade.tools.formats.columns import read_columns
from spacy_cascade.tools.formats.docs import to_docs

PROJECT = Path(__file__).parents[2]
CONFIGS = sorted((PROJECT / "configs").glob("*.cfg"))

Bounds = tuple[int, int, str]
Sentence = tuple[str, list[Bounds]]

LANGUAGE = "xx"
"""No language: spaCy takes four times as long to make an English tokenizer, and to load it."""

SENTENCES: list[Sentence] = [
    ("The IL-2 gene needs STAT5 in T cells .", [(1, 3, "DNA"), (4, 5, "protein"), (6, 8, "cell")]),
    ("STAT5 binds the AP-1 site .", [(0, 1, "protein"), (3, 5, "DNA")]),
    ("Jurkat cells express AP-1 .", [(0, 2, "cell"), (3, 4, "protein")]),
    ("Human lymphocytes lack the p53 gene .", [(0, 2, "cell"), (4, 6, "DNA")]),
    ("Nothing else is known here .", []),
    ("Both IL-2 and p53 activate cells .", [(1, 2, "protein"), (3, 4, "protein"), (5, 6, "cell")]),
]  # fmt: skip
"""Sentences that spaCy's tokenizers split at the spaces, and their entities."""

TEXTS = [text for text, _ in SENTENCES]

SHORT = ["Jurkat cells express AP-1", "The p53 gene", "cells"]
"""Texts whose segmentations can be enumerated."""

TRAINER = {"@misc": "spacy_cascade.LBFGS.v1", "iterations": 5, "threads": 1}
SMALL = {"model": {"min_count": 1}, "trainer": TRAINER}
"""Settings for a corpus of a few sentences."""


def take_interrupts() -> None:
    """For `preexec_fn`: Ctrl-C stops the process, even if this one was started to ignore it.

    A shell starts its background jobs so.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def blank() -> Language:
    """As `spacy.blank`, which needs twice the time because it fills and checks a config."""
    return get_lang_class(LANGUAGE)()


def add_segmenter(nlp: Language, **settings: Any) -> Any:
    return nlp.add_pipe("cascade_segmenter", config={**SMALL, **settings})


def segmenter_alone(**settings: Any) -> Language:
    """Trained for a moment only, so that it is sure of little."""
    nlp = blank()
    add_segmenter(nlp, **settings)
    train(nlp, make_examples(nlp), updates=1)
    return nlp


def add_classifier(nlp: Language, **settings: Any) -> Any:
    return nlp.add_pipe("cascade_classifier", config={**SMALL, **settings})


def cascade(segmenter: dict[str, Any] | None = None, classifier: dict[str, Any] | None = None):
    """A pipeline of both components, not trained."""
    nlp = blank()
    add_segmenter(nlp, **(segmenter or {}))
    add_classifier(nlp, **(classifier or {}))
    return nlp


def make_doc(vocab: Vocab, text: str, sentence_starts: Sequence[int] = ()) -> Doc:
    """A Doc of the words between spaces; sentences begin at the given tokens, if any."""
    words = text.split()
    starts = [i in sentence_starts for i in range(len(words))] if sentence_starts else None
    return Doc(vocab, words=words, sent_starts=starts)


def gold_doc(
    vocab: Vocab,
    text: str,
    spans: Iterable[Bounds],
    key: str | None = None,
    sentence_starts: Sequence[int] = (),
) -> Doc:
    """A Doc with entities, or with `doc.spans[key]` and no word on entities."""
    doc = make_doc(vocab, text, sentence_starts)
    if key is None:
        doc.set_ents([Span(doc, *span) for span in spans], default="outside")
    else:
        doc.spans[key] = [Span(doc, *span) for span in spans]
    return doc


def annotate(doc: Doc, states: Sequence[str], labels: Sequence[str]) -> list[Bounds]:
    """Give each token a state: `B` or `I` of an entity, `outside`, `blocked` or `missing`.

    labels: of the entities that begin at each token. Returns the entities.
    """
    entities: list[Bounds] = []
    others: dict[str, list[Span]] = {"outside": [], "blocked": [], "missing": []}
    for i, state in enumerate(states):
        if state == "I" and entities and entities[-1][1] == i:
            entities[-1] = (entities[-1][0], i + 1, entities[-1][2])
        elif state in "BI":
            entities.append((i, i + 1, labels[i]))
        else:
            others[state].append(doc[i : i + 1])
    doc.set_ents([Span(doc, *entity) for entity in entities], **others)
    return entities


def make_example(
    nlp: Language,
    text: str,
    spans: Iterable[Bounds],
    key: str | None = None,
    sentence_starts: Sequence[int] = (),
) -> Example:
    return Example(
        make_doc(nlp.vocab, text, sentence_starts),
        gold_doc(nlp.vocab, text, spans, key, sentence_starts),
    )


def make_examples(
    nlp: Language, sentences: Iterable[Sentence] = SENTENCES, key: str | None = None
) -> list[Example]:
    return [make_example(nlp, text, spans, key) for text, spans in sentences]


def train(nlp: Language, examples: list[Example], updates: int = 3) -> list[dict[str, float]]:
    """Initialize and train on the examples; the losses of each update."""
    optimizer = nlp.initialize(lambda: examples)
    return [nlp.update(examples, sgd=optimizer, losses={}) for _ in range(updates)]


def trained_cascade(
    segmenter: dict[str, Any] | None = None, classifier: dict[str, Any] | None = None
) -> Language:
    """A pipeline of both components that knows `SENTENCES` by heart."""
    nlp = cascade(segmenter, classifier)
    train(nlp, make_examples(nlp))
    return nlp


def of_sentences(nlp: Language) -> Language:
    """The pipeline, its models changed to cut sentences, as if training had shown some."""
    for _, pipe in nlp.pipeline:
        if hasattr(pipe, "of_sentences"):
            pipe.model.attrs["sentences"] = True
    return nlp


def bounds(spans: Iterable[Span]) -> list[Bounds]:
    return [(span.start, span.end, span.label_) for span in spans]


def annotation(doc: Doc) -> dict[str, Any]:
    """All that the components write: entities, span groups, confidences to the last bit."""
    return {
        "words": [token.text_with_ws for token in doc],
        "ents": bounds(doc.ents),
        "ent_iob": [token.ent_iob for token in doc],
        "spans": {key: bounds(group) for key, group in doc.spans.items()},
        "scores": {key: confidences(doc, key) for key in doc.spans},
    }


def confidences(doc: Doc, key: str = "cascade") -> list[float] | None:
    scores = doc.spans[key].attrs.get("scores")
    return None if scores is None else [float(score) for score in scores]


def annotations(nlp: Language, texts: Iterable[str] = TEXTS) -> list[dict[str, Any]]:
    """What the pipeline writes on each text, one Doc at a time."""
    return [annotation(nlp(make_doc(nlp.vocab, text))) for text in texts]


def weights(component: Any) -> list[np.ndarray]:
    return [component.model.get_param(name) for name in ("W", "transitions")]


@cache
def _sample(split: str) -> list[Any]:
    return list(read_columns(PROJECT / "assets" / "sample" / f"{split}.iob2"))


def sample_docs(vocab: Vocab, split: str = "train", n_docs: int | None = None) -> list[Doc]:
    """The first Docs of the bundled sample corpus."""
    return list(to_docs(_sample(split)[:n_docs], vocab))


def sample_examples(nlp: Language, split: str = "train", n_docs: int | None = None):
    """The first Docs of the sample as Examples: words and sentences are given."""
    examples = []
    for reference in sample_docs(nlp.vocab, split, n_docs):
        words = [token.text for token in reference]
        starts = [token.is_sent_start for token in reference]
        examples.append(Example(Doc(nlp.vocab, words=words, sent_starts=starts), reference))
    return examples


def write_sample(path: Path, split: str = "train", n_docs: int | None = None) -> Path:
    """The first Docs of the sample as a `.spacy` file."""
    DocBin(docs=sample_docs(blank().vocab, split, n_docs)).to_disk(path)
    return path


LOAD_AND_ANNOTATE = """
import json, sys, spacy
from spacy.tokens import Doc
nlp = spacy.load(sys.argv[1])
docs = [nlp(Doc(nlp.vocab, words=text.split())) for text in json.loads(sys.argv[2])]
print(json.dumps([[[e.start, e.end, e.label_, e._.confidence] for e in doc.ents] for doc in docs]))
"""
"""A script: entities of texts, split at spaces; arguments: a pipeline, and the texts as JSON."""


def run_python(
    *arguments: str, timeout: float = 120.0, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A fresh Python; its output is text, its exit status is not looked at.

    variables: of the environment, beside those of this process.
    """
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=timeout,
        check=False,
    )


def run_spacy(*arguments: object, exit_code: int = 0) -> str:
    """`python -m spacy …` in this process; what it printed, in one line."""
    result = CliRunner().invoke(spacy_app, list(map(str, arguments)))
    assert result.exit_code == exit_code, result.output
    return " ".join(result.output.split())


def corpora_in(folder: Path) -> tuple[str, ...]:
    """Options for `train.spacy` and `dev.spacy`, for commands that read a training config."""
    splits = ("train", "dev")
    return tuple(text for name in splits for text in (f"--paths.{name}", f"{folder / name}.spacy"))


BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")


@dataclass(frozen=True)
class Opened:
    """A page after its scripts have run; complaints: lines that it wrote to the console."""

    dom: str
    complaints: list[str]


def open_page(path: Path, profile: Path) -> Opened:
    """Open a file in a browser without a window; profile: folder for the browser's own files."""
    assert BROWSER is not None
    options = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
        "--disable-background-networking --disable-component-update --disable-sync "
        "--enable-logging=stderr --v=0 --dump-dom"
    )
    result = subprocess.run(
        [BROWSER, *options.split(), f"--user-data-dir={profile}", path.resolve().as_uri()],
        capture_output=True,
        text=True,
        encoding="utf8",
        timeout=120.0,
        check=True,
    )
    lines = result.stderr.splitlines()
    return Opened(result.stdout, [line for line in lines if ":CONSOLE" in line])
