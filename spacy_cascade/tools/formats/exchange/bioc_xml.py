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

from ....errors import CorpusError
from ....files import replace_file
from ..bad_records import OnBad, each
from ..texts import AnnotatedText, Fail, Record
from .base import FormatOptions, TextFormat
from .extra import library
from .passages import Annotation, Gaps, Parts, Passage, infons_of, records_of
from .source import Source

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BiocXml(TextFormat):
    name: ClassVar[str] = "bioc-xml"
    suffixes: ClassVar[tuple[str, ...]] = (".xml",)

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
        records = partial(_records, source, gaps=Gaps(), on_bad=options.on_bad)
        yield from each(root.iterfind("document"), records, options.on_bad)

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


def _refuse_entities(etree: Any, root: Any, source: Source) -> None:
    """Raises `CorpusError` for an entity in a text, which would be cut there."""
    for entity in root.iter(etree.Entity):
        source.fail(
            entity.sourceline,
            f"the entity {entity.text} is not expanded",
            "Write the characters themselves",
        )


def _records(source: Source, document: Any, gaps: Gaps, on_bad: OnBad) -> Iterator[Record]:
    parts = Parts(on_bad, n_relations=sum(1 for _ in document.iter("relation")))
    places: dict[Any, tuple[int | None, tuple[Any, ...]]] = {}
    for passage in document.iterfind("passage"):
        sentences = passage.findall("sentence")
        first, has_text = len(parts.passages), passage.find("text") is not None
        for piece in [passage] if has_text else sentences:
            fail = _fail_at(source, piece)
            parts.passages.append(Passage(_offset(piece), _text(piece), fail))
        origin = _offset(passage)
        places[passage] = first if len(parts.passages) > first else None, (origin,)
        for number, sentence in enumerate(sentences):
            own = first if has_text else first + number
            places[sentence] = own, (_offset(sentence), origin)
    for element in document.iter("annotation"):
        place = places.get(element.getparent(), (None, ()))
        parts.annotations.append(_annotation(element, source, *place))
    where = f"{source.path}:{document.sourceline}"
    yield from records_of((document.findtext("id") or "").strip(), where, parts, gaps)


def _fail_at(source: Source, element: Any) -> Fail:
    return partial(source.fail, element.sourceline)


def _text(element: Any) -> str:
    """The whole text, also where it has elements inside."""
    found = element.find("text")
    return "" if found is None else "".join(found.itertext())


def _annotation(
    element: Any, source: Source, within: int | None, origins: tuple[Any, ...]
) -> Annotation:
    label = next((i.text for i in element.iterfind("infon") if i.get("key") == "type"), None)
    locations = [
        (_number(location.get("offset")), _number(location.get("length")))
        for location in element.iterfind("location")
    ]
    fail = _fail_at(source, element)
    return Annotation(label, locations, _text(element), fail, within, origins)


def _offset(element: Any) -> int | str | None:
    return _number(element.findtext("offset"))


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
