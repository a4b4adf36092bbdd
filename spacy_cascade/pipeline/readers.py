"""Reading a corpus with what a task gives beside the words, such as its sentences and tags."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.corpus import walk_corpus
from spacy.vocab import Vocab

from ..errors import ConfigError, CorpusError

NAME = "spacy_cascade.Corpus.v1"
SENTENCES, TAGS = "sentences", "tags"
GIVEN = (SENTENCES, TAGS)
"""What can be given beside the words."""
DEFAULT = (SENTENCES,)


def given_doc(reference: Doc, given: Collection[str], vocab: Vocab) -> Doc:
    """A Doc with the words of another, and what is given of its annotation.

    given: among `GIVEN`. What the other Doc has not, the new one has not either.
    """
    return Doc(
        vocab,
        words=[token.text for token in reference],
        spaces=None if reference.has_unknown_spaces else [bool(t.whitespace_) for t in reference],
        tags=[token.tag_ for token in reference] if TAGS in given else None,
        sent_starts=[t.is_sent_start for t in reference] if SENTENCES in given else None,
    )


@dataclass(frozen=True)
class GivenCorpus:
    """A `.spacy` file, or a folder of them, as examples (see `make_corpus`)."""

    path: Path
    given: tuple[str, ...]
    limit: int = 0

    def __post_init__(self) -> None:
        unknown = sorted(set(self.given) - set(GIVEN))
        if unknown:
            raise ConfigError(
                f"'{unknown[0]}' cannot be given by {NAME}. Known: {', '.join(GIVEN)}; mend "
                "'given' under [corpora]."
            )

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """The examples. Raises `CorpusError` where there is no such file."""
        if not self.path.exists():
            raise CorpusError(f"There is no corpus at {self.path}. Check --paths or [corpora].")
        files = walk_corpus(self.path, ".spacy")
        for reference in Corpus(self.path, limit=self.limit).read_docbin(nlp.vocab, files):
            yield Example(given_doc(reference, self.given, nlp.vocab), reference)


def make_corpus(path: Path | None, given: Sequence[str] = DEFAULT, limit: int = 0) -> GivenCorpus:
    """Registered as `spacy_cascade.Corpus.v1`: words as in the corpus, and what the task gives.

    spaCy's own reader shows components the bare text. given: `"sentences"`, so that each is a
    sequence of its own; `"tags"`, for tasks with parts of speech as input. limit: the most
    examples, 0 for all. Raises `ConfigError` without a path, or for anything else in `given`.
    """
    if path is None:
        raise ConfigError(f"{NAME} needs a path. Set --paths.train and --paths.dev.")
    return GivenCorpus(Path(path), tuple(given), limit)


def examples_for(nlp: Language, path: Path) -> Iterator[Example]:
    """The examples of a file, read as the training config of the pipeline reads its dev corpus.

    By spaCy's own reader where the pipeline has no such config.
    """
    given = given_by(nlp.config)
    return Corpus(path)(nlp) if given is None else GivenCorpus(path, given)(nlp)


def given_by(config: Mapping[str, Any]) -> tuple[str, ...] | None:
    """What the dev corpus of a training config gives beside words; None without our reader."""
    section = config.get("corpora", {}).get("dev", {})
    return tuple(section.get("given", DEFAULT)) if section.get("@readers") == NAME else None
