"""Training and scoring the recogniser `eds.ner_crf` of EDS-NLP on nested entities.

It has a chain for each label, so it finds entities inside others, but none inside one of the same
label. All embeddings of EDS-NLP come from pretrained transformers; this one is made of trained
vectors of words, as the interface of its components allows. Above it are layers of `eds.text_cnn`.

EDS-NLP needs torch, and so an environment of its own; run it there from the folder of the project:

    pip install "edsnlp[ml]"
    python -m benchmarks.peers.edsnlp_crf train.jsonl dev.jsonl --seconds 120
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import edsnlp
import foldedtensor
import torch
from edsnlp.pipes.trainable.embeddings.text_cnn.text_cnn import TextCnnEncoder
from edsnlp.pipes.trainable.embeddings.typing import WordEmbeddingComponent
from edsnlp.pipes.trainable.ner_crf.ner_crf import TrainableNerCrf
from edsnlp.utils.collections import batch_compress_dict, decompress_dict
from spacy.tokens import Doc, Span

from ..lib.corpora import without_entities
from ..lib.nested import ENTITIES, count, read_nested, rows_of
from ..lib.timing import Stopwatch, Timings

ROWS = {"norm": 20000, "prefix": 2500, "suffix": 2500, "shape": 2500}
"""Attributes of a word, and rows of the table of each."""
_DIMENSIONS = ("context", "word")
_SORTED = 20
"""So many batches are sorted by length together."""
_WARM_UP = 0.1
_MOST = 5.0
"""The largest norm of a gradient."""
_PASSES = 3


class WordVectors(WordEmbeddingComponent):  # type: ignore[misc]
    """The sum of trained vectors of a word's attributes, found by their hashes, with dropout."""

    def __init__(self, nlp: Any, name: str, width: int, dropout: float) -> None:
        super().__init__(nlp, name)
        self.output_size = width
        self.dropout = torch.nn.Dropout(dropout)
        self.tables = torch.nn.ModuleDict(
            {name: torch.nn.Embedding(rows, width, sparse=True) for name, rows in ROWS.items()}
        )

    def preprocess(self, doc: Doc, *, contexts: list[Span] | None, **_: Any) -> dict[str, Any]:
        parts = contexts or [doc[:]]
        return {
            name: [[getattr(t, name) % rows for t in part] for part in parts]
            for name, rows in ROWS.items()
        }

    def collate(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {
            name: foldedtensor.as_folded_tensor(
                batch[name],
                data_dims=_DIMENSIONS,
                full_names=("sample", *_DIMENSIONS),
                dtype=torch.long,
            )
            for name in ROWS
        }

    def forward(self, batch: dict[str, Any]) -> dict[str, Any]:
        found = sum(table(batch[name].as_tensor()) for name, table in self.tables.items())
        return {"embeddings": batch["norm"].with_data(self.dropout(found))}


def train_edsnlp_for(
    train: str,
    dev: str,
    seconds: float,
    evaluations: int = 4,
    width: int = 96,
    layers: int = 2,
    rate: float = 0.003,
    batch_size: int = 32,
    dropout: float = 0.2,
    mode: str = "independent",
) -> dict[str, Any]:
    """Train for a number of processor seconds; the time of scoring on dev does not count.

    train, dev: JSON lines (`lib.nested`). rate: the highest learning rate, which rises at first and
    falls to 0 at the end. batch_size: in sentences. mode: of the loss, `joint` for that of a chain,
    or `independent`, which is faster; annotation is the same. The series has seconds
    (wall-clock and processor) and scores on dev at equal distances.
    """
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    watch = Stopwatch()
    nlp, ner = _pipeline(width, layers, dropout, mode)
    docs, references = (read_nested(path, nlp.vocab, by_sentence=True) for path in (train, dev))
    series: list[dict[str, float]] = []
    n_updates = 0
    with watch:
        ner.post_init(docs, exclude=set())
        nlp.train(True)
        for step in _updates(ner, docs, watch, seconds, rate, batch_size):
            n_updates = step
            if watch.elapsed_computed() < seconds * (len(series) + 1) / evaluations:
                continue
            with watch.paused():
                nlp.train(False)
                series.append(
                    {"seconds": watch.passed, "computed_seconds": watch.computed}
                    | _scores(ner, references)
                )
                print(series[-1], flush=True)
                nlp.train(True)
            if len(series) == evaluations:
                break
    nlp.train(False)
    return {
        "updates": n_updates,
        "passes": n_updates * batch_size / len(docs),
        "series": series,
        "tokens_per_second": _speed(ner, references),
    }


def _pipeline(width: int, layers: int, dropout: float, mode: str) -> tuple[Any, Any]:
    nlp = edsnlp.blank("eds")
    embedding: Any = WordVectors(nlp, "words", width, dropout)
    for number in range(layers):
        embedding = TextCnnEncoder(nlp, f"cnn_{number}", embedding=embedding)
    ner = TrainableNerCrf(
        nlp,
        "ner",
        embedding=embedding,
        target_span_getter=ENTITIES,
        span_setter=ENTITIES,
        mode=mode,
    )
    nlp.add_pipe(ner, name="ner")
    return nlp, ner


def _updates(
    ner: Any, docs: Sequence[Doc], watch: Stopwatch, seconds: float, rate: float, batch_size: int
) -> Iterator[int]:
    """The number of updates after each of them. The learning rate is 0 when the time is over."""
    tables, others = _parameters(ner)
    optimizers = torch.optim.SparseAdam(tables, lr=rate), torch.optim.AdamW(others, lr=rate)
    prepared = [ner.preprocess_supervised(doc) for doc in docs]
    lengths = [len(doc) for doc in docs]
    n_updates = 0
    while True:
        for numbers in _batches(lengths, batch_size):
            share = min(1.0, watch.elapsed_computed() / seconds)
            now = rate * min(share / _WARM_UP, (1 - share) / (1 - _WARM_UP))
            batch = decompress_dict(list(batch_compress_dict([prepared[i] for i in numbers])))
            ner.zero_grad()
            ner(ner.collate(batch))["loss"].backward()
            torch.nn.utils.clip_grad_norm_(others, _MOST)
            for optimizer in optimizers:
                optimizer.param_groups[0]["lr"] = now
                optimizer.step()
            n_updates += 1
            yield n_updates


def _parameters(ner: Any) -> tuple[list[Any], list[Any]]:
    """Those of the tables, whose gradients are sparse, and all others."""
    parts: tuple[list[Any], list[Any]] = ([], [])
    for name, parameter in ner.named_parameters():
        parts[".tables." not in name].append(parameter)
    return parts


def _batches(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """All numbers in random order, those of similar lengths together."""
    order = random.sample(range(len(lengths)), len(lengths))
    for begin in range(0, len(order), size * _SORTED):
        part = sorted(order[begin : begin + size * _SORTED], key=lengths.__getitem__)
        batches = [part[i : i + size] for i in range(0, len(part), size)]
        yield from random.sample(batches, len(batches))


def _annotated(ner: Any, docs: Sequence[Doc]) -> Iterator[Doc]:
    yield from ner.pipe(docs, batch_size=64)


def _scores(ner: Any, references: Sequence[Doc]) -> dict[str, float]:
    docs = list(_annotated(ner, without_entities(references, references[0].vocab)))
    return count((rows_of(doc.spans.get(ENTITIES, ())) for doc in docs), references).scores()


def _speed(ner: Any, references: Sequence[Doc]) -> float:
    timings = Timings()
    vocab = references[0].vocab
    timings.add("dev", lambda: _annotated(ner, without_entities(references, vocab)), _PASSES)
    return sum(map(len, references)) / timings.computed["dev"][0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--seconds", type=float, default=120.0, help="of a processor")
    parser.add_argument("--evaluations", type=int, default=4)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--rate", type=float, default=0.003, help="highest learning rate")
    parser.add_argument("--batch-size", type=int, default=32, help="in sentences")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--mode", default="independent", choices=["independent", "joint"])
    print(json.dumps(train_edsnlp_for(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
