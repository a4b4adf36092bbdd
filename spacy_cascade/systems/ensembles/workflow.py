"""Training the members of an ensemble in processes, and tuning what decides among their spans.

Random subsets of feature classes and of Docs tell the members apart. Each line of a template set is
one class of features (`features.templates`). A named set leaves out lines by their text
(`without`), so a line goes together with those that contain it. Docs are drawn without replacement:
a Doc that stood twice in a corpus would see its own entities as those of another one
(`seen_inside`). Half of a corpus without replacement stands for a whole bootstrap sample (Friedman
and Hall 2007, On Bagging and Nonlinear Estimation, section 4.1).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config, registry
from spacy.vocab import Vocab
from thinc.api import Config

from ...errors import ConfigError, TrainingError
from ...files import temporary_folder
from ...parallel import available_cores
from ...pipeline.readers import examples_for, read_docs
from ...processes import run_in_processes
from ...workflows.calibrate import calibrate
from ...workflows.folds import train_pipeline, with_threads
from .component import CascadeEnsemble
from .members import decide, gold_in_batch, read_members

_ALWAYS = "bias"
_OURS, _WRITTEN_OUT = "spacy_cascade.", "spacy_cascade.Templates.v1"


@dataclass(frozen=True)
class Drawing:
    """How the members of an ensemble are drawn.

    features, data: shares of the classes of features and of the Docs that each member has, above 0
    and up to 1. seed: of all random numbers.
    """

    features: float = 1.0
    data: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("features", "data"):
            share = getattr(self, name)
            if not 0 < share <= 1:
                raise ConfigError(
                    f"A member takes a share of the {name} above 0 and up to 1, not {share:g}. "
                    f"Change --{name}."
                )

    def config(self, config: Config, number: int) -> Config:
        """The config of a member: a copy with some of the templates, and a seed of its own."""
        generator = np.random.default_rng([self.seed, number])
        changed = config.copy()
        if "seed" in changed.get("system", {}):
            changed["system"]["seed"] = self.seed + number
        filled = changed.interpolate()
        for name in filled["nlp"]["pipeline"] if self.features < 1 else ():
            model = filled["components"][name].get("model") or {}
            if "templates" in model:
                drawn = self._some_of(model["templates"], generator)
                changed["components"][name]["model"]["templates"] = drawn
        return changed

    def docs(self, docs: Sequence[Doc], number: int) -> list[Doc]:
        """The Docs of a member, in their order, with every label of the corpus."""
        generator = np.random.default_rng([self.seed, number, 1])
        n = max(1, round(self.data * len(docs)))
        order = generator.permutation(len(docs)).tolist()
        chosen, known = set(order[:n]), set[str]()
        for i in order:
            labels = {entity.label_ for entity in docs[i].ents}
            if i in chosen or not labels <= known:
                chosen.add(i)
                known |= labels
        return [doc for i, doc in enumerate(docs) if i in chosen]

    def _some_of(self, section: dict[str, Any], generator: np.random.Generator) -> dict[str, Any]:
        """A template set without some of its lines, and those that contain them."""
        name, without = section["@misc"], list(section.get("without", ()))
        if name == _WRITTEN_OUT:
            given = {"templates": list(section["templates"])}
        elif name.startswith(_OURS):
            own = registry.resolve({"set": {"@misc": name, "without": without}})["set"]
            given = {"without": list(own.templates), "extra": list(section.get("extra", ()))}
        else:
            raise ConfigError(
                f"No classes of features can be drawn from the template set {name}. Write its "
                f"templates out with {_WRITTEN_OUT}, or set --features 1."
            )
        lines = [line for part in given.values() for line in part if line != _ALWAYS]
        n_dropped = len(lines) - max(1, round(self.features * len(lines)))
        dropped = set[str]()
        for i in generator.permutation(len(lines)).tolist():
            inside = {line for line in lines if lines[i] in line} - dropped
            if len(dropped) + len(inside) <= n_dropped:
                dropped |= inside
        kept = {name: [t for t in part if t not in dropped] for name, part in given.items()}
        if "without" in kept:
            kept["without"] = [*without, *(t for t in given["without"] if t in dropped)]
        return {**section, **kept}


NAME = "cascade_ensemble"
PENALTIES = tuple(np.round(np.arange(0.0, 0.901, 0.02), 2).tolist())
"""The penalties on the background that are tried."""


@dataclass(frozen=True)
class EnsembleTask:
    """What the members of an ensemble are trained on.

    configs: training configs, which the members take in turn. train, dev: corpora. n_members: how
    many. drawing: what tells those of one config apart.
    """

    configs: tuple[Config, ...]
    train: Path
    dev: Path
    n_members: int
    drawing: Drawing

    def __post_init__(self) -> None:
        if self.n_members < 1:
            raise ConfigError(
                f"An ensemble needs at least one member, not {self.n_members}. Check --members."
            )


class TrainedMember(NamedTuple):
    """Name of a member, and its entity F1 on dev as it was trained."""

    name: str
    f1: float


class TunedPenalty(NamedTuple):
    """The best penalty on the background, and F1 on dev by penalty."""

    penalty: float
    f1: float
    curve: dict[float, float]


@dataclass(frozen=True)
class EnsembleReport:
    """What became of an ensemble: its members, its penalty, and the temperature found."""

    members: list[TrainedMember]
    tuned: TunedPenalty
    temperature: float


def train_ensemble(
    task: EnsembleTask, processes: int, done: Callable[[TrainedMember], object]
) -> tuple[Language, EnsembleReport]:
    """A pipeline with a `cascade_ensemble`, its penalty tuned and its confidences calibrated.

    processes: members that are trained at the same time, 0 for one a core. done: called after each
    member. Raises `ConfigError` for configs whose members do not go together, `TrainingError` where
    they cannot be trained.
    """
    read_docs(task.train, Vocab())  # so that one process says what is wrong, at once
    processes = min(processes or available_cores(), task.n_members)
    threads = max(1, available_cores() // processes)
    with temporary_folder() as folder:
        arguments = [(task, number, folder, threads) for number in range(task.n_members)]
        trained = []
        for member in run_in_processes(train_member, arguments, processes, lambda: None):
            done(member)
            trained.append(member)
        nlp = assemble(task.configs[0], folder)
    examples = list(examples_for(nlp, task.dev))
    ensemble = ensemble_of(nlp)
    tuned = tune_penalty(ensemble, examples)
    ensemble.background_penalty = tuned.penalty
    calibrated, found = calibrate(nlp, examples)
    return calibrated, EnsembleReport(sorted(trained), tuned, found[-1].temperature)


def train_member(task: EnsembleTask, number: int, folder: Path, threads: int) -> TrainedMember:
    """Train the member of that number, and save it into a folder of its own in `folder`."""
    config = task.configs[number % len(task.configs)]
    drawn = with_threads(task.drawing.config(config, number), threads)
    docs = task.drawing.docs(read_docs(task.train, Vocab()), number)
    nlp = train_pipeline(drawn, docs, task.dev)
    scores = nlp.evaluate(list(examples_for(nlp, task.dev)))
    name = f"{number:03d}"
    nlp.to_disk(folder / name)
    return TrainedMember(name, float(scores.get("ents_f") or 0.0))


def assemble(config: Config, folder: Path) -> Language:
    """A pipeline of one `cascade_ensemble`, whose members are the pipelines in a folder.

    config: a training config with the tokenizer of all members, and the reader of corpora. Raises
    `ConfigError` where the members do not go together.
    """
    vocab = spacy.load(min(folder.iterdir())).vocab if any(folder.iterdir()) else Vocab()
    members = read_members(folder, vocab)
    nlp = load_model_from_config(_host_config(config), vocab=vocab, auto_fill=True)
    ensemble_of(nlp).set_members(members)
    return nlp


def tune_penalty(
    ensemble: CascadeEnsemble, examples: Sequence[Example], penalties: Sequence[float] = PENALTIES
) -> TunedPenalty:
    """The penalty on the background with the best entity F1 on examples.

    The mean of the F1 of a penalty and its two neighbours counts, so that no chance peak wins.
    Raises `TrainingError` where there are no gold entities.
    """
    found = ensemble.posteriors([example.predicted for example in examples])
    wanted, observed = gold_in_batch(examples, ensemble.labels)
    if not wanted:
        raise TrainingError(
            "The penalty of an ensemble is tuned on entities, and these Docs have none. Give other "
            "Docs as --dev."
        )
    unknown = np.append(0, np.cumsum(~observed))
    judged = unknown[found.end] == unknown[found.start]
    f1 = []
    for penalty in penalties:
        decision = decide(found, penalty)
        kept = decision.chosen & judged
        rows = zip(
            found.start[kept].tolist(), found.end[kept].tolist(), decision.label[kept].tolist(),
            strict=True,
        )  # fmt: skip
        n_right = len(wanted.intersection(rows))
        f1.append(2 * n_right / (int(kept.sum()) + len(wanted)))
    padded = np.pad(f1, 1, mode="edge")
    best = int((padded[:-2] + padded[1:-1] + padded[2:]).argmax())
    curve = dict(zip(penalties, f1, strict=True))
    return TunedPenalty(penalties[best], f1[best], curve)


def ensemble_of(nlp: Language) -> CascadeEnsemble:
    """The ensemble of a pipeline. Raises `ConfigError` where it has none."""
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, CascadeEnsemble):
            return pipe
    raise ConfigError(
        f"The pipeline has no cascade_ensemble, only {nlp.pipe_names}. Make one with "
        "`spacy cascade combine ensemble`."
    )


def _host_config(config: Config) -> Config:
    """The config of a pipeline with an ensemble alone, which reads corpora as its members do."""
    changed = config.copy()
    changed["nlp"].update(pipeline=[NAME], disabled=[])
    changed["components"] = {NAME: {"factory": NAME}}
    changed.pop("initialize", None)
    changed["training"].update(
        before_to_disk=None, frozen_components=[], annotating_components=[], score_weights={}
    )
    return changed
