"""Options as attributes of a component, which the config of its pipeline follows."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any
from weakref import ref

from spacy.language import Language

from ..errors import ConfigError
from .options import Options, nearest


class OptionAttributes:
    """A component whose options are attributes that can be read and set.

    A value that is set later is checked, honoured, and written to the config of the pipeline; a
    misspelt name is an error.
    """

    options: Options

    def __init__(self, nlp: Language, options: Options) -> None:
        self._reference: _PipelineReference | None = _PipelineReference(nlp)
        self.options = options
        options.tell(self._accept)

    @property
    def cfg(self) -> dict[str, Any]:
        """All options by name, as spaCy's own tools read and set them; a copy."""
        return deepcopy(self.options.as_dict())

    @cfg.setter
    def cfg(self, values: Mapping[str, Any]) -> None:
        self.options.tell(self._accept)  # anew in a copy
        self.options.change(values)

    @property
    def pipeline(self) -> Language | None:
        """The pipeline that it was made for, None after it was pickled or copied by itself."""
        return None if self._reference is None else self._reference.get()

    def __getattr__(self, name: str) -> Any:
        options = self.__dict__.get("options")
        if options is not None and name in options.names():
            return getattr(options, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        options = self.__dict__.get("options")
        is_property = isinstance(getattr(type(self), name, None), property)
        if name.startswith("_") or options is None or is_property:
            super().__setattr__(name, value)
        elif name in options.names():
            self.cfg = {name: value}
        elif near := nearest(name, options.names()):
            raise ConfigError(f"'{options.title}' has no option '{name}'. Did you mean '{near}'?")
        else:
            super().__setattr__(name, value)

    def _check_options(self, options: Any) -> None:
        """Raise `ConfigError` for options that the component cannot work with."""

    def _accept(self, options: Options, values: Mapping[str, Any]) -> None:
        """Check a change, and have the pipeline's config, which is saved with it, say the same."""
        self._check_options(options)
        nlp = self.pipeline
        components: list[tuple[str, Any]] = [] if nlp is None else nlp.components
        for key, pipe in components:
            if pipe is self:
                nlp._pipe_configs[key].update(deepcopy(dict(values)))  # type: ignore[union-attr]


class _PipelineReference:
    """The pipeline that a component stands in; it is not kept alive, copied or pickled.

    A copy of the whole pipeline refers to the copy.
    """

    def __init__(self, nlp: Language) -> None:
        self._reference = ref(nlp)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def __deepcopy__(self, memo: dict[int, Any]) -> "_PipelineReference | None":
        copied = memo.get(id(self.get()))
        return None if copied is None else _PipelineReference(copied)

    def get(self) -> Language | None:
        """The pipeline, None where it is gone."""
        return self._reference()
