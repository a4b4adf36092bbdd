"""One shard: read, annotated, and written as a whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ...errors import CorpusError
from ...files import fill_file, replace_file
from ...pipeline.unseen_words import WordSample
from .annotator import Annotator
from .extras import arrow
from .plan import Shard
from .sources.base import Failed, Fields, Rows, Source, Texts, Unreadable, state_of, values_of
from .watch import Watch
from .writers import Found, Layout, Writer, writer_of

FAILED = "_failed"
"""Folder with the records that failed."""
LATE = "_late"
"""Folder with notes on the shards at work, by which records that took too long are known."""


class Done(NamedTuple):
    """What a shard has. size: bytes of its input. seconds: that it took.

    words, unseen, usual: of the sample of its words (`pipeline.unseen_words`).
    """

    shard: int
    file: str
    records: int
    tokens: int
    entities: int
    failed: int
    size: int
    seconds: float
    words: int = 0
    unseen: int = 0
    usual: float | None = None


@dataclass
class _Counts:
    records: int = 0
    tokens: int = 0
    entities: int = 0
    failures: list[Unreadable] = field(default_factory=list)
    sample: WordSample | None = None

    @property
    def failed(self) -> int:
        return sum(one.last - one.first + 1 for one in self.failures)

    @property
    def words(self) -> tuple[int, int, float | None]:
        """The last three of `Done`."""
        sample = self.sample
        return (sample.words.n, sample.words.unseen, sample.usual) if sample else (0, 0, None)


@dataclass(frozen=True)
class ShardTask:
    """Does a shard in any process of any engine; can be pickled.

    states: size and time of the last change of each source as planned. timeout: seconds after which
    a record ends the process, so that the next one leaves it out; None for no bound.
    """

    annotator: Annotator
    sources: Sequence[Source]
    states: Sequence[tuple[int, int]]
    layout: Layout
    schema: Any
    output: Path
    timeout: float | None = None

    def __call__(self, shard: Shard) -> Done:
        """Write the shard.

        Raises `CorpusError` if its source has changed since the plan was made, `ModelFileError` if
        the pipeline has, and `SavingError` if the disk is full.
        """
        begin, source = perf_counter(), self.sources[shard.source]
        counts, make = _Counts(), writer_of(self.layout.format)
        path = self.output / f"{shard.name}{make.suffix}"

        def fill(temporary: Path) -> None:
            self._check_unchanged(shard)
            writer = make(temporary, self.layout, self.schema)
            try:
                for rows in source.read(shard.records):
                    self._write(writer, source, rows, counts, watch)
                writer.close()
            except BaseException:
                writer.abandon()
                raise
            self._check_unchanged(shard)
            self._write_failures(shard, source, counts.failures)

        with self._watch(shard) as watch:
            if watch:
                watch.warm_up(self.annotator)
            fill_file(path, fill)
        return Done(
            shard.number, path.name, counts.records, counts.tokens, counts.entities, counts.failed,
            shard.records.size, round(perf_counter() - begin, 3), *counts.words,
        )  # fmt: skip

    def _watch(self, shard: Shard) -> AbstractContextManager[Watch | None]:
        if self.timeout is None:
            return nullcontext()
        return Watch(self.output / LATE / shard.name, self.timeout)

    def _write(
        self, writer: Writer, source: Source, rows: Rows, counts: _Counts, watch: Watch | None
    ) -> None:
        counts.failures += rows.unreadable
        if not rows.numbers:
            return
        fields, failed = self._with_ids(source, rows, takes_arrow=writer.takes_arrow)
        if watch:
            reason = f"it took longer than {self.timeout:g} seconds"
            late = (i for i, number in enumerate(rows.numbers) if number in watch.late)
            failed.update((i, Failed(reason)) for i in late)
        texts = _with_failed(rows.texts, failed)
        sample = counts.sample = counts.sample or WordSample(self.annotator.load())

        def use(i: int, doc: Doc) -> Found:
            sample.add(doc)
            return writer.of_doc(doc, text_of(doc, texts, i), fields, i)

        batches = watch.over(rows.numbers, self.annotator.batch_size) if watch else None
        results = self.annotator.each(texts, use, batches)
        kept = [i for i, result in enumerate(results) if not isinstance(result, Failed)]
        found = [result for result in results if not isinstance(result, Failed)]
        counts.failures += [
            Unreadable(number, number, result.reason)
            for number, result in zip(rows.numbers, results, strict=True)
            if isinstance(result, Failed)
        ]
        if found:
            writer.write(found, fields if len(kept) == len(results) else _taken(fields, kept))
        counts.records += len(found)
        counts.tokens += sum(one.tokens for one in found)
        counts.entities += sum(one.entities for one in found)

    def _with_ids(
        self, source: Source, rows: Rows, *, takes_arrow: bool
    ) -> tuple[Fields, dict[int, Failed]]:
        """The fields, with the place of a record as its id where it has none.

        Also the records among them, from 0, whose fields cannot be read.
        """
        name, fields = self.layout.names.record, rows.fields
        places = [f"{source.name}:{number}" for number in rows.numbers]
        if isinstance(fields, list) or not takes_arrow:
            found = fields if isinstance(fields, list) else values_of(fields)
            failed = {i: one for i, one in enumerate(found) if isinstance(one, Failed)}
            records = [{} if isinstance(one, Failed) else one for one in found]
            for record, place in zip(records, places, strict=True):
                if record.get(name) is None:
                    record[name] = place
            return records, failed
        if name not in fields.schema.names:
            fields = fields.append_column(name, arrow().array(places))
        return fields, {}

    def _write_failures(self, shard: Shard, source: Source, failures: Sequence[Unreadable]) -> None:
        """Before the shard has its name, so that no shard is there without them."""
        path = self.output / FAILED / f"{shard.name}.jsonl"
        if not failures:
            path.unlink(missing_ok=True)
            return
        lines = [
            json.dumps(
                {"file": source.name, "first": one.first, "last": one.last, "reason": one.reason}
            )
            for one in sorted(failures)
        ]
        replace_file(path, "".join(f"{line}\n" for line in lines).encode())

    def _check_unchanged(self, shard: Shard) -> None:
        path = self.sources[shard.source].path
        if not path.exists() or state_of(path) != tuple(self.states[shard.source]):
            raise CorpusError(
                f"{path} has changed since this run began. Put the old file back and run the same "
                "command, or begin anew with --force."
            )


def text_of(doc: Doc, texts: Texts, i: int) -> str:
    """The text of a Doc, made of the i-th text.

    Joining the tokens takes a tenth of the time of annotation, so it is done only where the Doc was
    not made of a text, or its tokens do not cover that text.
    """
    text = None if callable(texts) else texts[i]
    if not isinstance(text, str) or not len(doc):
        return doc.text
    last = doc[-1]
    return text if last.idx + len(last.text_with_ws) == len(text) else doc.text


def _with_failed(texts: Texts, failed: Mapping[int, Failed]) -> Texts:
    """The texts, with failures in the places of some of them."""
    if not failed:
        return texts
    if callable(texts):
        return lambda vocab: [failed.get(i, doc) for i, doc in enumerate(texts(vocab))]
    return [failed.get(i, text) for i, text in enumerate(texts)]


def _taken(fields: Fields, kept: list[int]) -> Fields:
    if isinstance(fields, list):
        return [fields[i] for i in kept]
    return fields.take(arrow().array(kept, arrow().int64()))
