"""What pipelines think of unlabelled Docs, and how several opinions become one.

An opinion lists the likely entities of a Doc with calibrated confidences, and says of each token
how likely it is to stand inside any entity.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ...errors import ConfigError
from ...pipeline.readers import INPUTS, input_doc
from ...pipeline.spans.placing import LabelledSpan
from ...types import Floats1d
from ...workflows.decoding import LikelySpans, find_stages, likely_spans

Phrase: TypeAlias = tuple[str, ...]
"""Tokens as written."""


@dataclass(frozen=True)
class Opinion:
    """Of one Doc. confidences: by span. inside: float64 `[T]`, of tokens, any entity."""

    confidences: dict[LabelledSpan, float]
    inside: Floats1d


def opinions_of(nlp: Language, docs: Sequence[Doc]) -> list[Opinion]:
    """What a trained pipeline thinks of the words of Docs, whose entities it does not see.

    Raises `ConfigError` where the pipeline has no segmenter, or gives no confidences.
    """
    stages = find_stages(nlp)
    if stages is None or not (stages.segmenter.confidence and stages.chooser.confidence):
        raise ConfigError(
            "Learning from unlabelled Docs needs a cascade_segmenter, with or without a "
            f"cascade_classifier, that gives confidences; the pipeline has {nlp.pipe_names}. Give "
            "a config as `spacy cascade init` writes it."
        )
    bare = [input_doc(doc, INPUTS, nlp.vocab) for doc in docs]
    found = likely_spans(nlp, stages, bare)
    return [_opinion(len(doc), likely) for doc, likely in zip(docs, found, strict=True)]


def _opinion(n_tokens: int, likely: LikelySpans) -> Opinion:
    inside = np.zeros(n_tokens)
    for (start, end, _), probability in zip(likely.spans, likely.of_bounds, strict=True):
        inside[start:end] += probability
    confidences = dict(zip(likely.spans, likely.confidences.tolist(), strict=True))
    return Opinion(confidences, np.minimum(inside, 1.0))


def averaged(teachers: Sequence[Sequence[Opinion]]) -> list[Opinion]:
    """The mean of what the teachers think; a span that one does not list is improbable to it.

    teachers: the opinions of each about the same Docs.
    """
    return [_mean(of_doc) for of_doc in zip(*teachers, strict=True)]


def _mean(of_doc: Sequence[Opinion]) -> Opinion:
    every = sorted({span for opinion in of_doc for span in opinion.confidences})
    confidences = {
        span: float(np.mean([opinion.confidences.get(span, 0.0) for opinion in of_doc]))
        for span in every
    }
    inside: Floats1d = np.mean([opinion.inside for opinion in of_doc], axis=0)
    return Opinion(confidences, inside)


def consistent(docs: Sequence[Doc], opinions: Sequence[Opinion]) -> list[Opinion]:
    """Opinions in which the places of a phrase vouch for each other.

        c' = (c + mean of c over all occurrences of the phrase in the Docs) / 2

    A phrase has mostly one sense (Gale, Church and Yarowsky 1992, One Sense per Discourse), so
    what is clear at one place tells of the others. Where it is not listed it counts 0. Docs of
    other texts count as well: there are few labels, so a phrase recurs in few Docs.
    """
    sums: dict[Phrase, Counter[str]] = defaultdict(Counter)
    for doc, opinion in zip(docs, opinions, strict=True):
        words = [token.text for token in doc]
        for (start, end, label), confidence in opinion.confidences.items():
            sums[tuple(words[start:end])][label] += confidence  # type: ignore[assignment]
    counts = _occurrences(docs, sums)
    found = []
    for doc, opinion in zip(docs, opinions, strict=True):
        words = [token.text for token in doc]
        confidences = {}
        for (start, end, label), confidence in opinion.confidences.items():
            phrase = tuple(words[start:end])
            mean = sums[phrase][label] / counts[phrase]
            confidences[start, end, label] = (confidence + mean) / 2
        found.append(Opinion(confidences, opinion.inside))
    return found


def _occurrences(docs: Iterable[Doc], phrases: Iterable[Phrase]) -> Counter[Phrase]:
    """How often each phrase stands in the Docs."""
    wanted = set(phrases)
    sizes = sorted({len(phrase) for phrase in wanted})
    return Counter(
        phrase
        for doc in docs
        for phrase in _phrases([token.text for token in doc], sizes)
        if phrase in wanted
    )


def _phrases(words: Sequence[str], sizes: Sequence[int]) -> Iterator[Phrase]:
    for size in sizes:
        yield from zip(*(words[i:] for i in range(size)), strict=False)
