"""Which trainings the suite consists of, and running those that have no result yet."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..lib.corpora import RAW_SUFFIX
from ..lib.machine import describe_machine, size_in_bytes
from ..lib.package import TOKENS_GIVEN
from ..lib.processes import ChildError, Result, TaskRunner
from ..peers.systems import TrainingSetup
from ..reports.suite_results import RAW, TOKENS, Entry, Key, add_entry, key_of, read_entries
from .corpora import CORPORA, SHIFTS, Prepared, Shift, SuiteCorpus
from .systems import Ours, Row

PEER_ITERATIONS = 200
"""Of the L-BFGS of crfsuite."""


class TrainingsFailed(RuntimeError):
    """Some trainings of a run failed."""


@dataclass(frozen=True)
class Training:
    """One training of the suite."""

    corpus: SuiteCorpus
    row: Row
    setting: str
    input: str

    @property
    def key(self) -> Key:
        return self.corpus.name, self.row.name, self.setting, self.input

    @property
    def is_fixed(self) -> bool:
        """Whether the setting is the one of all corpora, not a further point of a grid."""
        return self.setting == self.row.fixed


def plan(corpora: Iterable[str], rows: Sequence[Row], inputs: Sequence[str]) -> list[Training]:
    """All trainings, smallest corpora first; the further points of grids come last.

    inputs: of our systems. Peers are trained on tokens only.
    """
    chosen = [corpus for name, corpus in CORPORA.items() if name in set(corpora)]
    found = [
        Training(corpus, row, setting, given)
        for corpus in chosen
        for row in rows
        for setting in row.settings_for(corpus.is_large)
        for given in inputs
        if given == TOKENS or not row.is_peer
        if corpus.lang == "en" or not row.is_english
    ]
    return sorted(found, key=lambda training: not training.is_fixed)


@dataclass(frozen=True)
class Suite:
    """A run of the suite.

    data: folder of the corpora. output: file of results. shifts: what is scored away from home.
    """

    runner: TaskRunner
    data: Path
    output: Path
    shifts: Sequence[Shift] = SHIFTS

    @property
    def prepared(self) -> Prepared:
        return Prepared(self.runner, self.data)

    def run(self, trainings: Sequence[Training], again: bool = False) -> Iterator[str]:
        """Run the trainings that have no result yet, or all `again`; a line after each of them.

        A training that fails does not stop the others. Raises `TrainingsFailed` after the last one.
        """
        done = set() if again else {key_of(entry) for entry in read_entries(self.output)}
        waiting = [training for training in trainings if training.key not in done]
        total, failed = len(trainings), 0
        yield f"{total} trainings, {total - len(waiting)} of them done before"
        for number, training in enumerate(waiting, total - len(waiting) + 1):
            try:
                entry = self.train(training)
            except ChildError as error:
                failed += 1
                yield f"{number}/{total} {', '.join(training.key)} failed: {error}"
            else:
                add_entry(self.output, entry)
                yield f"{number}/{total} {described(entry)}"
        if failed:
            raise TrainingsFailed(f"{failed} of {total} trainings failed: see above. Run it again.")

    def train(self, training: Training) -> Entry:
        """Train and score one system; its model is deleted afterwards."""
        corpus, system = training.corpus, training.row.settings[training.setting]
        if isinstance(system, Ours):
            system = replace(system, input=training.input)
        sizes = self.prepared.sizes(corpus.name)
        folder = self._model_folder(training)
        targets = self.prepared.targets(corpus.name, self.shifts)
        setup = self._setup(corpus, folder, [target["data"] for target in targets.values()])
        model = system.model(folder)
        try:
            result = system.train(setup, repeat=0)
            scores = self._scores(training, str(model), system.reader, targets)
            size = size_in_bytes(model)
        finally:
            shutil.rmtree(folder)
        return {
            "corpus": corpus.name,
            "system": training.row.name,
            "title": training.row.title,
            "is_peer": training.row.is_peer,
            "setting": training.setting,
            "is_fixed": training.is_fixed,
            "input": training.input,
            "has_words": result.get("has_words", system.has_words),
            "packages": describe_machine()["packages"],
            "tokens": sizes["train"]["tokens"],
            **scores,
            "seconds": system.seconds(result),
            "computed_seconds": result["computed_seconds"],
            "bytes": size,
            "settings": system.settings(setup),
            "training": {k: v for k, v in result.items() if isinstance(v, int | float | str)},
        }

    def _model_folder(self, training: Training) -> Path:
        """A folder of its own for each training: the runner takes equal arguments for one task."""
        name = hashlib.sha256(repr(training.key).encode()).hexdigest()[:12]
        folder = self.runner.work / "models" / f"{training.corpus.name}-{training.row.name}-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _setup(self, corpus: SuiteCorpus, models: Path, others: Sequence[str]) -> TrainingSetup:
        folder = self.prepared.folder(corpus.name)
        return TrainingSetup(
            self.runner,
            folder / "train",
            folder / "dev",
            models,
            threads=1,
            peer_iterations=PEER_ITERATIONS,
            ner_seconds=corpus.ner_seconds,
            lang=corpus.lang,
            ner_reader=TOKENS_GIVEN,
            others=others,
        )

    def _scores(
        self, training: Training, model: str, reader: str, targets: Mapping[str, Result]
    ) -> Result:
        name = training.corpus.name
        folder = self.prepared.folder(name)
        if training.input == RAW:
            dev = str(folder / f"dev{RAW_SUFFIX}")
            return self.runner.run("suite.scoring:score_raw", {"model": model, "dev": dev})
        dev = str(folder / "dev.spacy")
        arguments = {"model": model, "reader": reader, "dev": dev, "targets": dict(targets)}
        return self.runner.run("suite.scoring:score_tokens", arguments)


def described(entry: Entry) -> str:
    """A line on a finished training."""
    setting = "" if entry["is_fixed"] else f" ({entry['setting']})"
    return (
        f"{entry['corpus']}, {entry['title']}{setting}, {entry['input']}: "
        f"{entry['tokens']:,} tokens, F1 {entry['f1']:.2f}, {entry['seconds']:.1f} s"
    )
