"""Rounds of teaching: teachers annotate unlabelled Docs, a student learns from what is sure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config

from ...errors import ConfigError, CorpusError
from ...pipeline.progress import progress
from ...pipeline.readers import read_docs
from ...workflows.folds import as_given, entity_f1, filled_config, saving_callback, train_pipeline
from .opinions import consistent
from .pseudo_labels import Added, Confidence, has_gold, judge, pseudo_label
from .teachers import Method, teachers_for

ROUNDS = 5
LABELLED = "labelled Docs alone"


@dataclass(frozen=True)
class Round:
    """What a round added, and entity F1 on dev of its student, and of the product of views."""

    added: Added
    student_f1: float
    product_f1: float | None


@dataclass(frozen=True)
class Learnt:
    """How learning went.

    labelled_f1: entity F1 on dev of the pipeline of the labelled Docs alone. best: which pipeline
    was kept. because: why it ended. knows_gold: whether the unlabelled Docs had entities, which
    were compared with what was added, and used for nothing else.
    """

    method: Method
    n_labelled: int
    n_unlabelled: int
    labelled_f1: float
    rounds: list[Round]
    best: str
    best_f1: float
    because: str
    knows_gold: bool


@dataclass
class _Best:
    nlp: Language
    f1: float
    name: str = LABELLED

    def offer(self, nlp: Language, f1: float, name: str) -> None:
        if f1 > self.f1:
            self.nlp, self.f1, self.name = nlp, f1, name


def learn_unlabelled(
    config: Config,
    train_path: Path,
    dev_path: Path,
    unlabelled: Sequence[Doc],
    *,
    method: Method = Method.cotrain,
    sure: Confidence | None = None,
    rounds: int = ROUNDS,
) -> tuple[Language, Learnt]:
    """The best pipeline on dev that labelled and unlabelled Docs give, and how it went.

    config: of the pipeline. unlabelled: Docs with words; entities that they have are only compared
    with what is added. Each round, the teachers of the method annotate them, and the pipeline is
    trained on the labelled Docs and on what they are sure of. It ends after so many rounds, where
    neither the student nor the product gains on dev, and where nothing is sure.

    Raises `CorpusError` without unlabelled text, `ConfigError` for fewer than one round and for
    pipelines that the method cannot train.
    """
    if rounds < 1:
        raise ConfigError(f"Learning takes 1 round or more, not {rounds}.")
    docs = [doc for doc in unlabelled if len(doc)]
    if not docs:
        raise CorpusError("There is no unlabelled text: all Docs are empty. Give some text.")
    sure = sure or Confidence()
    filled = filled_config(config, train_path, dev_path)
    labelled = read_docs(train_path, docs[0].vocab)

    def train(config: Config, docs: Sequence[Doc]) -> Language:
        return train_pipeline(config, docs, dev_path)

    teachers = teachers_for(method, filled, labelled, train, sure, saving_callback(filled))
    student = train(filled, labelled)
    best = _Best(student, entity_f1(student, dev_path))
    labelled_f1, knows_gold = best.f1, has_gold(docs)
    done: list[Round] = []
    because = f"{rounds} rounds were asked for"
    for number in progress("Rounds", iterable=range(1, rounds + 1), total=rounds):
        before = best.f1
        opinions = consistent(docs, teachers.opinions(student, docs))
        pseudo = pseudo_label(docs, opinions, sure)
        if not pseudo:
            because = f"no span has a confidence of {sure.threshold:g} or more"
            break
        student = train(filled, [*labelled, *(each.doc for each in pseudo)])
        f1 = entity_f1(student, dev_path)
        best.offer(student, f1, f"student of round {number}")
        product_f1 = None
        if teachers.alternative is not None:
            product_f1 = entity_f1(teachers.alternative, dev_path)
            best.offer(teachers.alternative, product_f1, f"product of views, round {number}")
        done.append(Round(judge(pseudo, docs, knows_gold), f1, product_f1))
        if best.f1 <= before:
            because = f"round {number} gained nothing on dev"
            break
    best.nlp.config = as_given(best.nlp.config, config)
    learnt = Learnt(
        method, len(labelled), len(docs), labelled_f1, done, best.name, best.f1, because, knows_gold
    )
    return best.nlp, learnt
