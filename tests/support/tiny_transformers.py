"""Transformers with random weights and few pieces, one with each kind of tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unlabelled_text import paragraphs

KINDS = ("word-piece", "byte-pair", "unigram")
TEXT = [*paragraphs(50), "Café in Zürich", "the cafés of Łódź, the café", "日本 and the naïve"] * 3


def save_tiny(folder: Path, kind: str, layers: int = 4) -> None:
    """Write a transformer with a tokenizer of a kind, trained on `TEXT`."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer, special = _tokenizer(kind)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=layers,
        num_attention_heads=2, intermediate_size=16, max_position_embeddings=140,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)


def _tokenizer(kind: str) -> tuple[Any, dict[str, str]]:
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[unused0]"]
    if kind == "word-piece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer: Any = trainers.WordPieceTrainer(vocab_size=150, special_tokens=special)
    elif kind == "byte-pair":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=400, special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )  # fmt: skip
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="[UNK]")
    tokenizer.train_from_iterator(TEXT, trainer)
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ids
    )
    return tokenizer, names
