"""Everything that experiments use of `spacy_cascade` besides spaCy's interface.

Functions of the package are imported when they are called, so that no process holds modules that it
does not need. Settings of its configs have their names here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .timing import Stopwatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.training import Example

    Floats2d = NDArray[np.float32]

SEGMENTER, CLASSIFIER, RERANKER = "cascade_segmenter", "cascade_classifier", "cascade_reranker"
STAGES = (SEGMENTER, CLASSIFIER)
Settings = dict[str, Any]
"""Settings of a config by their dotted names."""
WITHOUT_PENALTY: Settings = {"components.cascade_types.trainer.C": 0.0}
"""Settings of `icrf.cfg` that leave its two chains independent: CRF + CRF."""
REJECTING: Settings = {
    f"components.{CLASSIFIER}.reject": True,
    "training.annotating_components": [SEGMENTER],
}
"""The classifier may reject spans that the segmenter finds."""

TOKENS_GIVEN: Settings = {"@readers": "spacy_cascade.Corpus.v1", "gold_inputs": ["sentences"]}
"""The reader of a corpus that shows components its own tokens and sentences."""


def for_stages(setting: str, value: object) -> Settings:
    """A setting in both stages, such as `trainer.threads`."""
    return {f"components.{name}.{setting}": value for name in STAGES}


def component(nlp: Language, name: str) -> Any:
    """A component, of a class that type checkers do not know."""
    return nlp.get_pipe(name)


def weights(nlp: Language, name: str) -> Any:
    """Weights of a component, an array `[features, labels]`."""
    return component(nlp, name).model.get_param("W")


def size(nlp: Language, name: str) -> dict[str, int]:
    array = weights(nlp, name)
    return {"features": int(array.shape[0]), "weights": int(array.size)}


def read_examples(path: str, nlp: Language) -> list[Example]:
    """The examples of a `.spacy` file, as the config of the pipeline has them read for training."""
    from spacy_cascade.pipeline.readers import examples_for

    return list(examples_for(nlp, Path(path)))


KNOWLEDGE = "spacy_cascade.English.v1"
"""The registered name of the word knowledge that comes with the package."""
ALONE: Settings = {"no_words": True}
"""The choices of `init --no-words`, besides those of `init`."""


@cache
def _tables() -> dict[str, Any]:
    from spacy_cascade.systems.words.sources import read_tables

    return dict(read_tables({"english": {"@misc": KNOWLEDGE}}))


def word_clusters(texts: Sequence[str]) -> list[list[str]]:
    """The clusters of words in `KNOWLEDGE`: for each source and size their names, "" for none."""
    from spacy_cascade.systems.words.table import values_of

    found = []
    for table in _tables().values():
        codes = table.word_codes(texts)
        for size in range(len(table.sizes)):
            clusters = values_of(codes, size).tolist()
            found.append([str(cluster) if cluster else "" for cluster in clusters])
    return found


def word_vectors(texts: Sequence[str]) -> Floats2d:
    """The vectors of words in `KNOWLEDGE`, float32 `[n, D]`."""
    (pieces,) = (table.pieces for table in _tables().values() if table.pieces is not None)
    vectors: Floats2d = pieces.vectors(texts)
    return vectors


def write_training_config(
    output: str,
    train: str,
    dev: str,
    lang: str,
    recipe: str | None = None,
    choices: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write the training config that `spacy cascade init` makes.

    train, dev: the corpora that it is for. recipe: its settings for an unknown corpus; None for
    those that `init --train` chooses for this one, where it is given further choices. Returns the
    seconds, and whether the config has word knowledge.
    """
    from spacy_cascade.tools.recipes import Choices, Recipe, config_text, make_config
    from spacy_cascade.tools.recipes.suggesting import look_at, suggest

    watch = Stopwatch()
    with watch:
        if recipe is None:
            given = {"train": Path(train), "dev": Path(dev), "lang": lang, **(choices or {})}
            config = suggest(look_at(Path(train), Path(dev), given), given).config
        else:
            config = make_config(Choices(lang=lang, recipe=Recipe(recipe)))
            config["paths"].update({"train": train, "dev": dev})
        text = config_text(config)
        Path(output).write_text(text, encoding="utf8")
    return {"seconds": watch.passed, "has_words": KNOWLEDGE in text}


def train_levels(train: str, dev: str, model: str, lang: str, kind: str) -> dict[str, Any]:
    """Train what `init` chooses for nested spans, and save it; the processor seconds.

    kind: `nested`, or `flat` for the entities of `doc.ents` alone.
    """
    from dataclasses import replace

    from spacy.vocab import Vocab

    from spacy_cascade.pipeline.readers import read_docs
    from spacy_cascade.tools.recipes.settings import with_settings
    from spacy_cascade.tools.recipes.suggesting import look_at, suggest
    from spacy_cascade.workflows.folds import train_pipeline

    profile = look_at(Path(train), Path(dev), {"lang": lang})
    if kind == "flat":
        profile = replace(profile, nested=None)
    given = {"train": Path(train), "dev": Path(dev), "lang": lang}
    config = suggest(profile, given).config
    readers = {f"corpora.{part}": {**TOKENS_GIVEN, "path": None} for part in ("train", "dev")}
    docs, watch = read_docs(Path(train), Vocab()), Stopwatch()
    with watch:
        nlp = train_pipeline(with_settings(config, readers), docs, Path(dev))
    nlp.to_disk(model)
    return {"seconds": watch.computed, "pipeline": nlp.pipe_names}


