"""An attribute of the word with a resource, as another package would have it.

`topic(NAME)` is the number of the topic that a file gives a word. The config names the file:

    [components.cascade_segmenter.model.templates.resources]
    NAME = "topics.tsv"
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spacy_cascade import TemplateError
from spacy_cascade.features.attributes import Attribute, Options, WordAttribute, Words, chosen
from spacy_cascade.features.resources import InvalidArray, Resource, ResourceSpec, Tokenize
from spacy_cascade.features.strings import hash_strings
from spacy_cascade.numeric.arrays import Array, Arrays, Shapes
from spacy_cascade.numeric.index import KeyIndex
from spacy_cascade.types import Ints1d, Keys1d

MAXIMUM = 1000


class Topics(Resource):
    """Topics of words. index: hashes of the words. numbers: int32 `[n]`."""

    def __init__(self, index: KeyIndex, numbers: Ints1d) -> None:
        self.index, self.numbers = index, numbers

    @classmethod
    def read(cls, name: str, settings: Any, tokenize: Tokenize) -> "Topics":
        try:
            lines = Path(settings).read_text(encoding="utf8").splitlines()
            pairs = dict(line.split("\t") for line in lines)
            numbers = np.array(list(pairs.values()), dtype=np.int32)
        except (OSError, ValueError) as error:
            raise TemplateError(f"Cannot read the topics '{name}': {error}.") from None
        return cls(KeyIndex(hash_strings(pairs)), numbers)

    def arrays(self) -> Arrays:
        return {"keys": self.index.keys, "numbers": self.numbers}

    @classmethod
    def shapes(cls, arrays: Mapping[str, Array], settings: Any) -> Shapes:
        size = (arrays["keys"].size if "keys" in arrays else 0,)
        return {"keys": (size, "u8"), "numbers": (size, "i4")}

    @classmethod
    def check(cls, arrays: Mapping[str, Array]) -> None:
        if arrays["numbers"].max(initial=0) > MAXIMUM:
            raise InvalidArray("numbers", f"has topics beyond {MAXIMUM}")

    @classmethod
    def restore(cls, arrays: Mapping[str, Array], settings: Any) -> "Topics":
        return cls(KeyIndex(arrays["keys"].astype(np.uint64)), arrays["numbers"].astype(np.int32))


class Topic(WordAttribute):
    @classmethod
    def expand(cls, name: str, argument: str | None, options: Options) -> Iterable[Attribute]:
        for key in chosen(argument, "resource", options.resources):
            spec = ResourceSpec(Topics, name, key, options.resources[key])
            yield cls(f"{name}({key})", spec)

    def values(self, words: Words, resource: Topics) -> Keys1d:
        entries = resource.index.lookup(hash_strings(words.texts))
        return np.where(entries < 0, 0, resource.numbers[entries] + 1).astype(np.uint64)

    def describe(self, text: str, code: int, resource: Topics) -> str:
        (entry,) = resource.index.lookup(hash_strings([text]))
        return f"c{resource.numbers[entry]}"
