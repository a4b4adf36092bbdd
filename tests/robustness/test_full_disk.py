"""A full disk while something is saved: what was there stays whole, and the error is one line."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from full_disks import (
    FILE_SYSTEM,
    FILES,
    Calls,
    SmallDisk,
    SmallFiles,
    make_disk,
    no_room,
    stop_here,
)
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config
from spacy.vocab import Vocab
from typer.testing import CliRunner, Result

from helpers import PROJECT, SENTENCES, annotations, gold_doc
from spacy_cascade import CascadeError, SavingError, processes, save_pipeline
from spacy_cascade.cli import app
from spacy_cascade.storage import model_file as storage
from spacy_cascade.systems.reranking.tuning import with_reranker
from spacy_cascade.tools.annotation.adapting import adapt

pytestmark = pytest.mark.slow

TEXT = "STAT5 binds the AP-1 site ."
STAGES = ["cascade_tagger", "cascade_segmenter", "cascade_classifier", "cascade_reranker"]
CONFIG = PROJECT / "configs/ocr.cfg"
QUICKLY = ("--components.cascade_segmenter.model.min_count", 1, "--training.max_epochs", 1)
Disk = SmallDisk | SmallFiles
Files = dict[str, bytes]
Random = np.random.Generator


@dataclass(frozen=True)
class Command:
    """A command that writes one thing.

    arguments: of a model, a corpus and the path to write. output: its name.
    """

    name: str
    arguments: Callable[[Path, Path, Path], tuple[object, ...]]
    output: str = "entities.html"

    @property
    def saves_pipeline(self) -> bool:
        return self.output == "model"

    @property
    def trains(self) -> bool:
        return self.name in ("combine jackknife", "rerank train")


RERANKING = ("--n-best", 2, "--scale", 1, "--weight", 1)
COMMANDS = [
    Command("convert", lambda m, c, o: (PROJECT / "assets/sample/dev.iob2", o), "out.spacy"),
    Command("init", lambda m, c, o: (o, "--force")),
    Command("evaluate", lambda m, c, o: (m, c, "--json", o)),
    Command("evaluate", lambda m, c, o: (m, c, "--html", o)),
    Command("evaluate", lambda m, c, o: (m, c, "--displacy-path", o.parent)),
    Command("explain", lambda m, c, o: (m, TEXT, "--json", o)),
    Command("explain", lambda m, c, o: (m, TEXT, "--data", c, "--html", o)),
    Command("explain", lambda m, c, o: (m, TEXT, "--alternatives", 2, "--json", o)),
    Command("explain", lambda m, c, o: (m, TEXT, "--alternatives", 2, "--html", o)),
    Command(
        "combine jackknife",
        lambda m, c, o: (CONFIG, c, o, "--dev", c, "--folds", 2, *QUICKLY),
        "out.spacy",
    ),
    Command("adapt", lambda m, c, o: (m, c, o), "model"),
    Command("calibrate", lambda m, c, o: (m, o, "--dev", c, "--force"), "model"),
    Command("rerank tune", lambda m, c, o: (m, o, "--dev", c, "--n-best", 2), "model"),
    Command(
        "rerank train",
        lambda m, c, o: (m, o, "--train", c, "--dev", c, "--folds", 2, *RERANKING),
        "model",
    ),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Docs with entities and tags."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.spacy"
    vocab = Vocab()
    docs = [gold_doc(vocab, text, spans) for text, spans in SENTENCES]
    for doc in docs:
        for token in doc:
            token.tag_ = "UPPER" if token.text[0].isupper() else "LOWER"
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline of all four components, as `spacy train` has it."""
    nlp = with_reranker(trained(corpus, "ocr"), 2)
    nlp.add_pipe("cascade_tagger", source=trained(corpus, "tagger"), first=True)
    path = tmp_path_factory.mktemp("model") / "model"
    nlp.to_disk(path)
    return path


