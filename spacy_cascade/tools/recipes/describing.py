"""For people: what is seen in a corpus, in sentences, and the comments of configs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from thinc.api import Config

from ...pipeline.spans.left_out import CUTS
from ..tokenizers.languages import how_to_install
from . import Choices, comment, config_text
from .nested_spans import nested_text
from .profile import Held, Profile
from .suggesting import Suggestion

_TAGS = [
    "Both corpora need predicted tags, which python -m spacy cascade combine jackknife sets.",
    "The trained pipeline needs tags, too: add a cascade_tagger as its first component.",
]
_PROCESSOR = "It trains on the CPU: leave out --gpu-id."


def heading(output: Path, choices: Choices) -> str:
    """What a config for an unknown corpus is for, and how to train with it."""
    lines = [
        f"Named entities, {choices.domain.value} text: spacy cascade init --recipe "
        f"{choices.recipe.value}",
        *_commands(output, choices),
        *(_TAGS if choices.tags else ()),
    ]
    return _lines(lines) + "\n"


def suggested_text(
    output: Path,
    profile: Profile,
    suggestion: Suggestion,
    *,
    config: Config | None = None,
    comments: Mapping[str, Sequence[str]] | None = None,
    tried: Sequence[str] = (),
) -> str:
    """The config for a corpus, with comments on what was seen and chosen.

    config, comments: in place of those of the suggestion. tried: lines about trainings.
    """
    choices = suggestion.choices
    command = f"Named entities: spacy cascade init --train {choices.train}"
    lines = [f"{command} --dev {choices.dev}" if choices.dev else command]
    lines += _commands(output, choices)
    if choices.dev is None:
        lines.append("DEV.spacy: Docs to score on, with entities, not used in training.")
    text = _lines([*lines, *(_TAGS if choices.tags else ())])
    text += "#\n" + comment(["What was seen:", *describe(profile)])
    text += "#\n" + _lines(tried) if tried else ""
    return f"{text}\n" + config_text(
        suggestion.config if config is None else config,
        suggestion.comments if comments is None else comments,
    )


def train_command(output: Path, choices: Choices) -> str:
    """The command line that trains the config, with the corpora that it does not name."""
    return " ".join(["python -m spacy train", str(output), "--output OUT", *_missing(choices)])


def _commands(output: Path, choices: Choices) -> list[str]:
    debug = ["python -m spacy cascade debug-data", str(output), *_missing(choices)]
    return [" ".join(debug), train_command(output, choices), _PROCESSOR]


def _missing(choices: Choices) -> list[str]:
    named = {"train": choices.train, "dev": choices.dev}
    return [f"--paths.{name} {name.upper()}.spacy" for name, path in named.items() if path is None]


def _lines(lines: Sequence[str]) -> str:
    """Comments that are not wrapped: commands, and tables."""
    return "".join(f"# {line}\n" for line in lines)


_MOST_TYPES = 12
"""Types that are listed."""
_FEW = 0.7
"""A table of the same language knows about nine tenths of the words."""
_CASED = 0.95
"""News, encyclopedias and contracts have 97 % or more, tweets 63 %, biomedicine 40 %."""


def describe(profile: Profile) -> list[str]:
    """Paragraphs: size, entities, tokens, tables of words, the corpus to score on."""
    found = [_size(profile), _entities(profile), _tokens(profile)]
    if profile.language.to_install:
        found.append(how_to_install(profile.language.to_install))
    if profile.nested:
        found.append(nested_text(profile.nested))
    if profile.lost:
        found.append(lost_text(profile.lost))
    found += profile.contradictions
    found += [
        f"The table of words '{name}' knows {share:.0%} of the words."
        + (" It seems to be of another language or kind of token." if share < _FEW else "")
        for name, share in profile.covered.items()
    ]
    return found if profile.dev is None else [*found, _dev(profile, profile.dev)]


def _size(p: Profile) -> str:
    if p.sentences is None:
        sentences = "no marked sentences"
    else:
        sentences = f"{_n(p.sentences, 'sentence')} ({p.sentences_per_document:.1f} in each)"
    text = f"{_n(p.documents, 'document')}, {sentences}, {_n(p.words, 'word')}."
    if p.pieces:
        text += f" Nearly all documents have {p.pieces} sentences: they are pieces of a text."
    if p.empty:
        text += f" {_n(p.empty, 'document')} without words: nothing is learnt from them."
    if p.unannotated:
        text += f" {_n(p.unannotated, 'word')} without entity annotation."
    return text


def _entities(p: Profile) -> str:
    listed = ", ".join(f"{label} {n / p.entities:.0%}" for label, n in _most(p.labels))
    rest = p.types - _MOST_TYPES
    listed += f" and {_n(rest, 'other')}" if rest > 0 else ""
    return (
        f"{_n(p.entities, 'entity', 'entities')} of {_n(p.types, 'type')}: {listed}. They have "
        f"{p.mean_length:.1f} words on average, 95 % have {p.length_95} at most, the longest has "
        f"{p.longest}. {p.recurring:.0%} recur in the same document, {p.recurring_elsewhere:.0%} "
        "in the next one."
    )


def _tokens(p: Profile) -> str:
    return " ".join(_token_sentences(p))


def _token_sentences(p: Profile) -> Iterator[str]:
    if p.spacing_known == 0:
        yield "The spaces between words are unknown."
    elif p.spacing_known == 1:
        yield "The spaces between words are known."
    else:
        yield f"The spaces between words are known in {p.spacing_known:.0%} of the documents."
    for sign, share in (("hyphens", p.hyphens_split), ("slashes", p.slashes_split)):
        if share is not None:
            yield f"{share:.0%} of the {sign} between letters or digits are tokens."
    for case, share in (("lower", p.lower), ("upper", p.upper)):
        if share > 0.99:
            yield f"The text is in {case} case."
    if p.capitalized >= _CASED and p.upper <= 0.99:
        yield (
            f"{p.capitalized:.0%} of the entities begin with a capital, and few will be found "
            "where none is typed. Where texts in use are typed so, init --plain-copies helps, at "
            "some cost elsewhere."
        )


def lost_text(lost: Counter[str]) -> str:
    """What `convert` could not make entities of; the spans by the reason."""
    kinds = ", ".join(f"{n:,} {reason}" for reason, n in lost.most_common())
    text = f"{_n(lost.total(), 'span')} of the annotation became no entity in `convert`: {kinds}."
    if lost[CUTS]:
        text += (
            " The measures of tokenizers count those that cut a token. To train on those that a "
            "better tokenizer can express, convert the corpus again with --tokenizer CONFIG."
        )
    return text


def _dev(p: Profile, dev: Held) -> str:
    text = (
        f"To score on: {_n(dev.documents, 'document')}, {_n(dev.words, 'word')}, "
        f"{_n(dev.entities, 'entity', 'entities')}. {dev.unseen_words:.1%} of the words and "
        f"{dev.unseen_entities:.0%} of the entities do not occur in the training corpus."
    )
    unknown = sorted(dev.labels.keys() - p.labels.keys())
    return text + (f" Types that cannot be learnt: {', '.join(unknown)}." if unknown else "")


def _most(labels: Counter[str]) -> list[tuple[str, int]]:
    return labels.most_common(_MOST_TYPES)


def _n(n: int, noun: str, nouns: str = "") -> str:
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"
