"""The corpora of the suite, and which of them a model is also scored on away from home."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..lib.processes import Result, TaskRunner

PARTS = ("train", "dev")


class MissingCorpus(RuntimeError):
    """A file of a corpus is not there."""


@dataclass(frozen=True)
class SuiteCorpus:
    """A corpus of columns.

    lang: spaCy's code of the language. train, dev: names of the files in the folder `name`.
    ner_seconds: what spaCy's `ner` may spend. is_large: whether the grid of L-BFGS is a small one.
    """

    name: str
    lang: str = "en"
    train: str = "train.iob2"
    dev: str = "dev.iob2"
    ner_seconds: float = 60.0
    is_large: bool = False

    def files(self, data: Path) -> dict[str, str]:
        """Both files, in a folder of the corpus in `data` or in `data/suite`."""
        found: dict[str, str] = {}
        for part in PARTS:
            places = [folder / self.name / getattr(self, part) for folder in (data, data / "suite")]
            found[part] = next((str(place) for place in places if place.is_file()), "")
            if not found[part]:
                raise MissingCorpus(
                    f"{places[0]} is not there. Put each corpus into a folder of its name, and "
                    "name the folder above them with --data."
                )
        return found


CORPORA: dict[str, SuiteCorpus] = {
    corpus.name: corpus
    for corpus in (
        SuiteCorpus("wikigold"),
        SuiteCorpus("sec-filings"),
        SuiteCorpus("gum"),
        SuiteCorpus("bionlp13cg"),
        SuiteCorpus("btc"),
        SuiteCorpus("anatem"),
        SuiteCorpus("conll2002-nl", lang="nl", ner_seconds=120),
        SuiteCorpus("conll2003", train="eng.train", dev="eng.testa", ner_seconds=120),
        SuiteCorpus("conll2002-es", lang="es", ner_seconds=120, is_large=True),
        SuiteCorpus("jnlpba", ner_seconds=120, is_large=True),
    )
}
"""By name, the small ones first, so that there are results early."""

ANATOMY = (
    "Anatomical_system", "Cancer", "Cell", "Cellular_component", "Developing_anatomical_structure",
    "Immaterial_anatomical_entity", "Multi-tissue_structure", "Organ", "Organism_subdivision",
    "Organism_substance", "Pathological_formation", "Tissue",
)  # fmt: skip
"""Types of bionlp13cg that AnatEM annotates, all as one type."""


@dataclass(frozen=True)
class Shift:
    """A model of one corpus is scored on dev of another. renamed: what labels count as."""

    source: str
    target: str
    renamed: Mapping[str, str] = field(default_factory=dict)

    def labels(self, source: Collection[str], target: Collection[str]) -> dict[str, str]:
        """What each label counts as, of those that both corpora have once they are renamed."""
        common = {self._name(label) for label in source} & {self._name(label) for label in target}
        every = sorted({*source, *target})
        return {label: self._name(label) for label in every if self._name(label) in common}

    def _name(self, label: str) -> str:
        return self.renamed.get(label, label)


_AS_ANATOMY = dict.fromkeys(ANATOMY, "Anatomy")
SHIFTS: tuple[Shift, ...] = (
    Shift("conll2003", "wikigold"),
    Shift("conll2003", "btc"),
    Shift("conll2003", "sec-filings"),
    Shift("wikigold", "conll2003"),
    Shift("bionlp13cg", "anatem", _AS_ANATOMY),
    Shift("anatem", "bionlp13cg", _AS_ANATOMY),
)


@dataclass(frozen=True)
class Prepared:
    """Corpora as Docs and as columns, made when they are needed. data: folder of the sources."""

    runner: TaskRunner
    data: Path

    def sizes(self, name: str) -> Result:
        """For each part of a corpus its sizes and its numbers of entities by label."""
        return self.runner.run(
            "lib.corpora:convert",
            {
                "sources": CORPORA[name].files(self.data),
                "folder": str(self.folder(name)),
                "lang": CORPORA[name].lang,
            },
        )

    def folder(self, name: str) -> Path:
        return self.runner.work / "corpora" / name

    def targets(self, name: str, shifts: Iterable[Shift]) -> dict[str, Result]:
        """For each corpus that a model of this one is also scored on: dev, and shared labels."""
        found = {}
        for shift in shifts:
            if shift.source == name:
                labels = [self.sizes(corpus)["train"]["labels"] for corpus in (name, shift.target)]
                dev = str(self.folder(shift.target) / "dev.spacy")
                found[shift.target] = {"data": dev, "labels": shift.labels(*labels)}
        return found
