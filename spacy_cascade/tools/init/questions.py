"""What `spacy cascade init` asks in a terminal; a wrong answer is named and asked again."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import typer

from ...cli.options import split_labels
from ...cli.output import print_warning
from ...errors import CascadeError, ConfigError
from ..recipes import Choices, Domain, Recipe, check_language
from ..recipes.profile import Profile
from ..recipes.suggesting import check_labels, look_at, suggest

Answer = TypeVar("Answer")
Choice = TypeVar("Choice", bound=Enum)


Parted = Callable[[Path], tuple[Path, Path | None]]
"""Makes of a corpus what to train on and, if it can, what to score on."""


def ask(parted: Parted) -> tuple[Profile | None, dict[str, Any]]:
    """What is seen in the corpus, if there is one, and the fields of `Choices` that are stated.

    parted: for a corpus without one to score on. With a corpus, an answer that agrees with what the
    rules choose for it states nothing.
    """
    found = _ask_corpus(parted)
    if found is None:
        return None, _ask_without_corpus()
    profile, given = found
    chosen = suggest(profile, given).choices
    lang = _ask("Language", _language, chosen.lang)
    model = _ask(_question("Model", Recipe), _one_of(Recipe), chosen.recipe.value)
    tags = _ask_tags()
    labels = _ask(_LABELS, lambda answer: _labels_of(answer, profile), "")
    answers = {"lang": lang, "recipe": model}
    given |= {name: its for name, its in answers.items() if its != getattr(chosen, name)}
    return profile, {**given, **({"tags": True} if tags else {}), **_stated(labels)}


_LABELS = "Entity types, separated by commas (leave empty for those of the corpus)"
_DEFAULT = Choices()


def _ask_corpus(parted: Parted) -> tuple[Profile, dict[str, Any]] | None:
    """The corpora and what is seen in them; None without a corpus to train on."""
    train = _ask("Corpus to train on, a .spacy file (leave empty if there is none yet)", _seen, "")
    if train is None:
        return None
    path, profile = train
    question = "Corpus to score on (leave empty to hold out a part)"
    both = _ask(question, lambda answer: _seen(answer, path), "")
    if both is not None:
        return both[1], {"train": path, "dev": both[0]}
    path, dev = parted(path)
    if dev is None:
        return profile, {"train": path}
    return look_at(path, dev), {"train": path, "dev": dev}


def _ask_without_corpus() -> dict[str, Any]:
    return {
        "lang": _ask("Language", _language, _DEFAULT.lang),
        "domain": _ask(_question("Domain", Domain), _one_of(Domain), _DEFAULT.domain.value),
        "recipe": _ask(_question("Model", Recipe), _one_of(Recipe), _DEFAULT.recipe.value),
        "tags": _ask_tags(),
        "small": typer.confirm("Does the corpus have fewer than 1,000 sentences?", default=False),
        "labels": _ask(_LABELS, split_labels, ""),
    }


def _ask(question: str, read: Callable[[str], Answer], default: str) -> Answer:
    """The answer, as `read` understands it; asked again as long as that raises a `CascadeError`."""
    while True:
        answer = typer.prompt(question, default=default, show_default=bool(default))
        try:
            return read(answer.strip())
        except (CascadeError, OSError) as error:
            print_warning(str(error))


def _ask_tags() -> bool:
    return typer.confirm("Use the parts of speech in the corpus as features?", default=False)


def _seen(answer: str, train: Path | None = None) -> tuple[Path, Profile] | None:
    """The corpus that was named, and what is seen; with that to train on if this one is scored."""
    if not answer:
        return None
    path = Path(answer)
    return path, look_at(path, None) if train is None else look_at(train, path)


def _language(answer: str) -> str:
    check_language(answer)
    return answer


def _labels_of(answer: str, profile: Profile) -> tuple[str, ...]:
    labels = split_labels(answer)
    check_labels(labels, profile)
    return labels


def _stated(labels: tuple[str, ...]) -> dict[str, Any]:
    return {"labels": labels} if labels else {}


def _question(what: str, kind: type[Choice]) -> str:
    return f"{what} ({', '.join(choice.value for choice in kind)})"


def _one_of(kind: type[Choice]) -> Callable[[str], Choice]:
    def read(answer: str) -> Choice:
        names = [choice.value for choice in kind]
        if answer not in names:
            raise ConfigError(f"'{answer}' is none of {', '.join(names)}. Choose one of them.")
        return kind(answer)

    return read