def trained(corpus: Path, config: str, output: Path | None = None) -> Language:
    components = load_config(PROJECT / f"configs/{config}.cfg")["components"]
    nlp = init_nlp(
        load_config(
            PROJECT / f"configs/{config}.cfg",
            overrides={
                "paths.train": str(corpus),
                "paths.dev": str(corpus),
                "training.max_epochs": 2,
                "training.eval_frequency": 1,
                **{f"components.{name}.model.min_count": 1 for name in components},
            },
        )
    )
    train(nlp, output, stdout=io.StringIO(), stderr=io.StringIO())
    return nlp


@pytest.fixture(params=[FILE_SYSTEM, FILES])
def disk(
    request: pytest.FixtureRequest, tmp_path: Path, cases: Callable[[int], int]
) -> Iterator[Disk]:
    if request.param == FILES and cases(20) < 20:
        pytest.skip("only with --full, and where no file system can be mounted")
    with make_disk(request.param, tmp_path) as disk:
        yield disk


def contents(folder: Path) -> Files:
    """All files in a folder, by their names; empty folders have none."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != "ballast")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def run(command: str, *arguments: object) -> Result:
    return CliRunner().invoke(app, [*command.split(), *map(str, arguments)])


def one_line(result: Result) -> str:
    """What a command that could not save says."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Make room" in result.stderr
    return result.stderr


@pytest.mark.parametrize("i", range(len(COMMANDS)))
def test_commands(
    i: int,
    disk: Disk,
    model: Path,
    corpus: Path,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    """Each command, with so much room as not to suffice, and then with enough."""
    command, random = COMMANDS[i], np.random.default_rng(i)
    output = disk.folder / command.output
    arguments = (command.name, *command.arguments(model, corpus, output))
    assert run(*arguments).exit_code == 0
    needed = disk.needed(output)
    _put_old(output, model if command.saves_pipeline else None)
    before = contents(disk.folder)
    n = cases(5 if command.trains else 20)
    for _ in range(n):
        with disk.room(int(random.integers(needed - 1))):
            said = one_line(run(*arguments))
        assert f"Cannot save {output}" in said or _limits_temporary_files(disk, command)
        if command.name == "combine jackknife":  # Trainings that are done stay, for the next call.
            shutil.rmtree(disk.folder / f"{output.name}.work", ignore_errors=True)
        assert contents(disk.folder) == before
        assert os.listdir(disk.folder) == [output.name]
    figure(
        f"commands with {disk.name} full: an error of one line, the old files intact",
        f"{command.name} {n} times",
    )
    if command.trains:
        return
    assert run(*arguments).exit_code == 0
    assert contents(disk.folder).keys() >= before.keys()
    assert contents(disk.folder) != before
    if command.saves_pipeline:
        assert spacy.load(output)(TEXT).ents


def _limits_temporary_files(disk: Disk, command: Command) -> bool:
    return command.trains and isinstance(disk, SmallFiles)


def _put_old(output: Path, model: Path | None) -> None:
    if model is None:
        output.write_bytes(b"old")
    else:
        shutil.rmtree(output)
        shutil.copytree(model, output)
        (output / "README").write_text("mine")


def test_pages_that_are_new(disk: Disk, model: Path, corpus: Path) -> None:
    """Nothing is left where nothing was."""
    for more in ((), ("--alternatives", 2)):
        with disk.room(10):
            result = run("explain", model, TEXT, *more, "--html", disk.folder / "new" / "page.html")
        assert "page.html: " in one_line(result)
        assert contents(disk.folder) == {}


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.trains])
def test_no_room_for_temporary_files(
    command: Command,
    model: Path,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cases: Callable[[int], int],
) -> None:
    """Commands that train keep corpora and pipelines there."""
    output = tmp_path / "output.spacy"
    (tmp_path / "small").mkdir()
    with make_disk(FILE_SYSTEM, tmp_path / "small") as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk.folder))
        random = np.random.default_rng(5)
        for _ in range(cases(40)):
            with disk.room(int(random.integers(40_000))):
                result = run(command.name, *command.arguments(model, corpus, output))
            assert result.exit_code == 1
            assert isinstance(result.exception, SystemExit), result.exception
            assert result.stderr.count("\n") == 1, result.stderr
            assert str(disk.folder) in result.stderr
            assert "Make room" in result.stderr
            assert not output.exists()
            assert os.listdir(disk.folder) == []


