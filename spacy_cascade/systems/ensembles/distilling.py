"""One ordinary pipeline that learns from the probabilities of an ensemble.

Labelled Docs teach by their gold annotation, by what the ensemble holds for likely, or by a mean of
both; unlabelled ones by what the ensemble holds for likely. The student has the features, the speed
and the size of its config.
"""

from collections.abc import Sequence
from configparser import InterpolationError
from dataclasses import dataclass, replace
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from thinc.api import Config

from ...errors import CascadeError, ConfigError, TrainingError
from ...files import temporary_folder
from ...pipeline.base import is_learner
from ...pipeline.classifier import CascadeClassifier
from ...pipeline.learning import task_of
from ...pipeline.progress import progress
from ...pipeline.readers import SENTENCES, examples_for, input_doc, read_docs, read_unlabelled
from ...pipeline.recognisers import recognisers
from ...pipeline.segmenter import CascadeSegmenter
from ...scorers.linear import parts_of
from ...text_sources import find_sources
from ...trainers.lbfgs import LBFGS
from ...workflows.calibrate import calibrate
from ...workflows.folds import refused, with_corpora
from .loss import Imitation
from .members import check_tokenizers
from .targets import classifier_targets, posteriors_of, segmenter_targets, tokens_with
from .workflow import ensemble_of


@dataclass(frozen=True)
class Distilled:
    """Numbers of Docs that a student has learnt from, and its entity F1 on dev by step."""

    n_labelled: int
    n_unlabelled: int
    f1: list[float]


def distill(
    teacher: Language,
    config: Config,
    train: Path,
    dev: Path,
    unlabelled: Sequence[Path] = (),
    gold: float = 1.0,
) -> tuple[Language, Distilled]:
    """A pipeline of the config that has learnt from the ensemble of another, calibrated on dev.

    train: labelled Docs; gold: the share of their annotation, from 0 to 1, in what they teach; the
    rest of it is the ensemble's. unlabelled: `.spacy` files, whose entities are not looked at, or
    texts, a document a line. Raises `ConfigError` for configs that cannot learn from probabilities,
    and pipelines that do not go together; `CorpusError` for files that cannot be read.
    """
    if not 0 <= gold <= 1:
        raise ConfigError(f"The share of the gold annotation is from 0 to 1, not {gold:g}.")
    labelled = [doc for doc in read_docs(train, teacher.vocab) if len(doc)]
    new = [
        doc
        for path in find_sources(unlabelled)
        for doc in _labelled_by(teacher, _read(teacher, path))
    ]
    shares = [gold] * len(labelled) + [0.0] * len(new)
    with temporary_folder() as folder:
        path = folder / "train.spacy"
        DocBin(docs=[*labelled, *new]).to_disk(path)
        student = _initialized(config, path, dev)
        examples = list(examples_for(student, path))
        if len(examples) != len(shares):
            raise ConfigError(
                f"The reader of the config gives {len(examples)} of {len(shares)} Docs. Let it "
                "read all of them, each as a whole."
            )
        f1 = _train(teacher, student, examples, shares, list(examples_for(student, dev)))
    calibrated, _ = calibrate(student, examples_for(student, dev))
    saved = calibrated.config.copy()
    for section in ("paths", "corpora", "training", "initialize"):
        if section in config:
            saved[section] = {**saved[section], **config[section]}
    calibrated.config = saved
    return calibrated, Distilled(len(labelled), len(new), f1)


def _train(
    teacher: Language,
    student: Language,
    examples: Sequence[Example],
    shares: Sequence[float],
    dev: Sequence[Example],
) -> list[float]:
    """Train both stages step by step, and keep the step with the best entity F1 on dev."""
    segmenter, classifier = _stages(teacher, student)
    found = posteriors_of(ensemble_of(teacher), examples, shares)
    has = tokens_with(examples, shares)
    fits = []
    for pipe in filter(None, (segmenter, classifier)):
        task = task_of(pipe, examples)
        if isinstance(pipe, CascadeClassifier):
            targets = classifier_targets(pipe, task.data, found, examples, has)
        else:
            targets = segmenter_targets(pipe, task.data, found, has)
        fit = pipe.trainer.begin(replace(task, loss=Imitation(task.loss, targets)))
        pipe._fit = fit
        fits.append((pipe, fit, task.data))
    f1: list[float] = []
    best = b""
    n_steps = student.config["training"]["max_steps"] + 1  # as `spacy train` counts them
    for _ in progress("Distilling", iterable=range(n_steps)):
        for pipe, fit, data in fits:
            fit.step(data)
            pipe.sync_weights()
        f1.append(float(student.evaluate(list(dev))["ents_f"] or 0.0))
        if f1[-1] >= max(f1):
            best = student.to_bytes(exclude=["vocab"])
    student.from_bytes(best, exclude=["vocab"])
    return f1


def _stages(
    teacher: Language, student: Language
) -> tuple[CascadeSegmenter, CascadeClassifier | None]:
    """The components to train. Raises `ConfigError` where they cannot learn from the ensemble."""
    segmenter, classifier = recognisers(student)
    ours = [pipe for _, pipe in student.pipeline if is_learner(pipe)]
    if segmenter is None or len(ours) != 1 + (classifier is not None):
        raise ConfigError(
            "An ensemble can be distilled into one cascade_segmenter, with or without one "
            f"cascade_classifier after it; the config has {student.pipe_names}."
        )
    for pipe in ours:
        if not isinstance(pipe.trainer, LBFGS):
            raise ConfigError(
                f"'{pipe.name}' cannot learn from probabilities with its trainer. Put @misc = "
                '"spacy_cascade.LBFGS.v1" into its [trainer] block.'
            )
        if "network" in parts_of(pipe.model):
            raise ConfigError(
                f"The network of '{pipe.name}' learns from annotation alone, and distilling is "
                f"learning from probabilities. Leave out [components.{pipe.name}.model.network]."
            )
    labels, own = ensemble_of(teacher).labels, (classifier or segmenter).labels
    if own != labels:
        raise ConfigError(
            f"The ensemble has the labels {', '.join(labels)}, and the labelled Docs "
            f"{', '.join(own)}. Distilling needs the same ones."
        )
    check_tokenizers(student, teacher)
    return segmenter, classifier


def _initialized(config: Config, train: Path, dev: Path) -> Language:
    """A pipeline that knows its labels and features, with weights of zero."""
    try:
        own = with_corpora(config, train, dev)
        if own["training"].get("max_steps", 0) < 1:
            raise ConfigError("Distilling needs [training] max_steps of 1 or more.")
        return init_nlp(own)
    except CascadeError:
        raise
    except (ValueError, InterpolationError) as error:
        raise refused("The training config", error) from error


def _read(nlp: Language, path: Path) -> list[Doc]:
    """Unlabelled Docs, tokenized by the pipeline unless they are Docs already."""
    docs = read_unlabelled(path, "text", nlp.make_doc, nlp.vocab)
    return [input_doc(doc, (SENTENCES,), nlp.vocab) for doc in docs]


def _labelled_by(nlp: Language, docs: Sequence[Doc]) -> list[Doc]:
    """The Docs with the entities that a pipeline finds, and nothing else."""
    found = []
    for doc in progress("Reading unlabelled text", iterable=nlp.pipe(docs), total=len(docs)):
        doc.set_ents(list(doc.ents), default="outside")
        doc.spans.clear()
        if len(doc):
            found.append(doc)
    if not found:
        raise TrainingError("There are no unlabelled Docs in these files. Check --unlabelled.")
    return found
