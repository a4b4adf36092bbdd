"""`cascade_linker`: gives entities the identifiers of the terms that they match."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...errors import ConfigError, ModelFileError, NotTrainedError
from ...features.resources import InvalidArray
from ...pipeline.factories import component_factory
from ...pipeline.reading import tokenizing
from ...pipeline.settings import (
    Cfg,
    check_saved,
    configure,
    pipeline_of,
    setting,
    take_saved,
    to_save,
)
from ...storage import model_file
from ...storage.arrays import Arrays, check_shapes
from ...storage.header import Header, check_identity, make_header
from .candidates import Candidate, CandidateGenerator, keep_candidates, register_candidates
from .listed_candidates import ListedCandidates, SimilarCandidates, dictionary_of
from .similarity.phrases import LEAST
from .similarity.search import DictionarySearch
from .term_ids import TermIds

register_candidates()

_KIND = "term_ids"


Similarity: TypeAlias = Annotated[float, Field(ge=LEAST, le=1)]


class CascadeLinker(Pipe):
    """Sets `kb_id_` of entities that match a listed term, and keeps all candidates of each.

    It learns nothing: `initialize` reads the lists, which are saved with the component.

    generators: asked for candidates one after the other, until one has any for an entity. A class
    of its own can put others beside `ListedCandidates`.
    """

    name: str
    cfg = Cfg()
    lists: dict[str, str] = setting({})
    entity_labels: dict[str, list[str]] = setting({})
    overwrite: bool = setting(False)
    similarity: Similarity = setting(1.0)

    def __init__(self, nlp: Language, name: str, settings: Mapping[str, Any]) -> None:
        self.name = name
        self._listed: TermIds | None = None
        self._similar: DictionarySearch | None = None
        configure(self, nlp, settings)

    def check_settings(self, values: Mapping[str, Any]) -> None:
        """Raise `ConfigError` for labels of entities of a list that there is not."""
        for name in sorted(values["entity_labels"].keys() - values["lists"].keys()):
            raise ConfigError(
                f"'{self.name}' has entity_labels for '{name}', but no such list. Its lists: "
                f"{', '.join(values['lists']) or 'none'}."
            )

    @property
    def generators(self) -> Sequence[CandidateGenerator]:
        """Raises `NotTrainedError` before the lists were read."""
        if self._listed is None:
            raise NotTrainedError(
                f"'{self.name}' has not read its lists yet. Train or initialize the pipeline, or "
                "call its `initialize`, before you use it."
            )
        listed, labels, least = self._listed, self.entity_labels, self.similarity
        equal = ListedCandidates(listed, labels)
        if least == 1:
            return (equal,)
        if self._similar is None:
            self._similar = DictionarySearch(dictionary_of(listed))
        return equal, SimilarCandidates(listed, labels, self._similar, least)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
    ) -> None:
        """Read the lists, whose terms the pipeline's tokenizer splits; examples are not looked at.

        Raises `ConfigError` where there are none, `TemplateError` for one that cannot be read.
        """
        del get_examples
        if not self.lists:
            raise ConfigError(
                f"'{self.name}' has no lists. Name them under [components.{self.name}], such as "
                'lists = {"genes": "genes.tsv"}.'
            )
        with tokenizing(nlp or pipeline_of(self)) as tokenize:
            self._listed = TermIds.read(self.lists, tokenize)
        self._similar = None

    def __call__(self, doc: Doc) -> Doc:
        """Link the entities of a Doc; those that have an id stay, unless `overwrite` is set."""
        generators = self.generators
        mentions = [e for e in doc.ents if self.overwrite or not e.kb_id]
        for generator in generators:
            if not mentions:
                break
            found = generator.candidates(mentions)
            for mention, candidates in zip(mentions, found, strict=True):
                if candidates:
                    _link(mention, candidates)
            mentions = [m for m, candidates in zip(mentions, found, strict=True) if not candidates]
        return doc

    # Saving

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The component as bytes; exclude: `"cfg"` leaves the settings out."""
        return model_file.pack(*self._saved(list(exclude)))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "CascadeLinker":
        """Load from bytes. Raises `ModelFileError` where they are none of a linker.

        exclude: `"cfg"` keeps the settings that there are.
        """
        self._load(*model_file.unpack(data, f"the bytes given to '{self.name}'"), list(exclude))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save into the folder `path`, as the single file `cascade.npz`; else as `to_bytes`."""
        model_file.write_file(path, self.to_bytes(exclude=exclude))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "CascadeLinker":
        """Load from the folder `path`; else as `from_bytes`."""
        self._load(*model_file.unpack(*model_file.read_file(path)), list(exclude))
        return self

    def _saved(self, exclude: Container[str]) -> tuple[Header, Arrays]:
        listed, settings = self._listed, to_save(self, exclude)
        if listed is None:
            return make_header(_KIND, [], {"lists": []}, settings), {}
        return make_header(_KIND, [], {"lists": list(listed.lists)}, settings), listed.arrays()

    def _load(self, header: Header, arrays: Arrays, exclude: Container[str]) -> None:
        lists = header["identity"].get("lists")
        check_identity(header, _KIND, {"lists": lists})
        settings = header.get("settings", {})
        check_saved(self, settings)
        if not isinstance(lists, list) or header["labels"] or bool(lists) != bool(arrays):
            raise ModelFileError(f"The file of '{self.name}' has no valid list of term lists.")
        self._listed, self._similar = _restored(lists, arrays), None
        take_saved(self, settings, exclude)


def _restored(lists: list[str], arrays: Arrays) -> TermIds | None:
    """The lists of a file, None where it has none. Raises `ModelFileError` for invalid arrays."""
    if not lists:
        return None
    check_shapes(arrays, TermIds.shapes(arrays))
    try:
        return TermIds.restore(lists, arrays)
    except InvalidArray as error:
        raise ModelFileError(
            f"The array '{error.part}' of the saved model {error.problem}."
        ) from None


def _link(entity: Span, candidates: Sequence[Candidate]) -> None:
    """Keep all candidates, and give the tokens of the entity the id of the first."""
    keep_candidates(entity, candidates)
    for token in entity:
        token.ent_kb_id_ = candidates[0].id


make_linker = component_factory(
    "cascade_linker", CascadeLinker, {}, requires=["doc.ents"], assigns=["token.ent_kb_id"]
)