def test_tune(
    disk: Disk,
    corpus: Path,
    monkeypatch: pytest.MonkeyPatch,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    """Trials, the best config, the report and the picture: each file is whole, old or new."""
    monkeypatch.setattr(processes, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))
    output = disk.folder / "found"
    names = [f"components.cascade_segmenter.{name}" for name in ("loss.kappa", "trainer.C")]
    ranges = [text for name in names for text in ("--search", f"{name}=0.1..1")]
    arguments = ("tune", CONFIG, output, "--train", corpus, "--dev", corpus, "--rounds", 1, *ranges)
    arguments = (*arguments, "--processes", 1, *QUICKLY)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    new, needed, random = contents(output), disk.needed(output), np.random.default_rng(2)
    shutil.rmtree(output)
    n = cases(20)
    if isinstance(disk, SmallFiles):
        needed = len(new["best.cfg"])
    for _ in range(n):
        with disk.room(int(random.integers(needed - 1))):
            result = run(*arguments)
        left = contents(output)
        if result.exit_code == 0:  # Searches differ in the size of what they write.
            assert left.keys() == new.keys()
            continue
        assert f"Cannot save {output}" in one_line(result) or isinstance(disk, SmallFiles)
        assert left.keys() <= new.keys()
        for line in left.get("trials.jsonl", b"").decode().splitlines():
            assert srsly.json_loads(line)["settings"].keys() == set(names)
        for name in left.keys() - {"trials.jsonl"}:
            assert len(left[name]) == len(new[name])
    assert run(*arguments).exit_code == 0
    assert contents(output).keys() == new.keys()
    figure(
        f"commands with {disk.name} full: an error of one line, the old files intact",
        f"tune {n} times",
    )


def test_components(disk: Disk, model: Path, cases: Callable[[int], int]) -> None:
    """The weights of each component are whole, the old or the new ones, whatever saves them."""
    random = np.random.default_rng(3)
    old = spacy.load(model)
    for name in STAGES:
        folder = disk.folder / name
        old.get_pipe(name).to_disk(folder)
        before = contents(disk.folder)
        size = disk.needed(folder)
        for _ in range(cases(20)):
            room = disk.room(int(random.integers(size - 1)))
            with room, pytest.raises(SavingError, match=r"cascade\.npz: "):
                old.get_pipe(name).to_disk(folder)
            assert contents(disk.folder) == before


@pytest.fixture(scope="module")
def adapted(model: Path, corpus: Path) -> Language:
    nlp = spacy.load(model)
    docs = list(DocBin().from_disk(corpus).get_docs(nlp.vocab))
    examples = [spacy.training.Example(Doc(nlp.vocab, [t.text for t in doc]), doc) for doc in docs]
    adapt(nlp, examples)
    return spacy.util.load_model_from_config(nlp.config, auto_fill=True).from_bytes(nlp.to_bytes())


def over_a_copy(model: Path, output: Path) -> Files:
    """Files of an old pipeline in the folder, which are all that is in it."""
    shutil.copytree(model, output)
    return contents(output)


def n_calls(model: Path, nlp: Language, folder: Path) -> tuple[int, Files]:
    """How many calls that write it takes to save over an old pipeline, and what is saved."""
    over_a_copy(model, folder)
    with Calls().counted() as calls:
        save_pipeline(nlp, folder)
    new = contents(folder)
    shutil.rmtree(folder)
    return calls.n, new


