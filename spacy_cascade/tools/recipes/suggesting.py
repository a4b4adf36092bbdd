"""A config for a corpus in hand: its profile, the rules, and comments that say both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import count
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Config

from ...errors import ConfigError, CorpusError
from ...pipeline.readers import read_docs
from ...pipeline.scripts import tokenizer_for
from ...pipeline.spans.left_out import CUTS
from ...systems.words.sources import read_tables
from ...types import Json
from ..tokenizers.choosing import best_tokenizer
from ..tokenizers.lost_spans import lost_spans
from .configs import TOKENIZERS, Choices, Recipe, check_language, make_config, with_filled
from .deciding import Decision, Rules, comments_on, decide, settings_of
from .nested_spans import take_entities
from .profile import Profile, measure_profile, shares_covered
from .rules import BY_CORPUS

_ENDINGS = re.compile(r"(\.(gz|words|txt|tsv))+$")
_WORDS = "what the package knows of the words of the language gains on nearly all corpora measured"


@dataclass(frozen=True)
class Suggestion:
    """A config for a corpus.

    choices: what it is made of, but for settings of sections. comments: for its sections what was
    decided, and why.
    """

    config: Config
    choices: Choices
    decisions: list[Decision]
    comments: dict[str, list[str]]


def look_at(
    train: Path,
    dev: Path | None,
    given: Mapping[str, Any] | None = None,
) -> Profile:
    """What is seen in corpora.

    given: fields of `Choices` that the user has stated; without a language, it is the one that is
    seen, or else English. Raises `CorpusError` where a corpus cannot be used, `ConfigError` where
    spaCy does not know the language, and `TemplateError` for a table that cannot be read.
    """
    vocab = Vocab()
    docs = [None if path is None else read_docs(path, vocab) for path in (train, dev)]
    for part in docs:
        take_entities(part or [])
    profile = measure_profile(docs[0] or [], docs[1])
    for path, held in ((train, profile), (dev, profile.dev)):
        if held is not None and not held.entities:
            raise CorpusError(
                f"{path} has no entities in doc.ents, so there is nothing to "
                f"{'learn' if held is profile else 'score on'}. "
                + (_why_none(docs[0] or []) or "Give Docs with entities.")
            )
    known = dict(given or {})
    lang = known.pop("lang", None)
    if lang is None:
        lang = profile.language.code if profile.language.is_sure else Choices.lang
    check_language(lang)
    tables = read_tables(Choices(**known, lang=lang).tables)
    return replace(
        profile,
        tokenizers=best_tokenizer(docs[0] or [], lang),
        covered=shares_covered(docs[0] or [], tables),
    )


def _why_none(docs: Sequence[Doc]) -> str:
    """What to do where `convert` lost all spans, for they cut tokens."""
    cut = [one for doc in docs for one in lost_spans(doc) if one.reason == CUTS]
    if not cut:
        return ""
    return (
        f"{len(cut):,} spans of the annotation cut tokens in `convert`, such as '{cut[0].text}'. "
        f"{tokenizer_for(cut[0].text, None)} Convert the corpus again with --tokenizer or --lang."
    )


def suggest(profile: Profile, given: Mapping[str, Any], rules: Rules = BY_CORPUS) -> Suggestion:
    """The config that the rules choose for a corpus.

    given: fields of `Choices` that the user has stated; they win. Raises `ConfigError` for a
    label that the corpus does not have, and where spaCy does not know the language.
    """
    check_labels(given.get("labels", ()), profile)
    decisions = decide(rules, profile, _stated(given))
    chosen = {decision.name: decision.value for decision in decisions}
    choices = replace(
        Choices(**given),
        lang=chosen.get("lang", Choices.lang),
        recipe=Recipe(chosen.get("model", Choices.recipe)),
        sentences=bool(chosen.get("sentences", Choices.sentences)),
        small=False,
        nested=chosen.get("nested"),
    )
    if choices.tables:
        reason = "as the command line says" if choices.words else _WORDS
        names = ", ".join(choices.tables)
        decisions.append(Decision("words", names, reason, bool(choices.words)))
    config = make_config(choices)
    settings = settings_of(config, rules, decisions)
    comments = comments_on(rules, decisions, settings)
    together = {name: value for made in settings.values() for name, value in made.items()}
    return Suggestion(with_filled(config, together), choices, decisions, comments)


def named_tables(paths: Iterable[Path]) -> dict[str, Json]:
    """Tables of words by the names of their files, as templates can have them.

    Files of the same name are told apart by numbers.
    """
    found: dict[str, Json] = {}
    for path in paths:
        stem = re.sub(r"[^\w-]", "_", _ENDINGS.sub("", path.name))
        names = (stem if i == 1 else f"{stem}_{i}" for i in count(1))
        found[next(name for name in names if name not in found)] = str(path)
    return found


def check_labels(labels: Iterable[str], profile: Profile) -> None:
    """Raise `ConfigError` for a label that no entity of the corpus has, with the nearest one."""
    for label in labels:
        if label not in profile.labels:
            near = get_close_matches(label, profile.labels, 1, 0.0)[0]
            raise ConfigError(
                f"No entity of the corpus has the label '{label}'. The nearest label that it has "
                f"is '{near}'; all of them: {', '.join(sorted(profile.labels))}."
            )


def _stated(given: Mapping[str, Any]) -> dict[str, Json]:
    """Decisions that the user has made."""
    stated: dict[str, Json] = {}
    if "lang" in given:
        stated["lang"] = given["lang"]
    if "recipe" in given:
        stated["model"] = given["recipe"].value
    if "domain" in given:
        stated["tokenizer"] = {"@tokenizers": TOKENIZERS[given["domain"]]}
    if "small" in given:
        stated["min_count"] = 1 if given["small"] else None
    if given.get("tags"):
        # The recipe's own, to which those of tags are added.
        stated |= {"templates": None, "further templates": None}
    return stated
