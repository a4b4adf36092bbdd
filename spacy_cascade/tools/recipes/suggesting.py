"""A config for a corpus in hand: its profile, the rules, and comments that say both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from spacy.vocab import Vocab
from thinc.api import Config

from ...errors import ConfigError, CorpusError
from ...pipeline.readers import read_docs
from ...systems.words.clusters import WordClusters
from ...types import Json
from ..tokenizers.choosing import best_tokenizer
from .configs import TOKENIZERS, Choices, Recipe, check_language, make_config, with_filled
from .deciding import Decision, Rules, comments_on, decide, settings_of
from .profile import Profile, measure_profile
from .rules import BY_CORPUS


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
    lang: str | None = None,
    clusters: Mapping[str, str] | None = None,
) -> Profile:
    """What is seen in corpora.

    lang: of the tokenizers that are measured; None for the one that is seen, or else English.
    clusters: files of word clusters by name. Raises `CorpusError` where a corpus cannot be used,
    `ConfigError` where spaCy does not know the language, and `TemplateError` for clusters that
    cannot be read.
    """
    vocab = Vocab()
    docs = [None if path is None else read_docs(path, vocab) for path in (train, dev)]
    known = {name: WordClusters.read(name, path) for name, path in (clusters or {}).items()}
    profile = measure_profile(docs[0] or [], docs[1], known)
    for path, held in ((train, profile), (dev, profile.dev)):
        if held is not None and not held.entities:
            raise CorpusError(
                f"{path} has no entities in doc.ents, so there is nothing to "
                f"{'learn' if held is profile else 'score on'}. Give Docs with entities."
            )
    if lang is None:
        lang = profile.language.code if profile.language.is_sure else Choices.lang
    check_language(lang)
    return replace(profile, tokenizers=best_tokenizer(docs[0] or [], lang))


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
    )
    config = make_config(choices)
    settings = settings_of(config, rules, decisions)
    comments = comments_on(rules, decisions, settings)
    together = {name: value for made in settings.values() for name, value in made.items()}
    return Suggestion(with_filled(config, together), choices, decisions, comments)


def named_clusters(paths: Iterable[Path]) -> dict[str, str]:
    """Files of word clusters by their names without endings, as templates can have them.

    Raises `ConfigError` where two have the same name.
    """
    found: dict[str, str] = {}
    for path in paths:
        name = re.sub(r"[^\w-]", "_", path.name.partition(".")[0])
        if name in found:
            raise ConfigError(
                f"Both {found[name]} and {path} would be called '{name}' in templates. Rename one."
            )
        found[name] = str(path)
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
        stated["templates"] = None  # the recipe's own, to which those of tags are added
    return stated
