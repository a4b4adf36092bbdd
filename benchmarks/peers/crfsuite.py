"""python-crfsuite with the templates of the JNLPBA tables: one chain with typed IOB2 tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import pycrfsuite

from ..lib.corpora import Sentence, read_columns
from ..lib.package import word_clusters
from ..lib.timing import Stopwatch

if TYPE_CHECKING:
    from spacy.tokens import Doc

Span = tuple[int, int, str]
"""Start, end (exclusive) and label."""
FeaturesOf = Callable[[Sequence[str]], list[list[str]]]
"""Gives the features of each word of a sentence."""

PATTERNS = [
    re.compile(pattern)
    for pattern in (
        r"^[A-Z][a-z]",
        r"[A-Z]{2,}",
        r"[a-z]+[A-Z]+",
        r"[0-9]+",
        r"^[^0-9]*[0-9][^0-9]*$",
        r"^[^0-9]*[0-9][0-9][^0-9]*$",
        r"^[0-9]+$",
        r"[0-9]+[,.][0-9,.]+",
        r"[A-Za-z]+[0-9]+",
        r"[0-9]+[A-Za-z]+",
        r"[-]+",
        r"^[-]+",
        r"[-]+$",
        r"""[,;:?!\-+'"/]+""",
    )
]
_RUN = re.compile(r"(.)\1+")
_BOUNDARY = "\ue000"


def _character_class(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isupper():
        return "A"
    return "a" if character.isalpha() else "_"


@cache
def word_features(word: str, offset: int) -> tuple[str, ...]:
    """Features of one word at an offset; the cache makes them once for each word."""
    if word == _BOUNDARY:
        return ()
    word_class = "".join(map(_character_class, word))
    brief_class = _RUN.sub(r"\1", word_class)
    features = [
        f"class@{offset}={word_class}",
        f"brief_class@{offset}={brief_class}",
        f"length@{offset}={len(word)}",
    ]
    features += [f"pattern{n}@{offset}" for n, p in enumerate(PATTERNS) if p.search(word)]
    if offset == 0:
        features.append("bias")
        for length in range(1, min(5, len(word)) + 1):
            features += [f"prefix={word[:length]}", f"suffix={word[-length:]}"]
    return tuple(features)


def sentence_features(words: Sequence[str]) -> list[list[str]]:
    line = [_BOUNDARY, _BOUNDARY, *words, _BOUNDARY, _BOUNDARY]
    features = []
    for t in range(2, len(line) - 2):
        row = [f"word@{k}={line[t + k]}" for k in range(-2, 3)]
        row += [f"words@{k}={line[t + k]} {line[t + k + 1]}" for k in range(-2, 2)]
        row += [f"triple@{k}={' '.join(line[t + k : t + k + 3])}" for k in range(-2, 1)]
        for k in (-1, 0, 1):
            row += word_features(line[t + k], k)
        features.append(row)
    return features


class ClusterFeatures:
    """The features of a sentence, and the clusters of the words at each place from -2 to 2.

    Clusters of each source and size have features of their own. They are looked up once a word.
    """

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}

    def __call__(self, words: Sequence[str]) -> list[list[str]]:
        new = sorted(set(words) - self._known.keys())
        if new:
            clusters = zip(*word_clusters(new), strict=True)
            self._known.update(zip(new, map(list, clusters), strict=True))
        features = sentence_features(words)
        for place, row in enumerate(features):
            for k in range(max(-2, -place), min(3, len(words) - place)):
                names = enumerate(self._known[words[place + k]])
                row += [f"cluster{number}@{k}={name}" for number, name in names if name]
        return features


FEATURES: dict[str, FeaturesOf] = {
    "crfsuite": sentence_features,
    "crfsuite_clusters": ClusterFeatures(),
}
"""What a model looks at, by the name of its reader."""


def tag_spans(tags: Sequence[str]) -> list[Span]:
    """Spans of IOB2 tags; a span may begin with `I`, too."""
    spans: list[Span] = []
    start, label = 0, ""
    for i, tag in enumerate([*tags, "O"]):
        if label and tag != f"I-{label}":
            spans.append((start, i, label))
            label = ""
        if tag != "O" and not label:
            start, label = i, tag[2:]
    return spans


def train_crfsuite(
    train: str,
    dev: str,
    model: str,
    algorithm: str,
    parameters: dict[str, Any],
    min_count: int = 1,
    features: str = "crfsuite",
) -> dict[str, Any]:
    """Train on columns and score on others.

    algorithm, parameters: of crfsuite; other parameters keep its defaults. min_count: how often a
    feature occurs at least, whatever the tag (crfsuite's own `feature.minfreq` counts each tag for
    itself). features: a key of `FEATURES`. The trainer gets the features sentence by sentence, so
    that Python never holds all.
    """
    sentences, features_of = read_columns(train), FEATURES[features]
    making, training = Stopwatch(), Stopwatch()
    with making:
        trainer = _trainer(sentences, features_of, algorithm, parameters, min_count)
    with training:
        trainer.train(model)
    return {
        "features_seconds": making.passed,
        "training_seconds": training.passed,
        "computed_seconds": making.computed + training.computed,
        "iterations": trainer.logparser.last_iteration["num"],
        "features": trainer.logparser.featgen_num_features,
        "f1": f1(open_model(model), read_columns(dev), features_of),
    }


def _trainer(
    sentences: Iterable[Sentence],
    features_of: FeaturesOf,
    algorithm: str,
    parameters: dict[str, Any],
    min_count: int,
) -> Any:
    """A trainer with the parameters and the features of all sentences."""
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params(parameters)
    is_frequent = _frequent(sentences, features_of, min_count)
    for words, tags in sentences:
        rows = [[f for f in row if is_frequent(f)] for row in features_of(words)]
        trainer.append(pycrfsuite.ItemSequence(rows), tags)
    return trainer


def _frequent(
    sentences: Iterable[Sentence], features_of: FeaturesOf, min_count: int
) -> Callable[[str], bool]:
    """Whether a feature occurs that often in the sentences."""
    if min_count <= 1:
        return lambda _: True
    counts: Counter[str] = Counter()
    for words, _ in sentences:
        for row in features_of(words):
            counts.update(row)
    return {feature for feature, n in counts.items() if n >= min_count}.__contains__


def open_model(model: str) -> Any:
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    return tagger


def f1(
    tagger: Any, sentences: Iterable[tuple[Any, list[str]]], features: Callable[..., Any]
) -> float:
    """Exact-match F1 of typed spans in percent, over all labels.

    sentences: what `features` takes, and gold tags.
    """
    right = found = wanted = 0
    for sentence, tags in sentences:
        predicted = set(tag_spans(tagger.tag(pycrfsuite.ItemSequence(features(sentence)))))
        gold = set(tag_spans(tags))
        right += len(predicted & gold)
        found += len(predicted)
        wanted += len(gold)
    return 200 * right / max(found + wanted, 1)


def open_annotator(model: str, features: str = "crfsuite") -> Callable[[Doc], Doc]:
    """A trained model as a function that sets the entities of a Doc. features: of `FEATURES`."""
    from spacy.tokens import Span as DocSpan

    tagger, features_of = open_model(model), FEATURES[features]

    def annotate(doc: Doc) -> Doc:
        spans = []
        for sentence in doc.sents:
            words = [token.text for token in sentence]
            tags = tagger.tag(pycrfsuite.ItemSequence(features_of(words)))
            for start, end, label in tag_spans(tags):
                spans.append(DocSpan(doc, sentence.start + start, sentence.start + end, label))
        doc.set_ents(spans)
        return doc

    return annotate
