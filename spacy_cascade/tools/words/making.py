"""From text, vectors or a transformer to a table of words.

What takes long is done in stages that a later run does not repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...cli.output import counted
from ...errors import ConfigError, CorpusError
from ...parallel import available_cores
from ...stages import Stages
from ...systems.words.files import write_table
from ...systems.words.table import MOST_CLUSTERS, MOST_SIZES, About, WordTable
from ...text_sources import find_sources
from .of_transformer import table_of_contexts, table_of_transformer
from .skip_gram import check_extra, write_vectors
from .sources import Kind, Sources, understand, vectors_of_pipeline
from .splitting import TokenizerChoice
from .tables import SIZES, table_of_vectors
from .text import write_forms, write_words
from .transformer import Transformer
from .vector_files import read_vectors
from .word_lists import frequent_words, read_list, sampled, split_lines
from .word_vectors import WordVectors

Told = Callable[[str], object]


@dataclass(frozen=True)
class Settings:
    """How tables are made.

    sizes: numbers of clusters, ascending. seed: of k-means and samples. max_words: that are read of
    vectors, and listed of text. vocabulary: a file with a word a line, most frequent first.
    processes: that work at the same time, 0 for one per core; with one, the same sources always
    give the same table.

    Of text: tokenizer: makes words of it. json_field: the one with the text, in JSONL. min_count:
    occurrences of a word that is listed. dimensions: numbers in the vector of a word. epochs: times
    that training reads the text. max_texts: that a transformer reads, drawn at random.
    """

    sizes: tuple[int, ...] = SIZES
    seed: int = 0
    max_words: int = 400_000
    vocabulary: Path | None = None
    processes: int = 0
    tokenizer: TokenizerChoice = field(default_factory=TokenizerChoice)
    json_field: str = "text"
    min_count: int = 5
    dimensions: int = 64
    epochs: int = 3
    max_texts: int = 10_000

    def __post_init__(self) -> None:
        least = {
            "max_words": 2, "min_count": 1, "dimensions": 2, "epochs": 1, "max_texts": 1, "seed": 0,
            "processes": 0,
        }  # fmt: skip
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise ConfigError(
                    f"--{name.replace('_', '-')} is {getattr(self, name)}. The smallest possible "
                    f"value is {smallest}."
                )
        are_ascending = list(self.sizes) == sorted(set(self.sizes))
        if not 1 <= len(self.sizes) <= MOST_SIZES or not are_ascending:
            raise ConfigError(f"--sizes are 1 to {MOST_SIZES} ascending numbers, not {self.sizes}.")
        if self.sizes[0] < 2 or self.sizes[-1] > MOST_CLUSTERS:
            raise ConfigError(f"--sizes are numbers from 2 to {MOST_CLUSTERS:,}, not {self.sizes}.")

    @property
    def threads(self) -> int:
        return self.processes or available_cores()


def work_folder(output: Path) -> Path:
    """Where the results of the stages are kept until the table is written."""
    return output.with_name(f"{output.name}.work")


def make_table(
    sources: Sequence[str],
    output: Path,
    settings: Settings,
    about: About,
    told: Told = lambda text: None,
) -> WordTable:
    """Write the table of words that sources make, and return it.

    sources: files, folders and names (`sources.understand`). about: what the table says of itself.
    told: called with a line for each stage. What an earlier run with the same sources and settings
    had done in `work_folder(output)` is not done again; at the end the folder is removed. Raises
    `CorpusError` for files that cannot be read or have too little, and `ConfigError` for sources
    and settings that cannot be, without an extra, or if another process makes the same table.
    """
    understood = understand(sources)
    told(f"Understood: {_described(understood)}")
    make = {
        Kind.TEXT: _of_text,
        Kind.FILE: _of_file,
        Kind.PIPELINE: _of_pipeline,
        Kind.TRANSFORMER: _of_transformer,
    }[understood.kind]
    with Stages(work_folder(output)) as stages:
        table = make(_Task(understood, output, settings, about, told, stages))
        write_table(output, table)
        stages.remove()
    return table


def _described(sources: Sources) -> str:
    text = f"{len(sources.texts)} source{'s' * (len(sources.texts) > 1)} of text"
    if not sources.knowledge:
        return text
    return f"{sources.knowledge} as {sources.kind.value}" + (f", {text}" if sources.texts else "")


@dataclass(frozen=True)
class _Task:
    """All that a way to make a table needs."""

    sources: Sources
    output: Path
    settings: Settings
    about: About
    told: Told
    stages: Stages

    def words_of_text(self) -> Path:
        """The stage that all ways begin with which read text."""
        settings = self.settings
        files = find_sources(self.sources.texts, [self.output, work_folder(self.output)])
        self.told(f"Words of {len(files):,} file{'s' * (len(files) > 1)} of text")
        given = [list(map(_state, files)), settings.json_field, settings.tokenizer.describe()]
        return self.stages.file(
            "words",
            given,
            lambda path: write_words(
                path, files, settings.json_field, settings.tokenizer, settings.threads
            ),
        )

    def vocabulary(self) -> list[str]:
        """The words of the list that is given; none without one."""
        return read_list(self.settings.vocabulary, self.settings.max_words)

    def table_of(self, found: WordVectors) -> WordTable:
        """The table of words with vectors."""
        if found.left_out:
            self.told(
                f"{counted(found.left_out, 'word')} left out: with zeros or no finite numbers, "
                "with spaces, or listed before"
            )
        if len(found.words) < 2:
            raise CorpusError(
                f"{self.sources.knowledge or 'The text'} has vectors of {len(found.words)} words. "
                "Clusters are made of more."
            )
        self.told(f"Clusters of {len(found.words):,} words")
        return table_of_vectors(
            found.words, found.vectors, self.about, self.settings.sizes, self.settings.seed
        )


def _of_text(task: _Task) -> WordTable:
    _refuse_vocabulary(task)
    check_extra()
    settings = task.settings
    words = task.words_of_text()
    forms = task.stages.file(
        "forms", settings.min_count, lambda path: write_forms(path, words, settings.min_count)
    )
    task.told(f"Vectors of words that occur {settings.min_count:,} times or more")
    vectors = task.stages.file(
        "vectors",
        [settings.dimensions, settings.epochs],
        lambda path: write_vectors(
            path, forms, settings.dimensions, settings.epochs, settings.min_count, settings.threads
        ),
    )
    found = WordVectors.load(vectors)
    most = settings.max_words
    return task.table_of(replace(found, words=found.words[:most], vectors=found.vectors[:most]))


def _of_file(task: _Task) -> WordTable:
    _refuse_vocabulary(task)
    return task.table_of(read_vectors(Path(task.sources.knowledge), task.settings.max_words))


def _of_pipeline(task: _Task) -> WordTable:
    words, most = task.vocabulary(), task.settings.max_words
    if task.sources.texts and not words:
        words = frequent_words(task.words_of_text(), task.settings.min_count, most)
    return task.table_of(vectors_of_pipeline(task.sources.knowledge, words, most))


def _of_transformer(task: _Task) -> WordTable:
    settings, source = task.settings, task.sources.knowledge
    if not task.sources.texts:
        return table_of_transformer(
            source, task.about, task.vocabulary(), settings.sizes, settings.seed, settings.threads
        )
    _refuse_vocabulary(task)
    transformer = Transformer.load(source, settings.threads)
    words = task.words_of_text()
    sample = task.stages.file(
        "sample",
        [settings.max_texts, settings.seed],
        lambda path: path.write_bytes(b"".join(sampled(words, settings.max_texts, settings.seed))),
    )
    listed = frequent_words(sample, settings.min_count, settings.max_words)
    task.told(f"Means of {len(listed):,} words over {settings.max_texts:,} texts at most")
    outputs = task.stages.file(
        "contexts",
        [source, settings.min_count, settings.max_words, settings.threads],
        lambda path: WordVectors(
            listed, transformer.over_contexts(split_lines(sample), listed)
        ).save(path),
    )
    found = WordVectors.load(outputs)
    return table_of_contexts(
        transformer, source, task.about, found.words, found.vectors, settings.sizes, settings.seed
    )


def _refuse_vocabulary(task: _Task) -> None:
    if task.settings.vocabulary:
        raise ConfigError(
            f"--vocabulary is for a transformer without text, or vectors of floret. "
            f"{_described(task.sources)} has its own words: leave the option out."
        )


def _state(file: Path) -> list[object]:
    """What changes if a file does; to read all of it would take long."""
    status = file.stat()
    return [str(file.resolve()), status.st_size, status.st_mtime_ns]
