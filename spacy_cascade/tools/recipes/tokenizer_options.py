"""What `debug-data` says of the tokenizer of a config and of others."""

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.training import Example
from thinc.api import Config

from ...cli.output import counted, percent, print_info, print_line, print_table, print_warning
from ..reports import corpus
from ..tokenizers.choosing import TokenizerMeasure, best_tokenizer, measure_tokenizer

_WORTH_A_CHANGE = 0.002
"""A tokenizer is suggested if it is better by so much (`TokenizerMeasure.score`)."""


def print_tokenizers(nlp: Language, examples: Sequence[Example]) -> None:
    """Show how the tokenizer of a pipeline and others agree with the train corpus."""
    _print_misaligned(examples)
    docs = [example.reference for example in examples]
    others = best_tokenizer(docs, str(nlp.lang))
    if not others:
        print_info(
            "The corpus does not say where spaces are, so training takes its words as tokens, and "
            "tokenizers cannot be compared. On raw text the pipeline may split words otherwise."
        )
        return
    own: dict[str, Any] = nlp.config["nlp"]["tokenizer"]
    chosen = measure_tokenizer(own, docs, nlp)
    rows = [_row("the config's", chosen), *(_row(found.name, found) for found in _by_name(others))]
    header = ("tokenizer", "entities that do not align", "share %", "boundaries found %", "right %")
    print_table(rows, header, "lrrrr")
    best = others[0]
    if best.score > chosen.score + _WORTH_A_CHANGE:
        print_warning(
            f"{best.name} suits this corpus better than the config's tokenizer. Put this into the "
            "config in place of [nlp.tokenizer]:"
        )
        print_section(best.tokenizer)


def _print_misaligned(examples: Sequence[Example]) -> None:
    misaligned = corpus.count_misaligned(examples)
    n_entities = sum(len(example.reference.ents) for example in examples)
    if misaligned:
        share = percent(misaligned / n_entities)
        print_warning(
            f"{counted(misaligned, 'entity', 'entities')} in train ({share} %) do not match the "
            "token boundaries of the pipeline, and are not learnt. Choose another [nlp.tokenizer]."
        )


def _by_name(measures: Sequence[TokenizerMeasure]) -> list[TokenizerMeasure]:
    """The best one of each name."""
    return list({found.name: found for found in reversed(measures)}.values())[::-1]


def _row(name: str, found: TokenizerMeasure) -> tuple[str, ...]:
    return (
        name, f"{found.misaligned:,}", percent(1 - found.aligned), percent(found.recall),
        percent(found.precision),
    )  # fmt: skip


def print_section(tokenizer: dict[str, Any]) -> None:
    """Print a tokenizer's section as a config has it."""
    lines = Config({"nlp": {"tokenizer": tokenizer}}).to_str().split("\n")
    for line in lines:
        if line and line != "[nlp]":
            print_line(line)
