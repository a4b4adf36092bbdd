"""From files of text to a file of word clusters, in stages that a later run does not repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import ConfigError
from ...parallel import available_cores
from ...stages import Stages
from ...systems.words.paths import write_paths
from ...text_sources import find_sources
from .splitting import TokenizerChoice
from .tree import cluster_words
from .vectors import WordVectors, check_extra, write_vectors
from .words import write_forms, write_words


@dataclass(frozen=True)
class Settings:
    """How clusters are made.

    tokenizer: makes words of text. json_field: the one with the text, in JSONL. min_count:
    occurrences of a word that gets a cluster. size: numbers in the vector of a word. epochs: times
    that training reads the text. n_clusters: number of clusters at most. seed: of k-means.
    processes: that work at the same time, 0 for one per core; with one, the same text gives the
    same clusters.
    """

    tokenizer: TokenizerChoice = field(default_factory=TokenizerChoice)
    json_field: str = "text"
    min_count: int = 5
    size: int = 64
    epochs: int = 3
    n_clusters: int = 1024
    seed: int = 0
    processes: int = 0

    def __post_init__(self) -> None:
        least = {
            "min_count": 1, "size": 2, "epochs": 1, "n_clusters": 2, "seed": 0, "processes": 0,
        }  # fmt: skip
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise ConfigError(
                    f"--{name.replace('_', '-')} is {getattr(self, name)}. The smallest possible "
                    f"value is {smallest}."
                )


@dataclass(frozen=True)
class Made:
    """How many clusters there are, of how many different words, which occur how often."""

    clusters: int
    words: int
    occurrences: int


def work_folder(output: Path) -> Path:
    """Where the results of the stages are kept until the clusters are written."""
    return output.with_name(f"{output.name}.work")


def make_clusters(
    sources: Sequence[Path],
    output: Path,
    settings: Settings,
    told: Callable[[str], object] = lambda text: None,
) -> Made:
    """Write the clusters of the words of text to a file of paths (`systems.words.paths`).

    sources: files and folders (`sources.find_sources`). told: called with a line for each stage.
    What an earlier run with the same files and settings had done in `work_folder(output)` is not
    done again; at the end the folder is removed. Raises `CorpusError` for text that cannot be
    read or is too little, and `ConfigError` for settings that cannot be, or without the extra.
    """
    check_extra()
    folder = work_folder(output)
    files = find_sources(sources, [output, folder])
    threads = settings.processes or available_cores()
    stages = Stages(folder)
    told(f"Words of {len(files):,} file{'s' * (len(files) > 1)} of text")
    words = stages.file(
        "words",
        [[_state(file) for file in files], settings.json_field, settings.tokenizer.describe()],
        lambda path: write_words(path, files, settings.json_field, settings.tokenizer, threads),
    )
    forms = stages.file(
        "forms", settings.min_count, lambda path: write_forms(path, words, settings.min_count)
    )
    told(f"Vectors of words that occur {settings.min_count:,} times or more")
    vectors = stages.file(
        "vectors",
        [settings.size, settings.epochs],
        lambda path: write_vectors(
            path, forms, settings.size, settings.epochs, settings.min_count, threads
        ),
    )
    found = WordVectors.load(vectors)
    told(f"Clusters of {len(found.words):,} words")
    clustered = cluster_words(found, settings.n_clusters, settings.seed)
    write_paths(output, clustered)
    stages.remove()
    return Made(len({one.path for one in clustered}), len(found.words), sum(found.counts))


def _state(file: Path) -> list[object]:
    """What changes if a file does; to read all of it would take long."""
    status = file.stat()
    return [str(file.resolve()), status.st_size, status.st_mtime_ns]
