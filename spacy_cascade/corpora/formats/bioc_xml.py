"""BioC XML.

Format: http://bioc.sourceforge.net. Read by lxml, which knows the line of each element; the library
`bioc` does not, and has had no release since 2023.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar
from xml.etree.ElementTree import ParseError, iterparse

from ...errors import CorpusError
from ...files import replace_file
from ..bad_records import OnBad, each
from ..texts import AnnotatedText, Fail, Record
from .base import FormatOptions, TextFormat
from .extra import library
from .passages import Annotation, Passage, infons_of, make_text
from .source import Source

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BiocXml(TextFormat):
    name: ClassVar[str] = "bioc-xml"
    suffixes: ClassVar[tuple[str, ...]] = (".xml",)

    def recognises(self, source: Source) -> bool:
        return _root_name(source.data) == "collection"

    def read(self, source: Source, options: FormatOptions) -> Iterator[Record]:
        etree = library("lxml.etree", self.name)
        # Nothing outside of the file is read, and entities are not expanded.
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        try:
            root = etree.fromstring(source.data, parser)
        except etree.XMLSyntaxError as error:
            line = error.lineno or 1
            raise CorpusError(
                f"{source.path}:{line}: the XML is cut or damaged ({error}). Mend it."
            ) from error
        documents = root.iterfind("document")
        yield from each(documents, partial(_texts, source, on_bad=options.on_bad), options.on_bad)

    def write(self, texts: Sequence[AnnotatedText], path: Path) -> None:
        etree = library("lxml.etree", self.name)
        root = etree.Element("collection")
        for name, value in (("source", "spacy_cascade"), ("date", ""), ("key", "")):
            etree.SubElement(root, name).text = value
        for number, text in enumerate(texts, start=1):
            _write(etree, root, text, str(number))
        head = {"xml_declaration": True, "encoding": "UTF-8", "doctype": _DOCTYPE}
        replace_file(path, etree.tostring(root, **head))


_DOCTYPE = '<!DOCTYPE collection SYSTEM "BioC.dtd">'


def _root_name(data: bytes) -> str:
    """The name of the element that all others are in; "" for what does not begin as XML."""
    try:
        _, root = next(iterparse(BytesIO(data.lstrip()), ("start",)))
    except (ParseError, StopIteration, LookupError, ValueError):
        return ""
    return str(root.tag)


def _texts(source: Source, document: Any, on_bad: OnBad) -> Iterator[AnnotatedText]:
    passages: list[Passage] = []
    for passage in document.iterfind("passage"):
        pieces = [passage] if passage.find("text") is not None else passage.iterfind("sentence")
        for piece in pieces:
            fail = _fail_at(source, piece)
            passages.append(Passage(_number(piece.findtext("offset")), _text(piece), fail))
    where = f"{source.path}:{document.sourceline}"
    name = (document.findtext("id") or "").strip()
    annotations = document.iter("annotation")
    yield make_text(name, where, passages, annotations, partial(_annotation, source), on_bad)


def _fail_at(source: Source, element: Any) -> Fail:
    return partial(source.fail, element.sourceline)


def _text(element: Any) -> str:
    return element.findtext("text") or ""


def _annotation(source: Source, element: Any) -> Annotation:
    label = next((i.text for i in element.iterfind("infon") if i.get("key") == "type"), None)
    locations = [
        (_number(location.get("offset")), _number(location.get("length")))
        for location in element.iterfind("location")
    ]
    return Annotation(label, locations, _text(element), _fail_at(source, element))


def _number(text: str | None) -> int | str | None:
    """A number, or the text itself, which is refused later."""
    return int(text) if text is not None and text.strip().isdecimal() else text


def _write(etree: Any, root: Any, text: AnnotatedText, number: str) -> None:
    """A document of one passage; characters that XML does not have become spaces."""

    def add(parent: Any, name: str, value: str = "", **attributes: str) -> Any:
        made = etree.SubElement(parent, name, **attributes)
        made.text = _NOT_IN_XML.sub(" ", value)
        return made

    document = add(root, "document")
    add(document, "id", text.name or number)
    passage = add(document, "passage")
    add(passage, "offset", "0")
    add(passage, "text", text.text)
    for i, mention in enumerate(text.mentions):
        made = add(passage, "annotation", id=str(i))
        for key, value in infons_of(mention).items():
            add(made, "infon", value, key=key)
        length = str(mention.end - mention.start)
        add(made, "location", offset=str(mention.start), length=length)
        add(made, "text", text.text[mention.start : mention.end])
