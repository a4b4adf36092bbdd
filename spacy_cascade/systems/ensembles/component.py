"""`cascade_ensemble`: the mean of what several trained pipelines hold for likely."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ...errors import ConfigError, ModelFileError, NotTrainedError
from ...features.scored_spans import only_added
from ...files import replace_file
from ...pipeline.calibration import Outcomes
from ...pipeline.factories import component_factory
from ...pipeline.settings import (
    Cfg,
    Positive,
    Share,
    check_saved,
    configure,
    pipeline_of,
    setting,
    take_saved,
    to_save,
)
from ...pipeline.spans.confidences import records_of
from ...pipeline.spans.entities import write_entities, write_group
from ...pipeline.spans.tables import new_table
from ...types import Floats1d
from .members import (
    Member,
    TypedPosteriors,
    at_temperature,
    check_alike,
    decide,
    gold_in_batch,
    mean_posteriors,
    read_members,
)

_FOLDER, _LIST, _SETTINGS = "members", "members.json", "cfg"
_BATCH = 128


class CascadeEnsemble(Pipe):
    """Finds entities by the mean of its members' probabilities of spans and labels.

    The members are trained pipelines with components of this package. They are kept inside the
    component and saved with it.
    """

    name: str
    cfg = Cfg()
    folder: str | None = setting(None, name="members")
    spans_key: str = setting("cascade")
    background_penalty: Share = setting(0.2)
    confidence: bool = setting(True)
    temperature: Positive = setting(1.0)
    set_ents: bool = setting(True)

    def __init__(
        self,
        nlp: Language,
        name: str,
        settings: Mapping[str, Any],
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        self.name, self.vocab, self.scorer = name, nlp.vocab, scorer
        self._members: tuple[Member, ...] = ()
        configure(self, nlp, settings)

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Nothing: all go with each other."""

    @property
    def members(self) -> tuple[Member, ...]:
        """Raises `NotTrainedError` before there are any."""
        if not self._members:
            raise NotTrainedError(
                f"'{self.name}' has no members yet. Name a folder of trained pipelines as "
                "'members' and initialize the pipeline, or make it with `spacy cascade combine "
                "ensemble`."
            )
        return self._members

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all members, in alphabetical order; none before there are members."""
        return self._members[0].labels if self._members else ()

    def set_members(self, members: Sequence[Member]) -> None:
        """Take trained pipelines as members.

        Raises `ConfigError` where there are none, or their labels, tokenizers or vocabularies are
        not the same.
        """
        for member in members:
            if member.nlp.vocab is not self.vocab:
                raise ConfigError(
                    f"The member {member.name} has a vocabulary of its own. Load it with "
                    "vocab=nlp.vocab of the pipeline of the ensemble."
                )
        check_alike(pipeline_of(self), members)
        self._members = tuple(members)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
    ) -> None:
        """Read the members from their folder; examples are not looked at.

        Raises `ConfigError` where there is no folder, or no pipelines in it that go together.
        """
        del get_examples
        if self.folder is None:
            raise ConfigError(
                f"'{self.name}' has no members. Name a folder of trained pipelines under "
                f'[components.{self.name}], such as members = "pipelines".'
            )
        self.set_members(read_members(Path(self.folder), self.vocab))

    # Annotating

    def posteriors(self, docs: Sequence[Doc]) -> TypedPosteriors:
        """Mean probability of each label of all likely spans of a batch; no Doc is changed."""
        return mean_posteriors([member.posteriors(docs) for member in self.members])

    def __call__(self, doc: Doc) -> Doc:
        """Find the entities of a Doc."""
        self.annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = _BATCH) -> Iterator[Doc]:
        """Find the entities of many Docs, batch by batch."""
        handle = self.get_error_handler()
        for docs in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            try:
                self.annotate(docs)
            except Exception as error:
                handle(self.name, self, docs, error)
            else:
                yield from docs

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Write `doc.spans[spans_key]` and, with `set_ents`, `doc.ents`.

        Entities of other components stay.
        """
        found = self.posteriors(docs)
        decision = decide(found, self.background_penalty)
        labels = [self.vocab.strings.add(label) for label in self.labels]
        hashes = np.array(labels, dtype=np.uint64)
        offsets = np.cumsum([0, *map(len, docs)])
        cuts = np.searchsorted(found.start, offsets)
        for i, doc in enumerate(docs):
            kept = cuts[i] + np.flatnonzero(decision.chosen[cuts[i] : cuts[i + 1]])
            start, end = found.start[kept] - offsets[i], found.end[kept] - offsets[i]
            spans = new_table(doc, start, end, hashes[decision.label[kept]])
            sure = self._sure(decision.probability[kept])
            (record,) = records_of([spans], [sure], self.set_ents)
            if self.set_ents:
                record = only_added(record, write_entities(doc, spans))
            write_group(doc, self.spans_key, spans, sure, record=record)

    def _sure(self, probabilities: Floats1d) -> Floats1d | None:
        return at_temperature(probabilities, self.temperature) if self.confidence else None

    # Judging

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of the registered scorer."""
        return {} if self.scorer is None else self.scorer(list(examples), **self.cfg)

    def outcomes(self, examples: Sequence[Example]) -> Outcomes:
        """The entities found in the predicted Docs, and whether each is right.

        Those with tokens that have no annotation are left out.
        """
        docs = [example.predicted for example in examples]
        found = self.posteriors(docs)
        decision = decide(found, self.background_penalty)
        wanted, observed = gold_in_batch(examples, self.labels)
        unknown = np.append(0, np.cumsum(~observed))
        judged = decision.chosen & (unknown[found.end] == unknown[found.start])
        rows = zip(
            found.start[judged].tolist(), found.end[judged].tolist(),
            decision.label[judged].tolist(), strict=True,
        )  # fmt: skip
        right = np.array([row in wanted for row in rows], dtype=np.bool_)
        sure = decision.probability[judged]
        return Outcomes(right, lambda temperature: at_temperature(sure, temperature))

    # Saving

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The options and all members as bytes; exclude: `"cfg"` leaves out the options."""
        members = [(member.name, member.to_bytes()) for member in self._members]
        settings = to_save(self, list(exclude))
        data: bytes = srsly.msgpack_dumps({"cfg": settings, "members": members})
        return data

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "CascadeEnsemble":
        """Load from bytes. Raises `ModelFileError` where they are none of an ensemble.

        exclude: `"cfg"` keeps the options that there are.
        """
        try:
            saved = srsly.msgpack_loads(data)
            parts = [(str(name), bytes(part)) for name, part in saved["members"]]
            settings = saved["cfg"]
        except (ValueError, TypeError, KeyError) as error:
            raise ModelFileError(
                f"The bytes given to '{self.name}' are damaged or of no ensemble ({error}). Copy "
                "them again from where they were saved."
            ) from None
        check_saved(self, settings)
        self._members = tuple(Member.from_bytes(part, name, self.vocab) for name, part in parts)
        take_saved(self, settings, list(exclude))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into the folder `path`: options, a list, and each member as a pipeline of its own.

        exclude: as for `to_bytes`.
        """
        folder = Path(path) / _FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for member in self._members:
            member.nlp.to_disk(folder / member.name, exclude=["vocab"])
        names: str = srsly.json_dumps([member.name for member in self._members])
        replace_file(Path(path) / _LIST, names.encode("utf8"))
        settings: str = srsly.json_dumps(to_save(self, list(exclude)))
        replace_file(Path(path) / _SETTINGS, settings.encode("utf8"))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "CascadeEnsemble":
        """Load from the folder `path`; else as `from_bytes`."""
        names = _read_json(Path(path) / _LIST)
        settings = _read_json(Path(path) / _SETTINGS)
        check_saved(self, settings)
        members = read_members(Path(path) / _FOLDER, self.vocab) if names else []
        if [member.name for member in members] != names:
            raise ModelFileError(
                f"The folder {Path(path) / _FOLDER} does not hold the members that {_LIST} names. "
                "Is the pipeline complete?"
            )
        self._members = tuple(members)
        take_saved(self, settings, list(exclude))
        return self


def _read_json(path: Path) -> Any:
    try:
        return srsly.read_json(path)
    except (OSError, ValueError) as error:
        raise ModelFileError(f"Cannot read {path}: {error}. Is the pipeline complete?") from None


make_ensemble = component_factory(
    "cascade_ensemble",
    CascadeEnsemble,
    {"scorer": {"@scorers": "spacy.ner_scorer.v1"}},
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans", "span._.confidence"],
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