def convert_columns(source: str, output: Path, spacing: str, lang: str) -> dict[str, int]:
    """Convert a column file as `spacy cascade convert` does, and count entities by label.

    spacing: one of the values of its option. lang: for natural spacing.
    """
    from spacy_cascade.tools.formats.columns import read_columns
    from spacy_cascade.tools.formats.docs import write_documents
    from spacy_cascade.tools.formats.spacing import Spacing

    documents = list(read_columns(source))
    return dict(write_documents(documents, output, spacing=Spacing(spacing), lang=lang).entities)


def calibrate(nlp: Language, examples: Sequence[Example]) -> tuple[Language, dict[str, float]]:
    """A copy with calibrated confidences, and the temperature of each component."""
    from spacy_cascade.workflows.calibrate import calibrate

    calibrated, found = calibrate(nlp, examples)
    return calibrated, {result.component: result.temperature for result in found}


def learn_unlabelled(
    config: str,
    train: str,
    dev: str,
    unlabelled: str,
    method: str,
    rounds: int,
    overrides: Settings,
    clusters: str = "",
) -> dict[str, Any]:
    """What labelled and unlabelled Docs give, and how right it was (`systems.unlabelled`).

    overrides: settings of the config. clusters: a file of word clusters that the pipeline looks at.
    """
    from spacy.vocab import Vocab

    from spacy_cascade.pipeline.readers import read_docs
    from spacy_cascade.systems.unlabelled.pseudo_labels import Confidence
    from spacy_cascade.systems.unlabelled.reporting import as_json
    from spacy_cascade.systems.unlabelled.rounds import learn_unlabelled
    from spacy_cascade.systems.unlabelled.teachers import Method
    from spacy_cascade.tools.recipes.settings import with_settings
    from spacy_cascade.workflows.jackknife import read_config

    settings = with_settings(read_config(Path(config)), overrides)
    if clusters:
        for component in settings["components"].values():
            component["model"]["templates"]["words"] = {"own": clusters}
    docs, sure, watch = read_docs(Path(unlabelled), Vocab()), Confidence(), Stopwatch()
    with watch:
        _, learnt = learn_unlabelled(
            settings, Path(train), Path(dev), docs,
            method=Method(method), sure=sure, rounds=rounds,
        )  # fmt: skip
    return {**as_json(learnt, sure), "seconds": watch.passed}


def write_clusters(sources: Sequence[str], output: str, settings: Settings) -> dict[str, int]:
    """Make word clusters of Docs, as `words make` does; their number, and that of words."""
    from spacy_cascade.systems.words.table import About
    from spacy_cascade.tools.words.making import Settings as TableSettings
    from spacy_cascade.tools.words.making import make_table

    table = make_table(sources, Path(output), TableSettings(**settings), About("own"))
    return {"clusters": table.sizes[-1], "words": len(table.arrays()["keys"])}


def show_ranked_spans(pipe: Any, docs: Sequence[Any], candidates: Sequence[Any], rank: int) -> None:
    """Let Docs have the spans of a component that its path of some rank has."""
    from spacy_cascade.pipeline.spans.entities import write_group
    from spacy_cascade.pipeline.spans.placing import make_spans
    from spacy_cascade.pipeline.spans.tables import table_of

    labels = [pipe.vocab.strings.add(label) for label in pipe.labels]
    for doc, of_doc in zip(docs, candidates, strict=True):
        spans = make_spans(doc, of_doc.spans[rank], labels)
        write_group(doc, pipe.spans_key, table_of(spans), None)


def rows_of_path(pipe: Any, path: Any, starts: Any) -> set[tuple[int, int, int]]:
    """Start, end and label number of the spans of tags `[T]`."""
    from spacy_cascade.pipeline.spans.placing import rows_of

    return set(rows_of(pipe.tag_set.spans(path, starts)))


def gold_rows(pipe: Any, examples: Sequence[Example], starts: Any) -> set[tuple[int, int, int]]:
    """As `rows_of_path`, of the spans that a component should find."""
    from spacy_cascade.pipeline.reading import read

    tokens = read(pipe, [example.predicted for example in examples])
    tags = pipe._gold_labels(tokens, [pipe.gold.read(example) for example in examples])
    return rows_of_path(pipe, tags.clip(min=0), starts)


def with_words(reference: Doc) -> Doc:
    """A Doc with the words and sentences of another, and no other annotation."""
    from spacy_cascade.pipeline.readers import DEFAULT, input_doc

    return input_doc(reference, DEFAULT, reference.vocab)


def train_cascade(
    nlp: Language, references: Sequence[Doc], updates: int, temperature: float
) -> None:
    """Train a cascade on Docs; of fewer than 1000 all features are kept, as `fit` does."""
    from spacy.training import Example

    settings = {"model": {"min_count": 1}} if len(references) < 1000 else {}
    for factory in STAGES:
        nlp.add_pipe(factory, config={**settings, "temperature": temperature})
    examples = [Example(with_words(doc), doc) for doc in references]
    nlp.initialize(lambda: examples)
    for _ in range(updates):
        nlp.update(examples)


def suggested(nlp: Language, docs: Sequence[Doc], n: int, options: Mapping[str, Any]) -> list[int]:
    """Numbers of the Docs, a sentence each, that `suggest` chooses, filled up by their order."""
    from spacy_cascade.tools.annotation.suggest import Options, suggest

    chosen = [found.source for found in suggest(nlp, docs, Options(n=n, **options))]
    others = (i for i in range(len(docs)) if i not in set(chosen))
    return [*chosen, *islice(others, n - len(chosen))]
