"""Kinds of components whose corpora are cut into shards, and sizes of these corpora."""

from __future__ import annotations

from typing import Any

N_DOCS = 6
N_STREAMED = 24
SEGMENTS: dict[str, Any] = {
    "@architectures": "spacy_cascade.SemiMarkov.v1",
    "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
    "segments": {"@misc": "spacy_cascade.SegmentTemplates.v1"},
    "min_count": 1,
}
SEGMENTERS: dict[str, dict[str, Any]] = {
    "pairs": {"model": {"min_count": 1, "label_pairs": True}},
    "typed": {"typed": True, "set_ents": True},
    "local": {
        "model": {
            "@architectures": "spacy_cascade.MaximumEntropyMarkov.v1",
            "templates": {"@misc": "spacy_cascade.SegmentationTemplates.v1"},
        }
    },
    "segments": {"model": SEGMENTS},
}
