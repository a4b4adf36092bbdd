"""BioC JSON: collections, or one document a line; also as PubTator3's service returns it.

Format: https://github.com/bionlproc/BioC-JSON
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from ..bad_records import OnBad, each, each_counted
from ..texts import AnnotatedText, Fail, Record
from .base import FormatOptions, TextFormat
from .json_files import write_value
from .passages import Annotation, Gaps, Parts, Passage, infons_of, records_of
from .source import Row, Source

_COLLECTIONS = ("documents", "PubTator3")


class BiocJson(TextFormat):
    name: ClassVar[str] = "bioc-json"
    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl")

    def recognises(self, source: Source) -> bool:
        return any(isinstance(source.first.get(k), list) for k in (*_COLLECTIONS, "passages"))

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        on_bad = options.on_bad
        documents = each(source.rows(on_bad), _documents, on_bad)
        return each(documents, partial(_records, gaps=Gaps(), on_bad=on_bad), on_bad)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        documents = [_written(text, str(n)) for n, text in enumerate(texts, start=1)]
        head = {"source": "spacy_cascade", "date": "", "key": "", "infons": {}}
        write_value(path, {**head, "documents": documents})


def _documents(row: Row) -> Iterator[tuple[dict[str, Any], Row]]:
    if "passages" in row.value:
        yield row.value, row
        return
    if not {*_COLLECTIONS} & row.value.keys():
        row.fail("there are no documents", "Give a collection or a document of BioC")
    for name in _COLLECTIONS:
        for document in _objects(row.value, name, row.fail):
            yield document, row


def _records(placed: tuple[dict[str, Any], Row], gaps: Gaps, on_bad: OnBad) -> Iterator[Record]:
    document, row = placed
    name = str(_field(document, "id", row.fail))
    fail: Fail = partial(_fail_in, row, name)
    _field(document, "passages", fail)
    parts = Parts(on_bad)
    _add(parts, document, None, (), fail)
    for passage in _objects(document, "passages", fail):
        sentences = _objects(passage, "sentences", fail)
        first, has_text = len(parts.passages), bool(passage.get("text"))
        for piece in [passage] if has_text else sentences:
            parts.passages.append(Passage(_field(piece, "offset", fail), piece.get("text"), fail))
        origin = passage.get("offset")
        within = first if len(parts.passages) > first else None
        _add(parts, passage, within, (origin,), fail)
        for number, sentence in enumerate(sentences):
            within = first if has_text else first + number
            _add(parts, sentence, within, (sentence.get("offset"), origin), fail)
    yield from records_of(name, row.where, parts, gaps)


def _add(
    parts: Parts, holder: dict[str, Any], within: int | None, origins: tuple[Any, ...], fail: Fail
) -> None:
    """Add the annotations and relations of a document, passage or sentence."""
    parts.n_relations += len(_objects(holder, "relations", fail))

    def made(annotation: dict[str, Any]) -> Iterator[Annotation]:
        locations = [
            (_field(location, "offset", fail), _field(location, "length", fail))
            for location in _objects(annotation, "locations", fail)
        ]
        label = _field(_field(annotation, "infons", fail), "type", fail)
        found = str(annotation.get("text") or "")
        yield Annotation(label, locations, found, fail, within, origins)

    found, n_bad = each_counted(_objects(holder, "annotations", fail), made, parts.on_bad)
    parts.annotations += found
    parts.n_bad += n_bad


def _objects(value: dict[str, Any], name: str, fail: Fail) -> list[dict[str, Any]]:
    """The objects in a list, none where there is no list. Raises `CorpusError` for other values."""
    found = value.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        fail(f"{name!r} is no list of objects", "Correct it")
    return list(found)


def _field(value: Any, name: str, fail: Fail) -> Any:
    if not isinstance(value, dict) or name not in value:
        fail(f"there is no {name!r} where BioC has one", "Correct it")
    return value[name]


def _fail_in(row: Row, name: str, problem: str, advice: str) -> NoReturn:
    row.fail(f"document {name}: {problem}", advice)


def _written(text: AnnotatedText, number: str) -> dict[str, Any]:
    annotations = [
        {
            "id": str(i), "infons": infons_of(mention),
            "text": text.text[mention.start : mention.end],
            "locations": [{"offset": mention.start, "length": mention.end - mention.start}],
        }
        for i, mention in enumerate(text.mentions)
    ]  # fmt: skip
    passage = {
        "offset": 0, "infons": {}, "text": text.text, "sentences": [],
        "annotations": annotations, "relations": [],
    }  # fmt: skip
    rest: dict[str, Any] = {"annotations": [], "relations": []}
    return {"id": text.name or number, "infons": {}, "passages": [passage], **rest}
