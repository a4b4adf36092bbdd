"""The annotation of the same texts by several people: matched, compared, listed and merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from spacy.language import Language

from ...errors import ConfigError, CorpusError
from ..formats.annotated import TextSummary, annotated_only, place_texts
from ..formats.any_file import read_records
from ..formats.bad_records import check_none
from ..formats.exchange.base import FormatOptions
from ..formats.texts import AnnotatedText, without_words
from ..tokenizers.tokenizing import tokenize
from .agreement import Reading, Reviewed

Texts = dict[str, list[AnnotatedText]]
"""The annotated texts of each annotator."""


@dataclass(frozen=True)
class Inputs:
    """The files to review, and what is told of them.

    names: of the annotators, in the order of the paths; by default those of the files. Of one file
    they choose among its annotators. bad: errors of records and spans that were left out.
    """

    paths: Sequence[Path]
    names: tuple[str, ...]
    form: str
    text_field: str
    lang: str
    left_out: Counter[str] = field(default_factory=Counter)
    bad: list[CorpusError] = field(default_factory=list)

    def read(self, skip_bad: bool) -> Texts:
        """The texts by annotator. Raises `ConfigError` or `CorpusError` where there are not two."""
        found = self._of_one_file(*self.paths) if len(self.paths) == 1 else self._of_files()
        if not skip_bad:
            check_none(self.bad)
        if len(found) < 2:
            there = " and ".join(found) or "none"
            raise CorpusError(
                f"A review takes the annotation of two or more; there is that of {there}. Give the "
                "file of each annotator, or one that says who has annotated what."
            )
        return found

    def _of_files(self) -> Texts:
        names = self.names or tuple(path.stem for path in self.paths)
        if len(names) != len(self.paths):
            raise ConfigError(
                f"There are {len(self.paths)} files and {len(names)} names. Give --names one for "
                "each file, separated by commas."
            )
        if len(set(names)) < len(names):
            raise ConfigError(
                f"Several annotators have the same name: {', '.join(names)}. Give --names."
            )
        found = zip(names, self.paths, strict=True)
        return {name: list(self._texts(path)) for name, path in found}

    def _of_one_file(self, path: Path) -> Texts:
        found: Texts = {}
        for text in self._texts(path, all_annotators=True):
            if not text.annotator:
                raise CorpusError(
                    f"{text.where}: the file does not say who has annotated this. Give the file of "
                    "each annotator."
                )
            found.setdefault(text.annotator, []).append(text)
        unknown = sorted(set(self.names) - found.keys())
        if unknown:
            known = ", ".join(found)
            raise ConfigError(f"{path} has no annotator '{unknown[0]}'. It has: {known}.")
        return {name: found[name] for name in self.names or found}

    def _texts(self, path: Path, all_annotators: bool = False) -> Iterator[AnnotatedText]:
        options = FormatOptions(
            field=self.text_field, on_bad=self.bad.append, all_annotators=all_annotators
        )
        return annotated_only(read_records(path, self.form, options, self.lang), self.left_out)


def matched(texts: Texts) -> list[dict[str, AnnotatedText]]:
    """The same text of all annotators who have it, in the order in which texts first occur.

    Of a text that somebody has several times, those of the same name belong together if all who
    have it have a name in common, else the first of each, the second of each, and so on.
    """
    names: dict[str, dict[str, set[str]]] = {}
    for annotator, its in texts.items():
        for text in its:
            names.setdefault(text.text, {}).setdefault(annotator, set()).add(text.name)
    named = {text for text, by in names.items() if set.intersection(*by.values())}
    found: dict[tuple[str, str, int], dict[str, AnnotatedText]] = {}
    for annotator, its in texts.items():
        seen: Counter[tuple[str, str]] = Counter()
        for text in its:
            key = text.text, text.name if text.text in named else ""
            found.setdefault((*key, seen[key]), {})[annotator] = text
            seen[key] += 1
    return list(found.values())


def placed(
    documents: Sequence[Mapping[str, AnnotatedText]],
    nlp: Language,
    *,
    keeps_words: bool,
    summary: TextSummary,
) -> Iterator[Reviewed]:
    """The texts as tokens, the same ones for all annotators.

    keeps_words: whether these are the words of the files where all files have the same; else, and
    where they have not, they are those of nlp. summary: counts what becomes of the spans.
    """
    make_doc = partial(tokenize, nlp)
    for number, texts in enumerate(documents, start=1):
        words = {text.words for text in texts.values()}
        has_words = keeps_words and len(words) == 1
        used = texts.values() if has_words else map(without_words, texts.values())
        docs = [one.doc for _, one in place_texts(used, make_doc, nlp.vocab, summary)]
        name = next((text.name for text in texts.values() if text.name), str(number))
        yield Reviewed(name, docs[0], dict(zip(texts, map(Reading.of, docs), strict=True)))
