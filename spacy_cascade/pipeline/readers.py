"""Reading a corpus with the gold annotation that a task has as input, such as tags."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus, Example
from spacy.training.corpus import walk_corpus
from spacy.vocab import Vocab

from ..checks import configured
from ..errors import ConfigError, CorpusError
from ..text_sources import DOCS, read_texts
from ..types import Texts

NAME = "spacy_cascade.Corpus.v1"
SENTENCES, TAGS = "sentences", "tags"
INPUTS = (SENTENCES, TAGS)
"""What gold annotation can be an input, beside the words."""
DEFAULT = [SENTENCES]
Augmenter: TypeAlias = Callable[[Language, Example], Iterator[Example]]
"""What becomes of each example: itself, and others."""


def input_doc(reference: Doc, gold_inputs: Collection[str], vocab: Vocab) -> Doc:
    """A Doc with the words of another, and some of its annotation.

    gold_inputs: among `INPUTS`. What the other Doc has not, the new one has not either.
    """
    return Doc(
        vocab,
        words=[token.text for token in reference],
        spaces=None if reference.has_unknown_spaces else [bool(t.whitespace_) for t in reference],
        tags=[token.tag_ for token in reference] if TAGS in gold_inputs else None,
        sent_starts=[t.is_sent_start for t in reference] if SENTENCES in gold_inputs else None,
    )


@dataclass(frozen=True)
class InputCorpus:
    """A `.spacy` file, or a folder of them, as examples (see `make_corpus`)."""

    path: Path
    gold_inputs: tuple[str, ...]
    limit: int = 0
    augmenter: Augmenter | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.gold_inputs) - set(INPUTS))
        if unknown:
            raise ConfigError(
                f"{NAME} has no gold input '{unknown[0]}'. Known: {', '.join(INPUTS)}. Change "
                "gold_inputs under [corpora]."
            )

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """The examples. Raises `CorpusError` where there is no such file."""
        check_corpus(self.path)
        files = walk_corpus(self.path, ".spacy")
        for reference in Corpus(self.path, limit=self.limit).read_docbin(nlp.vocab, files):
            example = Example(input_doc(reference, self.gold_inputs, nlp.vocab), reference)
            yield from [example] if self.augmenter is None else self.augmenter(nlp, example)


@configured
def make_corpus(
    path: Path | None,
    gold_inputs: Texts = DEFAULT,
    limit: int = 0,
    augmenter: Augmenter | None = None,
) -> InputCorpus:
    """Registered as `spacy_cascade.Corpus.v1`: words as in the corpus, and inputs of the task.

    spaCy's own reader shows components the bare text. gold_inputs: `"sentences"`, so that each is
    a sequence of its own; `"tags"`, for tasks with parts of speech as input. limit: the most
    examples, 0 for all. augmenter: what becomes of each, as of spaCy's reader. Raises
    `ConfigError` without a path, or for anything else in gold_inputs.
    """
    if path is None:
        raise ConfigError(f"{NAME} needs a path. Set --paths.train and --paths.dev.")
    return InputCorpus(Path(path), tuple(gold_inputs), limit, augmenter)


def read_docs(path: Path, vocab: Vocab) -> list[Doc]:
    """The Docs of a `.spacy` file, or of all such files in a folder.

    Raises `CorpusError` where there is none, or one cannot be read.
    """
    check_corpus(path)
    files = walk_corpus(path, ".spacy") if path.is_dir() else [path]
    try:
        return [doc for file in files for doc in DocBin().from_disk(file).get_docs(vocab)]
    except Exception as error:  # spaCy takes what stands there for what it should be
        raise CorpusError(
            f"{path} cannot be read as a .spacy file. Make it with `spacy cascade convert`."
        ) from error


def read_unlabelled(
    path: Path, field: str, make_doc: Callable[[str], Doc], vocab: Vocab
) -> Iterator[Doc]:
    """Docs of a file of unlabelled text: those of a `.spacy` file as they are, else made of texts.

    field: of the text in JSONL. make_doc: of the pipeline, or its tokenizer. Raises `CorpusError`
    for a file that cannot be read.
    """
    if path.name.lower().endswith(DOCS):
        yield from read_docs(path, vocab)
    else:
        yield from (make_doc(text.strip()) for text in read_texts(path, field))


def check_corpus(path: Path) -> None:
    """Raise `CorpusError` for what is no `.spacy` file and no folder of them.

    spaCy's reader finds nothing in other files, and says nothing.
    """
    if not path.exists():
        raise CorpusError(f"There is no corpus at {path}. Check --paths or [corpora].")
    if path.is_dir() and not any(path.rglob("*.spacy")):
        raise CorpusError(f"The folder {path} has no .spacy files. Check the path.")
    if not path.is_dir() and path.suffix != ".spacy":
        raise CorpusError(
            f"{path} is no .spacy file. Make one of it: spacy cascade convert {path} "
            f"{path.with_suffix('.spacy').name}"
        )


def examples_for(nlp: Language, path: Path) -> Iterator[Example]:
    """The examples of a file, read as the training config of the pipeline reads its dev corpus.

    spaCy's own reader reads them where the pipeline has no such config. Raises `CorpusError` where
    there is no such file.
    """
    check_corpus(path)
    inputs = gold_inputs_of(nlp.config)
    return Corpus(path)(nlp) if inputs is None else InputCorpus(path, inputs)(nlp)


def gold_inputs_of(config: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The gold inputs of the dev corpus of a training config; None without our reader."""
    section = config.get("corpora", {}).get("dev", {})
    if section.get("@readers") != NAME:
        return None
    return tuple(section.get("given") or section.get("gold_inputs", DEFAULT))
