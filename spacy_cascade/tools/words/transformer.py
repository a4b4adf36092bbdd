"""What a transformer gives out for pieces of words that stand alone, and for words in their text.

An output is the mean of the last three layers. Bommasani et al. (2020), "Interpreting pretrained
contextualized representations via reductions to static embeddings", compare such vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ...errors import ConfigError
from ...extras import library
from ...pipeline.progress import progress
from ...types import Reals2d

_LAYERS = 3
_BATCH = 256
"""Pieces that are passed through at once."""
_LONGEST = 126
"""Pieces of a text that are passed through together; more of them tell little more of a word."""
_TEXTS = 32
_SORTED = 64 * _TEXTS
"""Parts of texts that are sorted by their length, so that those of a batch are about as long."""


class Transformer:
    """A pretrained transformer, on the processor, with its tokenizer."""

    def __init__(self, tokenizer: Any, model: Any) -> None:
        self.tokenizer, self._model = tokenizer, model
        self._before, self._after = _special_around(tokenizer)
        # Byte-level tokenizers mark the space before a word, so there has to be one.
        self._lead = " " if tokenizer.tokenize("a") != tokenizer.tokenize(" a") else ""

    @classmethod
    def load(cls, source: str, threads: int) -> Transformer:
        """The transformer in a folder, or of a name.

        threads: with the same number of them, one machine gives the same outputs each time. Raises
        `ConfigError` without the extra, and for what cannot be loaded.
        """
        transformers = library("transformers", "transformers", "Reading a transformer")
        torch = library("torch", "transformers", "Reading a transformer")
        torch.set_num_threads(threads)
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source)
            model = transformers.AutoModel.from_pretrained(source, dtype=torch.float32)
        except Exception as error:  # Errors of many kinds come from files of others.
            raise ConfigError(
                f"Cannot load a transformer from {source}: {_first_line(error)} Give a folder with "
                "config.json, weights and the files of its tokenizer, or a name on a hub that can "
                "be reached."
            ) from error
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        return cls(tokenizer, model.eval())

    def of_pieces(self, numbers: Sequence[int]) -> Reals2d:
        """The output of each piece, alone between the special tokens, float32 `[P, H]`."""
        pieces = np.array(numbers, dtype=np.int64)[:, None]
        around = [np.tile(np.array(part, dtype=np.int64), (len(pieces), 1))
                  for part in (self._before, self._after)]  # fmt: skip
        rows = np.hstack([around[0], pieces, around[1]])
        parts = []
        with progress("Passing pieces through", total=len(rows), unit="pieces") as bar:
            for begin in range(0, len(rows), _BATCH):
                batch = rows[begin : begin + _BATCH]
                parts.append(self._outputs(batch, np.ones_like(batch))[:, len(self._before)])
                bar.update(len(batch))
        return np.concatenate(parts)

    def over_contexts(self, texts: Iterable[Sequence[str]], words: Sequence[str]) -> Reals2d:
        """The mean output of each word over its places in texts, float32 `[V, H]`.

        texts: the words of each. words: distinct ones that the texts have.
        """
        number = {word: i for i, word in enumerate(words)}
        sums, counts = np.zeros((len(words), self.width)), np.zeros(len(words))
        parts = self._parts(texts, number)
        with progress("Passing text through", unit="parts") as bar:
            while block := sorted(islice(parts, _SORTED), key=lambda part: len(part[0])):
                for begin in range(0, len(block), _TEXTS):
                    self._add(block[begin : begin + _TEXTS], sums, counts)
                    bar.update(len(block[begin : begin + _TEXTS]))
        return np.asarray(sums / np.maximum(counts, 1)[:, None], dtype=np.float32)

    @property
    def width(self) -> int:
        """Numbers in an output."""
        return int(self._model.config.hidden_size)

    def _parts(
        self, texts: Iterable[Sequence[str]], number: Mapping[str, int]
    ) -> Iterator[tuple[list[int], list[int], list[float]]]:
        """Parts of texts: their pieces, the number of each one's word, and its share of the word.

        The number is -1 for a word that is not counted.
        """
        known: dict[str, list[int]] = {}
        for text in texts:
            pieces, owners, shares = list[int](), list[int](), list[float]()
            for word in text:
                if word not in known:
                    found = self.tokenizer(self._lead + word, add_special_tokens=False)
                    known[word] = found["input_ids"][:_LONGEST]
                if pieces and len(pieces) + len(known[word]) > _LONGEST:
                    yield pieces, owners, shares
                    pieces, owners, shares = [], [], []
                pieces += known[word]
                owners += [number.get(word, -1)] * len(known[word])
                shares += [1 / max(1, len(known[word]))] * len(known[word])
            if pieces:
                yield pieces, owners, shares

    def _add(
        self, parts: Sequence[tuple[list[int], list[int], list[float]]], sums: Any, counts: Any
    ) -> None:
        """Add the outputs of words, each the mean of its pieces, and how many there are."""
        rows = [[*self._before, *pieces, *self._after] for pieces, _, _ in parts]
        longest, padding = max(map(len, rows)), self.tokenizer.pad_token_id or 0
        padded = np.full((len(rows), longest), padding, dtype=np.int64)
        mask = np.zeros_like(padded)
        owner, share = np.full(padded.shape, -1), np.zeros(padded.shape)
        for i, (row, (pieces, owners, shares)) in enumerate(zip(rows, parts, strict=True)):
            padded[i, : len(row)], mask[i, : len(row)] = row, 1
            inside = slice(len(self._before), len(self._before) + len(pieces))
            owner[i, inside], share[i, inside] = owners, shares
        is_counted = owner >= 0
        outputs = self._outputs(padded, mask)[is_counted] * share[is_counted][:, None]
        np.add.at(sums, owner[is_counted], outputs)
        np.add.at(counts, owner[is_counted], share[is_counted])

    def _outputs(self, rows: Any, mask: Any) -> Any:
        """Outputs float32 `[n, L, H]` of rows of pieces; mask: 0 where a row has ended."""
        import torch

        with torch.inference_mode():
            layers = self._model(
                input_ids=torch.from_numpy(rows), attention_mask=torch.from_numpy(mask),
                output_hidden_states=True,
            ).hidden_states  # fmt: skip
            return torch.stack(layers[1:][-_LAYERS:]).mean(dim=0).numpy()


def _special_around(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The special tokens that a tokenizer puts before a text and after it."""
    whole = tokenizer("a")["input_ids"]
    inside = tokenizer("a", add_special_tokens=False)["input_ids"]
    for begin in range(len(whole) - len(inside) + 1):
        if whole[begin : begin + len(inside)] == inside:
            return whole[:begin], whole[begin + len(inside) :]
    return [], []


def _first_line(error: Exception) -> str:
    text = next(iter(str(error).strip().splitlines()), "").strip() or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."
