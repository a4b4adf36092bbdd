"""BioC in JSON and in XML.

JSON has collections, or one document a line; also as PubTator3's service returns it. XML is read by
lxml, which knows the line of each element; the library `bioc` does not, and has had no release
since 2023.

Formats: https://github.com/bionlproc/BioC-JSON and http://bioc.sourceforge.net.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from xml.etree.ElementTree import ParseError, iterparse

from ....errors import CorpusError
from ....files import replace_file
from ..bad_records import OnBad, each, each_counted
from ..texts import AnnotatedText, Fail, Record, is_offset
from .base import FormatOptions, TextFormat, library, write_value
from .passages import Annotation, Gaps, Parts, Passage, infons_of, records_of
from .source import Row, Source

_COLLECTIONS = ("documents", "PubTator3")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAIL = object()
"""The key under which an object of XML has what raises errors that name its line."""
_DOCTYPE = '<!DOCTYPE collection SYSTEM "BioC.dtd">'


class BiocJson(TextFormat):
    """BioC JSON: collections, or one document a line."""

    name: ClassVar[str] = "bioc-json"
    suffixes: ClassVar[tuple[str, ...]] = (".json", ".jsonl")
    keeps_parts: ClassVar[bool] = True

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


_Placed = tuple[dict[Any, Any], str, Fail]
"""A document in the form of JSON, its file and line, and what raises errors about it."""


def _documents(row: Row) -> Iterator[_Placed]:
    found = [row.value]
    if "passages" not in row.value:
        if not {*_COLLECTIONS} & row.value.keys():
            row.fail("there are no documents", "Give a collection or a document of BioC")
        found = [one for name in _COLLECTIONS for one in _objects(row.value, name, row.fail)]
    for value in found:
        yield value, row.where, partial(_fail_in, row, value.get("id"))


def _records(placed: _Placed, gaps: Gaps, on_bad: OnBad) -> Iterator[Record]:
    document, where, fail = placed
    name = str(_field(document, "id", fail))
    _field(document, "passages", fail)
    parts = Parts(on_bad)
    _add(parts, document, None, (), fail)
    for passage in _objects(document, "passages", fail):
        sentences = _objects(passage, "sentences", fail)
        first, has_text = len(parts.passages), bool(passage.get("text"))
        for piece in [passage] if has_text else sentences:
            own = piece.get(_FAIL, fail)
            parts.passages.append(Passage(_field(piece, "offset", own), piece.get("text"), own))
        origin = passage.get("offset")
        within = first if len(parts.passages) > first else None
        _add(parts, passage, within, (origin,), fail)
        for number, sentence in enumerate(sentences):
            within = first if has_text else first + number
            _add(parts, sentence, within, (sentence.get("offset"), origin), fail)
    yield from records_of(name, where, parts, gaps)


def _add(
    parts: Parts, holder: dict[Any, Any], within: int | None, origins: tuple[Any, ...], fail: Fail
) -> None:
    """Add the annotations and relations of a document, passage or sentence."""
    parts.n_relations += len(_objects(holder, "relations", fail))

    def made(annotation: dict[Any, Any]) -> Iterator[Annotation]:
        own = annotation.get(_FAIL, fail)
        locations = [
            (_field(location, "offset", own), _field(location, "length", own))
            for location in _objects(annotation, "locations", own)
        ]
        label = _field(_field(annotation, "infons", own), "type", own)
        found = str(annotation.get("text") or "")
        name = str(annotation.get("id") or "")
        yield Annotation(label, locations, found, own, within, origins, name)

    found, n_bad = each_counted(_objects(holder, "annotations", fail), made, parts.on_bad)
    parts.annotations += found
    parts.n_bad += n_bad


def _objects(value: dict[Any, Any], name: str, fail: Fail) -> list[dict[Any, Any]]:
    """The objects in a list, none where there is no list. Raises `CorpusError` for other values."""
    found = value.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        fail(f"{name!r} is no list of objects", "Correct it")
    return list(found)


def _field(value: Any, name: str, fail: Fail) -> Any:
    if not isinstance(value, dict) or name not in value:
        fail(f"there is no {name!r} where BioC has one", "Correct it")
    return value[name]


def _fail_in(row: Row, name: object, problem: str, advice: str) -> NoReturn:
    row.fail(f"document {name}: {problem}", advice)


def _written(text: AnnotatedText, number: str) -> dict[str, Any]:
    annotations = [
        {
            "id": str(i), "infons": infons_of(mention),
            "text": mention.text_in(text.text),
            "locations": [{"offset": start, "length": end - start} for start, end in mention.parts],
        }
        for i, mention in enumerate(text.mentions)
    ]  # fmt: skip
    passage = {
        "offset": 0, "infons": {}, "text": text.text, "sentences": [],
        "annotations": annotations, "relations": [],
    }  # fmt: skip
    rest: dict[str, Any] = {"annotations": [], "relations": []}
    return {"id": text.name or number, "infons": {}, "passages": [passage], **rest}


class BiocXml(TextFormat):
    """BioC XML: a collection."""

    name: ClassVar[str] = "bioc-xml"
    suffixes: ClassVar[tuple[str, ...]] = (".xml",)
    keeps_parts: ClassVar[bool] = True

    def recognises(self, source: Source) -> bool:
        return _root_name(source.data) == "collection"

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        etree = library("lxml.etree", self.name)
        # Nothing outside of the file is read, and entities are not expanded. Comments and
        # processing instructions would cut the text that they are in.
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True,
            remove_pis=True,
        )  # fmt: skip
        try:
            root = etree.fromstring(source.data, parser)
        except etree.XMLSyntaxError as error:
            line = error.lineno or 1
            raise CorpusError(
                f"{source.path}:{line}: the XML is cut or damaged ({error}). Mend it."
            ) from error
        _refuse_entities(etree, root, source)
        documents = (_document(element, source) for element in root.iterfind("document"))
        records = partial(_records, gaps=Gaps(), on_bad=options.on_bad)
        yield from each(documents, records, options.on_bad)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        etree = library("lxml.etree", self.name)
        root = etree.Element("collection")
        for name, value in (("source", "spacy_cascade"), ("date", ""), ("key", "")):
            etree.SubElement(root, name).text = value
        for number, text in enumerate(texts, start=1):
            _add_document(etree, root, _written(text, str(number)))
        head = {"xml_declaration": True, "encoding": "UTF-8", "doctype": _DOCTYPE}
        replace_file(path, etree.tostring(root, **head))


def _root_name(data: bytes) -> str:
    """The name of the element that all others are in; "" for what does not begin as XML."""
    try:
        _, root = next(iterparse(BytesIO(data.lstrip()), ("start",)))
    except (ParseError, StopIteration, LookupError, ValueError):
        return ""
    return str(root.tag)


def _refuse_entities(etree: Any, root: Any, source: Source) -> None:
    """Raises `CorpusError` for an entity in a text, which would be cut there."""
    for entity in root.iter(etree.Entity):
        source.fail(
            entity.sourceline,
            f"the entity {entity.text} is not expanded",
            "Write the characters themselves",
        )


def _document(element: Any, source: Source) -> _Placed:
    """A document of XML as JSON has it; its objects know how to fail at their lines."""
    annotations: dict[Any, list[dict[Any, Any]]] = {}
    for one in element.iter("annotation"):
        annotations.setdefault(one.getparent(), []).append(_annotation(one, source))

    def holder(one: Any, **more: Any) -> dict[Any, Any]:
        """A document, passage or sentence with its own annotations, taken from the others."""
        return {
            _FAIL: partial(source.fail, one.sourceline),
            "offset": _number(one.findtext("offset")),
            "text": _text_of(one),
            "annotations": annotations.pop(one, []),
            **more,
        }

    passages = [
        holder(one, sentences=[holder(inner) for inner in one.iterfind("sentence")])
        for one in element.iterfind("passage")
    ]
    relations: list[Any] = [{} for _ in element.iter("relation")]
    name = (element.findtext("id") or "").strip()
    made = holder(element, id=name, passages=passages, relations=relations)
    made["annotations"] += [one for others in annotations.values() for one in others]
    return made, f"{source.path}:{element.sourceline}", made[_FAIL]


def _annotation(element: Any, source: Source) -> dict[Any, Any]:
    label = next((i.text for i in element.iterfind("infon") if i.get("key") == "type"), None)
    locations = [
        {name: _number(location.get(name)) for name in ("offset", "length")}
        for location in element.iterfind("location")
    ]
    fail = partial(source.fail, element.sourceline)
    text = _text_of(element)
    found = {"id": element.get("id"), "infons": {"type": label}, "locations": locations}
    return {_FAIL: fail, "text": text, **found}


def _text_of(element: Any) -> str:
    """The whole text, also where it has elements inside."""
    found = element.find("text")
    return "" if found is None else "".join(found.itertext())


def _number(text: str | None) -> int | str | None:
    """A number, or the text itself, which is refused later."""
    return int(text) if text is not None and is_offset(text.strip()) else text


def _add_document(etree: Any, root: Any, document: dict[str, Any]) -> None:
    """A document as JSON has it; characters that XML does not have become spaces."""

    def add(parent: Any, name: str, value: object = "", **attributes: object) -> Any:
        texts = {key: str(attribute) for key, attribute in attributes.items()}
        made = etree.SubElement(parent, name, **texts)
        made.text = _NOT_IN_XML.sub(" ", str(value))
        return made

    element = add(root, "document")
    add(element, "id", document["id"])
    for passage in document["passages"]:
        inside = add(element, "passage")
        add(inside, "offset", passage["offset"])
        add(inside, "text", passage["text"])
        for annotation in passage["annotations"]:
            made = add(inside, "annotation", id=annotation["id"])
            for key, value in annotation["infons"].items():
                add(made, "infon", value, key=key)
            for location in annotation["locations"]:
                add(made, "location", **location)
            add(made, "text", annotation["text"])
