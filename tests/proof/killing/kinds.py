"""What is killed: commands and saving, by the files that they leave."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

from tests.support.forked import PROJECT, Call, spacy_command

Contents = dict[str, str]
"""Digests by the names of files, and of folders that are replaced as a whole."""
README = "README"
"""A file in a pipeline's folder that is not the pipeline's."""


@dataclass(frozen=True)
class Kind:
    """Something that writes files, and can be killed.

    call: from a folder of inputs to an empty folder. inputs: names of functions of
    `tests.proof.killing.inputs` that make them. before: puts there what is replaced. wholes:
    folders that are replaced as a whole. passing: patterns of files that may be in any state after
    a kill. timed: of those with seconds in each line, so that they have as many lines each time.
    pause: seconds around each step of writing, so that calls are killed there, too.
    """

    name: str
    call: Callable[[Path, Path], Call]
    inputs: tuple[str, ...]
    before: Callable[[Path, Path], object] = lambda inputs, output: None
    wholes: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    pause: float = 0.003

    def first(self, inputs: Path) -> list[Call]:
        """The calls that make the inputs."""
        module = "tests.proof.killing.inputs"
        return [Call(f"{module}:{name}", (str(inputs),)) for name in self.inputs]

    def begin(self, inputs: Path, output: Path) -> None:
        """A folder with what is there before."""
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        self.before(inputs, output)

    def contents(self, output: Path, leaving_out: tuple[str, ...] = ()) -> Contents:
        """What is there but hidden files, which a killed process may leave."""
        lines: dict[str, list[str]] = {}
        for file in sorted(output.rglob("*")):
            name = self._name(file, output)
            if any(fnmatch(name, pattern) for pattern in leaving_out):
                continue
            if file.is_file() and "/." not in f"/{name}":
                data = file.read_bytes()
                is_timed = any(fnmatch(name, pattern) for pattern in self.timed)
                found = f"{len(data.splitlines())} lines" if is_timed else sha256(data).hexdigest()
                whole = next((one for one in self.wholes if name.startswith(f"{one}/")), name)
                lines.setdefault(whole, []).append(f"{name} {found}")
        return {name: sha256("\n".join(of).encode()).hexdigest() for name, of in lines.items()}

    def _name(self, file: Path, output: Path) -> str:
        """The name in the folder; a folder that was set aside between two renames has its own."""
        name = file.relative_to(output).as_posix()
        for whole in map(Path, self.wholes):
            aside = whole.with_name(f".{whole.name}.replaced").as_posix()
            if not (output / whole).exists() and name.startswith(f"{aside}/"):
                return name.replace(aside, whole.as_posix(), 1)
        return name


def is_half_written(output: Path) -> bool:
    """Whether a process that was killed has left a hidden file or folder."""
    return any(path.name.startswith(".") for path in output.rglob("*"))


def _old_file(name: str) -> Callable[[Path, Path], object]:
    return lambda inputs, output: (output / name).write_bytes(b"old")


def _old_pipeline(inputs: Path, output: Path) -> None:
    shutil.copytree(inputs / "old", output / "model")
    (output / "model" / README).write_text("mine")


def _cascade(*arguments: object) -> Call:
    return spacy_command("cascade", *arguments)


def _annotate(inputs: Path, output: Path, *more: object) -> Call:
    files = (inputs / "new", inputs / "texts.jsonl", "--output", output)
    return _cascade("annotate", *files, "--shard-size", 1, *more)


ANNOTATED = ("_shards.jsonl", "_late/*")
TRAIN = Kind(
    "spacy train",
    lambda i, o: spacy_command("train", i / "train.cfg", "--output", o / "trained"),
    ("training",),
    before=lambda inputs, output: shutil.rmtree(inputs.parent / "kept", ignore_errors=True),
    passing=("*",),
)
"""With checkpoints. `tests/robustness` kills it; its pipelines are spaCy's to save."""
KINDS = [
    Kind(
        "annotate",
        lambda i, o: _annotate(i, o, "--timeout", 0),
        ("pipelines", "texts"),
        passing=ANNOTATED,
        timed=ANNOTATED,
    ),
    Kind(
        "annotate --processes 2",
        lambda i, o: _annotate(i, o, "--processes", 2),
        ("pipelines", "texts"),
        passing=ANNOTATED,
        timed=ANNOTATED,
    ),
    Kind(
        "convert",
        lambda i, o: _cascade(
            "convert", PROJECT / "assets/sample/train.iob2", o / "out.spacy", "--force"
        ),
        (),
        before=_old_file("out.spacy"),
        pause=0.05,
    ),
    Kind(
        "convert --to brat",
        lambda i, o: _cascade("convert", i / "train.spacy", o / "brat", "--to", "brat", "--force"),
        ("corpora",),
        wholes=("brat",),
    ),
    Kind(
        "words make",
        lambda i, o: _cascade(
            "words", "make", i / "paragraphs.txt", "--output", o / "own.words", "--force",
            "--sizes", "2,4", "--dimensions", 8, "--epochs", 100, "--processes", 1,
        ),
        ("paragraphs",),
        before=_old_file("own.words"),
        passing=("own.words.work/*",),
    ),
    Kind(
        "init --auto",
        lambda i, o: _cascade(
            "init", o / "ner.cfg", "--train", i / "train.spacy", "--dev", i / "dev.spacy", "--auto",
            "--trainings", 2, "--processes", 1, "--force",
        ),
        ("corpora",),
        before=_old_file("ner.cfg"),
        wholes=("ner/model-best",),
        passing=("ner/trials.jsonl", "ner/pipelines/*"),
        timed=("ner/trials.jsonl",),
    ),
    Kind(
        "save_pipeline",
        lambda i, o: Call("tests.proof.killing.inputs:save", (str(o / "model"),)),
        ("pipelines",),
        before=_old_pipeline,
        wholes=("model",),
        passing=(f"model/{README}",),
    ),
    Kind(
        "nlp.to_disk",
        lambda i, o: Call("tests.proof.killing.inputs:write", (str(o / "model"),)),
        ("pipelines",),
        before=_old_pipeline,
        passing=("model/*.json", "model/*.cfg", "model/tokenizer", "model/vocab/*"),
    ),
]  # fmt: skip
