"""Options as attributes of a component, which its file and the config of its pipeline follow.

Which of the two counts where they disagree: docs/components.md, "What is saved".
"""

from collections.abc import Container, Mapping
from typing import Any
from weakref import ref

from spacy.language import Language

from ..errors import ConfigError, ModelFileError
from .options import Options, nearest

_SETTINGS = "cfg"
"""Name of the settings among the parts of a component, as spaCy's own components call them."""
_SHOWN = 100


class OptionAttributes:
    """A component whose options are attributes that can be read and set.

    A value that is set later is checked, honoured, and written to the config of the pipeline; a
    misspelt name is an error.
    """

    options: Options

    def __init__(self, nlp: Language, options: Options) -> None:
        self._reference: _PipelineReference | None = _PipelineReference(nlp)
        self._config_counts = _is_being_loaded(nlp, options.title)
        self.options = options
        options.tell(self._accept)

    @property
    def cfg(self) -> dict[str, Any]:
        """All options by name, as spaCy's own tools read and set them; a copy."""
        return self.options.as_dict()

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

    def _settings_to_save(self, exclude: Container[str]) -> dict[str, Any]:
        """What the file of the component says of its options; exclude: as spaCy's `to_bytes`."""
        return {} if _SETTINGS in exclude else self.cfg

    def _check_settings(self, settings: object) -> None:
        """Raise `ModelFileError` for settings of a file that the component cannot have."""
        if not isinstance(settings, dict) or not all(isinstance(name, str) for name in settings):
            raise ModelFileError(f"The file of '{self.options.title}' has no table of settings.")
        own = self.options.as_dict()
        for name in sorted(self.options.fixed() & settings.keys()):
            if settings[name] != own[name]:
                difference = f"{settings[name]!r}"[:_SHOWN] + f" instead of {own[name]!r}"
                raise ModelFileError(
                    f"The saved model was trained with another '{name}' than the configuration "
                    f"states ({difference}). Load it with its own config.cfg."
                )
        try:
            self._check_options(self.options.with_values(settings))
        except ConfigError as error:
            raise ModelFileError(f"The saved settings are not valid. {error}") from None

    def _take_settings(self, settings: Mapping[str, Any], exclude: Container[str]) -> None:
        """Have the settings of a file, which `_check_settings` has passed.

        Not those that are excluded, nor where the config counts (`_is_being_loaded`).
        """
        config_counts, self._config_counts = self._config_counts, False
        if not config_counts and _SETTINGS not in exclude:
            self.cfg = settings

    def _check_options(self, options: Any) -> None:
        """Raise `ConfigError` for options that the component cannot work with."""

    def _accept(self, options: Options, values: Mapping[str, Any]) -> None:
        """Check a change, and have the pipeline's config, which is saved with it, say the same."""
        self._check_options(options)
        nlp = self.pipeline
        components: list[tuple[str, Any]] = [] if nlp is None else nlp.components
        for key, pipe in components:
            if pipe is self:
                nlp._pipe_configs[key].update(values)  # type: ignore[union-attr]


def _is_being_loaded(nlp: Language, name: str) -> bool:
    """Whether a component is made for a pipeline that is loaded as a whole, as by `spacy.load`.

    It is made with the settings of that pipeline's config, which follows every assignment and may
    have been edited, or overridden while loading. So these count more than those in the file of
    the component, the first time that one is read. A pipeline that is loaded has its meta data
    before it has its components, and its config after them; one to which components are added by
    hand has no such meta data.
    """
    return name in nlp._meta.get("components", ()) and name not in nlp._config.get("components", ())


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
