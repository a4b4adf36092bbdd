"""Writes `tests/tools/formats/exchange/files` with the libraries of the tools themselves.

The tests only read the files. To make them anew, in environments of their own:

    pip install bioc conllu datasets label-studio-sdk
    pip install pandas && pip install --no-deps doccano
    python tests/support/make_format_files.py FOLDER bioc conllu datasets label_studio
    python tests/support/make_format_files.py FOLDER doccano

Made with bioc 2.1, conllu 6.0.0, datasets 5.2.0, label-studio-sdk 2.1.2 and doccano 1.8.4. Prodigy
is not on PyPI: `prodigy.jsonl` follows https://prodi.gy/docs/api-interfaces by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

TITLE = "IL-2 activates STAT5."
ABSTRACT = "In café 😀 studies, IL-2-induced T cells bound NF-kappa B and GATA-3."
TEXT = f"{TITLE}\n{ABSTRACT}"
SPANS = [
    (TEXT.index(found), found, label)
    for found, label in [("IL-2", "protein"), ("STAT5", "protein"), ("T cells", "cell"),
                         ("NF-kappa B", "protein"), ("GATA-3", "protein")]
]  # fmt: skip


def bioc(folder: Path) -> None:
    from bioc import (
        BioCAnnotation,
        BioCCollection,
        BioCDocument,
        BioCLocation,
        BioCPassage,
        biocjson,
        biocxml,
        pubtator,
    )
    from bioc.brat import BratDocument, BratEntity, BratNote
    from bioc.brat import dump as dump_brat
    from bioc.pubtator import PubTator, PubTatorAnn, PubTatorRel

    collection = BioCCollection()
    collection.source, collection.date, collection.key = "made up", "2026", "none"
    document = BioCDocument()
    document.id = "101"
    collection.add_document(document)
    for offset, text in [(0, TITLE), (len(TITLE) + 1, ABSTRACT)]:
        passage = BioCPassage()
        passage.offset, passage.text = offset, text
        document.add_passage(passage)
    for number, (start, found, label) in enumerate(SPANS):
        annotation = BioCAnnotation()
        annotation.id, annotation.text = str(number), found
        annotation.infons["type"] = label
        annotation.add_location(BioCLocation(start, len(found)))
        document.passages[start > len(TITLE)].add_annotation(annotation)
    parted = BioCAnnotation()
    parted.id, parted.text = "parted", "IL-2 T cells"
    parted.infons["type"] = "cell"
    for found in ("IL-2-", "T cells"):
        parted.add_location(BioCLocation(TEXT.rindex(found), len(found)))
    document.passages[1].add_annotation(parted)
    with (folder / "bioc.xml").open("w", encoding="utf8") as file:
        biocxml.dump(collection, file)
    with (folder / "bioc.json").open("w", encoding="utf8") as file:
        biocjson.dump(collection, file, ensure_ascii=False)

    article = PubTator("101", TITLE, ABSTRACT)
    for start, found, label in SPANS:
        article.add_annotation(PubTatorAnn("101", start, start + len(found), found, label, "X:1"))
    article.relations.append(PubTatorRel("101", "binds", "X:1", "X:2"))
    with (folder / "articles.pubtator").open("w", encoding="utf8") as file:
        pubtator.dump([article, PubTator("102", "Nothing here.", "")], file)

    (folder / "brat").mkdir(exist_ok=True)
    brat = BratDocument()
    brat.text = TEXT
    for number, (start, found, label) in enumerate(SPANS, start=1):
        entity = BratEntity()
        entity.id, entity.type, entity.text = f"T{number}", label, found
        entity.add_span(start, start + len(found))
        brat.add_annotation(entity)
    parted_entity = BratEntity()
    parted_entity.id, parted_entity.type, parted_entity.text = "T9", "cell", "IL-2- T cells"
    for found in ("IL-2-", "T cells"):
        parted_entity.add_span(TEXT.rindex(found), TEXT.rindex(found) + len(found))
    brat.add_annotation(parted_entity)
    note = BratNote()
    note.id, note.type, note.refid, note.text = "#1", "AnnotatorNotes", "T1", "a note"
    brat.add_annotation(note)
    with (
        (folder / "brat" / "one.txt").open("w", encoding="utf8", newline="") as text_file,
        (folder / "brat" / "one.ann").open("w", encoding="utf8") as annotation_file,
    ):
        dump_brat(brat, text_file, annotation_file)


def conllu(folder: Path) -> None:
    from conllu import Token, TokenList

    def sentence(meta: dict[str, str], rows: list[tuple[Any, str, dict[str, str] | None]]) -> str:
        tokens = [
            Token(id=number, form=form, lemma="_", upos="X", xpos="_", feats=None, head=0,
                  deprel="dep", deps=None, misc=misc)
            for number, form, misc in rows
        ]  # fmt: skip
        return TokenList(tokens, meta).serialize()

    tags = [
        sentence({"newdoc id": "d1", "sent_id": "s1", "text": "Ada Byron va au Havre."}, [
            (1, "Ada", {"NER": "B-PER"}), (2, "Byron", {"NER": "I-PER"}), (3, "va", {"NER": "O"}),
            ((4, "-", 5), "au", None), (4, "à", {"NER": "O"}), (5, "le", {"NER": "B-LOC"}),
            (6, "Havre", {"NER": "I-LOC", "SpaceAfter": "No"}), (7, ".", None),
        ]),
        sentence({"newdoc id": "d2", "sent_id": "s2"}, [
            (1, "Rien", None), ((1, ".", 1), "vide", None), (2, "!", {"NER": "O"}),
        ]),
    ]  # fmt: skip
    (folder / "tags.conllu").write_text("".join(tags), encoding="utf8")
    brackets = sentence({"newdoc id": "d3", "global.Entity": "eid-etype-head"}, [
        (1, "The", {"Entity": "(e1-organization-2"}), (2, "Paris", {"Entity": "(e2-place-1)"}),
        (3, "Bank", {"Entity": "e1)"}), (4, "saw", None),
        (5, "Ada", {"Entity": "(e3-person-1)", "SpaceAfter": "No"}), (6, ".", None),
    ])  # fmt: skip
    (folder / "brackets.conllu").write_text(brackets, encoding="utf8")


def datasets(folder: Path) -> None:
    from datasets import ClassLabel, Dataset, Features, Sequence, Value

    names = ["O", "B-PER", "I-PER", "B-LOC"]
    words = [["Ada", "Byron", "left", "Paris", "."], ["Nothing", "here"]]
    tags = [["B-PER", "I-PER", "O", "B-LOC", "O"], ["O", "O"]]
    text = Sequence(Value("string"))
    columns = {"id": ["0", "1"], "tokens": words, "ner_tags": tags}
    known = {"id": Value("string"), "tokens": text}
    Dataset.from_dict(columns, Features({**known, "ner_tags": text})).to_json(
        folder / "tag_names.jsonl"
    )
    numbers = Features({**known, "ner_tags": Sequence(ClassLabel(names=names))})
    Dataset.from_dict(columns, numbers).to_json(folder / "tag_numbers.jsonl")
    (folder / "tag_names.txt").write_text("\n".join(names) + "\n", encoding="utf8")


def label_studio(folder: Path) -> None:
    from label_studio_sdk.converter import Converter
    from label_studio_sdk.label_interface import LabelInterface
    from label_studio_sdk.label_interface.objects import AnnotationValue, PredictionValue

    labels = "".join(f'<Label value="{label}"/>' for label in ("protein", "cell"))
    interface = LabelInterface(
        f'<View><Labels name="label" toName="text">{labels}</Labels>'
        '<Text name="text" value="$text"/></View>'
    )

    def regions(spans: list[tuple[int, str, str]]) -> list[Any]:
        given = [
            {"start": start, "end": start + len(found), "text": found, "label": [label]}
            for start, found, label in spans
        ]
        return interface.create_regions({"label": given})

    def task(number: int, annotations: list[Any], predictions: list[Any]) -> dict[str, Any]:
        done = [
            {"id": 10 * number + i, "created_at": "", "updated_at": "",
             **one.model_dump()}
            for i, one in enumerate(annotations)
        ]  # fmt: skip
        shown = [one.model_dump() for one in predictions]
        return {"id": number, "data": {"text": TEXT}, "annotations": done, "predictions": shown}

    good = AnnotationValue(completed_by=1, result=regions(SPANS))
    worse = AnnotationValue(completed_by=1, result=regions(SPANS[:1]))
    cancelled = AnnotationValue(completed_by=1, result=regions(SPANS[:2]), was_cancelled=True)
    guess = PredictionValue(model_version="m", score=0.5, result=regions(SPANS[1:2]))
    tasks = [task(1, [cancelled, good, worse], []), task(2, [cancelled], []), task(3, [], [guess])]
    path = folder / "label_studio.json"
    path.write_text(json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", encoding="utf8")
    made = folder / "min"
    converter = Converter(interface.config, project_dir=None)
    short = folder / "short.json"
    short.write_text(json.dumps(tasks[:1]), encoding="utf8")
    converter.convert_to_json_min(str(short), str(made), is_dir=False)
    short.unlink()
    (made / "result.json").rename(folder / "label_studio_min.json")
    made.rmdir()


def doccano(folder: Path) -> None:
    import backend
    import pandas

    # The exporter alone, without its database.
    sys.path.insert(0, str(Path(next(iter(backend.__path__)))))
    models = ModuleType("data_export.models")
    models.DATA = "data"  # type: ignore[attr-defined]
    package = ModuleType("data_export")
    package.__path__ = [str(Path(next(iter(backend.__path__))) / "data_export")]
    sys.modules |= {"data_export": package, "data_export.models": models}
    from data_export.pipeline.formatters import DictFormatter, RenameFormatter, TupledSpanFormatter
    from data_export.pipeline.writers import JsonlWriter

    class Span(SimpleNamespace):
        def to_tuple(self) -> tuple[int, int, str]:
            return self.start, self.end, self.label

        def to_dict(self) -> dict[str, Any]:
            return {"id": self.start, "label": self.label, "start_offset": self.start,
                    "end_offset": self.end}  # fmt: skip

    spans = [
        Span(start=start, end=start + len(found), label=label) for start, found, label in SPANS
    ]

    def table() -> Any:
        rows = {"id": [1, 2], "data": [TEXT, "Nothing here."], "entities": [spans, []]}
        return pandas.DataFrame({**rows, "Comments": [[], []]})

    triples = TupledSpanFormatter("entities").format(table())
    triples = RenameFormatter(data="text", entities="label").format(triples)
    JsonlWriter.write(folder / "doccano.jsonl", triples)
    objects = DictFormatter("entities").format(table())
    objects["relations"] = [[], []]
    JsonlWriter.write(
        folder / "doccano_relations.jsonl", RenameFormatter(data="text").format(objects)
    )


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for tool in sys.argv[2:]:
        globals()[tool](target)