def _chosen(n: int, cases: Callable[[int], int]) -> range:
    """All of n calls or the last ones, among which are those that change names."""
    return range(n - max(12, cases(n)) + 1, n + 1)


def test_each_call_fails_once(
    model: Path,
    adapted: Language,
    tmp_path: Path,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    """There is no room for one file, one write, one flush or one new name."""
    n, new = n_calls(model, adapted, tmp_path / "model")
    came = Counter[str]()
    for at in _chosen(n, cases):
        old = over_a_copy(model, tmp_path / "model")
        try:
            with Calls(at, no_room).counted():
                save_pipeline(adapted, tmp_path / "model")
            said = ""
        except SavingError as error:
            said = str(error)
        # A folder that cannot be flushed is no reason to give up: all files have been.
        assert contents(tmp_path / "model") == (old if said else new)
        assert not said or f"save {tmp_path / 'model'}: No space left on device" in said
        came["an error, the old one intact" if said else "saved"] += 1
        assert os.listdir(tmp_path) == ["model"]
        shutil.rmtree(tmp_path / "model")
    shown = ", ".join(f"{n} {what}" for what, n in came.items())
    figure("saving a pipeline, each call that writes failing once", shown)


def test_stopped_at_each_call(
    model: Path,
    adapted: Language,
    tmp_path: Path,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    """Then a whole pipeline is there, and the next saving leaves only the new one."""
    n, new = n_calls(model, adapted, tmp_path / "model")
    path, aside = tmp_path / "model", tmp_path / ".model.replaced"
    came = Counter[str]()
    for at in _chosen(n, cases):
        old = over_a_copy(model, path)
        child = os.fork()
        if child == 0:
            with Calls(at, stop_here).counted():
                save_pipeline(adapted, path)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        if not path.exists():
            assert contents(aside) == old
            came["the old one in .model.replaced"] += 1
        else:
            assert contents(path) in (old, new)
            came["the old one" if contents(path) == old else "the new one"] += 1
        save_pipeline(adapted, path)
        assert contents(path) == new
        assert not aside.exists()
        for folder in tmp_path.iterdir():
            shutil.rmtree(folder)
    assert came["the old one in .model.replaced"] == 1
    shown = ", ".join(f"{what} {n} times" for what, n in came.items())
    figure("a process that saves a pipeline stopped before each call that writes", shown)


def test_training(
    corpus: Path,
    tmp_path: Path,
    cases: Callable[[int], int],
    figure: Callable[[str, str], None],
) -> None:
    """`spacy train` itself writes over `model-last`: weights are whole, the rest may be cut.

    What was cut is refused, or it is a model that the same training saves on an empty disk.
    """
    random = np.random.default_rng(4)
    came = Counter[str]()
    with make_disk(FILE_SYSTEM, tmp_path) as disk:
        output = disk.folder / "output"
        output.mkdir()
        trained(corpus, "ocr", output)
        needed = disk.needed(output)
        for _ in range(cases(20)):
            shutil.rmtree(output)
            output.mkdir()
            with disk.room(int(random.integers(needed - 1))):
                try:
                    trained(corpus, "ocr", output)
                except (CascadeError, OSError) as error:
                    came[type(error).__name__] += 1
            for file in output.glob("model-last/*/cascade.npz"):
                storage.unpack(file.read_bytes(), str(file))
            for folder in output.iterdir():
                came[f"{folder.name} {_state(folder)}"] += 1
    shown = ", ".join(f"{what} {n} times" for what, n in sorted(came.items()))
    figure(f"training with {disk.name} full", shown)
    assert came["OSError"] + came["SavingError"] == cases(20)


def _state(folder: Path) -> str:
    try:
        nlp = spacy.load(folder)
    except (OSError, ValueError, EOFError):  # the last for vectors without a byte
        return "refused"
    annotations(nlp)
    return "loads"
