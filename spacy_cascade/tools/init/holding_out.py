"""Docs to score on, taken out of a corpus that comes without them."""

from collections.abc import Sequence
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ...cli.options import refuse_existing
from ...cli.output import counted, print_good, print_warning
from ...errors import ConfigError
from ...files import replace_file
from ...pipeline.readers import read_docs

SHARE = 0.1


def split(docs: Sequence[Doc], share: float) -> tuple[list[Doc], list[Doc]]:
    """The Docs to train on and those to hold out, both in the order of the corpus.

    The ones to hold out are spread evenly. Docs of equal text stay together: share is that of the
    texts, of which at least one goes to each side. Where all are equal, nothing is held out.
    Raises `ConfigError` for a share that is not between 0 and 1.
    """
    if not 0.0 < share < 1.0:
        raise ConfigError(f"The share to hold out is a number between 0 and 1, not {share}.")
    texts = list(dict.fromkeys(doc.text for doc in docs))
    n = min(max(1, round(share * len(texts))), len(texts) - 1)
    chosen = {texts[i * len(texts) // n] for i in range(n)}
    return [d for d in docs if d.text not in chosen], [d for d in docs if d.text in chosen]


def make_parts(corpus: Path, share: float, output: Path, force: bool) -> tuple[Path, Path | None]:
    """Files to train on and to score on beside a config, made of a corpus; it says so.

    Where the part to score on would have no entities, the corpus stays whole, and the second is
    None. Raises `ConfigError` where another file is there already, or belongs to the corpus, and
    as `split`.
    """
    docs = read_docs(corpus, Vocab())
    kept, held = split(docs, share)
    if not any(doc.ents or any(doc.spans.values()) for doc in held):
        print_warning(
            f"Nothing is held out of {corpus}: the {counted(len(held), 'Doc')} would have no "
            "entities to score on. Give --dev, or more Docs to --hold-out."
        )
        return corpus, None
    train, dev = (output.with_suffix(f".{part}.spacy") for part in ("train", "dev"))
    made = {path: DocBin(docs=docs, store_user_data=True).to_bytes()
            for path, docs in ((train, kept), (dev, held))}  # fmt: skip
    for path, data in made.items():
        if corpus.resolve() in (path.resolve(), *path.resolve().parents):
            raise ConfigError(
                f"{path} would take the place of {corpus}, or be in it. Give OUTPUT another name."
            )
        if path.exists() and path.read_bytes() != data:
            refuse_existing(path, force)
    for path, data in made.items():
        replace_file(path, data)
    print_good(
        f"{len(held):,} of the {counted(len(docs), 'Doc')} of {corpus} are held out to score on "
        f"-> {dev}, the others -> {train}"
    )
    return train, dev
