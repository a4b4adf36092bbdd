"""Pipelines of every system, each trained by one function or by changes of a shipped config.

They do not depend on shipped configs but for `memb.cfg` and `ocr.cfg`.
"""

from __future__ import annotations

import gzip
import io
import tempfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Corpus
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config
from spacy.vocab import Vocab
from thinc.api import Config

from helpers import PROJECT, blank, sample_docs
from spacy_cascade.systems.ensembles.distilling import distill
from spacy_cascade.systems.ensembles.workflow import Drawing, EnsembleTask, train_ensemble
from spacy_cascade.systems.reranking.training import train_reranker
from spacy_cascade.systems.second_look.workflow import train_passes
from spacy_cascade.tools.annotation.adapting import adapt

Changes = Mapping[str, Any]
"""Values for a config by their dotted names; a whole section where the value is a mapping."""

SEGMENTER, CLASSIFIER = "components.cascade_segmenter", "components.cascade_classifier"
STAGES = (SEGMENTER, CLASSIFIER)


def registered(name: str, **settings: Any) -> dict[str, Any]:
    """A block of a config: what is registered under a name of this package, and its settings."""
    return {"@misc": f"spacy_cascade.{name}", **settings}


def architecture(name: str, templates: str, **settings: Any) -> dict[str, Any]:
    return {
        "@architectures": f"spacy_cascade.{name}",
        "templates": registered(templates),
        **settings,
    }


def chain(templates: str, min_count: int, label_pairs: bool = False) -> dict[str, Any]:
    return architecture("LinearChain.v1", templates, min_count=min_count, label_pairs=label_pairs)


def of(component: str, **settings: Any) -> dict[str, Any]:
    """Changes of one component; two underscores stand for a dot."""
    return {f"{component}.{name.replace('__', '.')}": value for name, value in settings.items()}


TABLES = chain("JnlpbaTemplates.v1", 20, label_pairs=True)
LIKELIHOOD, HINGE = registered("Likelihood.v2"), registered("Hinge.v2", kappa=1.0)
JOINTLY = registered("TrainedJointly.v1")
BATCH = registered("LBFGS.v1", iterations=12, threads=0)
ONE_PHASE = {
    "nlp.pipeline": ["cascade_segmenter"],
    **of(SEGMENTER, scheme="IOB2", typed=True, set_ents=True),
}
SEMI_MARKOV = architecture(
    "SemiMarkov.v1", "SegmentationTemplates.v1", segments=registered("SegmentTemplates.v1"),
    min_count=5, segment_min_count=2, label_pairs=True, longest=None,
)  # fmt: skip
READING = {
    "corpora.train.@readers": "spacy_cascade.Corpus.v1",
    "corpora.train.gold_inputs": ["sentences", "tags"],
    "corpora.dev.@readers": "spacy_cascade.Corpus.v1",
    "corpora.dev.gold_inputs": ["sentences", "tags"],
}
STREAM = {
    "training.max_epochs": -1,
    "training.batcher": {
        "@batchers": "spacy.batch_by_words.v1", "size": 1000, "tolerance": 0.2,
        "discard_oversize": False, "get_length": None,
    },
}  # fmt: skip
CHUNKS = {
    "factory": "cascade_segmenter",
    "scheme": "IOB2",
    "typed": True,
    "gold_key": "chunks",
    "spans_key": "chunks",
    "confidence": False,
    "model": chain("ChunkingTemplates.v1", 2),
    "loss": LIKELIHOOD,
    "penalty": registered("Gaussian.v1", sigma=0.5),
    "trainer": JOINTLY,
    "scorer": {"@scorers": "spacy.spancat_scorer.v1"},
}
TYPES = {
    "factory": "cascade_segmenter",
    "scheme": "IOB2",
    "typed": True,
    "spans_key": "types",
    "set_ents": True,
    "confidence": True,
    "model": chain("SegmentationTemplates.v1", 5),
    "loss": LIKELIHOOD,
    "penalty": registered("Gaussian.v1", sigma=0.5),
    "trainer": registered(
        "JointLBFGS.v1", first="cascade_segmenter", C=0.001, iterations=12, threads=0
    ),
}
TAGGER = {
    "factory": "cascade_tagger",
    "overwrite": True,
    "penalty": None,
    "model": chain("TaggingTemplates.v1", 2),
    "loss": HINGE,
    "trainer": registered(
        "PassiveAggressive.v1", C=0.01, cost_augmented=True, average=True, average_power=1,
        passes=3, seed=0,
    ),
}  # fmt: skip


def looking_at_spans(key: str) -> list[str]:
    """Templates of a chain that looks at the spans of another one."""
    span = f"span({key})"
    return [f"{span}@-2..2", f"{span}@-1 & {span}", f"{span} & {span}@1", f"word & {span}"]


CONFIGS: dict[str, tuple[str, Changes]] = {
    "memb": ("memb", {}),
    "ocr": ("ocr", {}),
    "icrf": (
        "memb",
        {
            "nlp.pipeline": ["cascade_segmenter", "cascade_types"],
            **of(SEGMENTER, loss=LIKELIHOOD, penalty__sigma=0.231, trainer=JOINTLY),
            "components.cascade_types": TYPES,
            "components.cascade_types.model.templates.extra": looking_at_spans("cascade"),
            "training.max_steps": 9,
        },
    ),
    "crf": (
        "memb",
        {
            **ONE_PHASE,
            **of(SEGMENTER, model=TABLES, loss=LIKELIHOOD, penalty__sigma=0.4743),
            **of(SEGMENTER, trainer__iterations=6),
            "training.max_steps": 9,
        },
    ),
    "crf_online": (
        "ocr",
        {
            **ONE_PHASE,
            **of(SEGMENTER, model=TABLES, loss=HINGE, trainer__C=0.005),
            "training.max_epochs": 4,
            "training.eval_frequency": 7,
            "training.batcher.size": 28000,
        },
    ),
    "semi": ("memb", of(SEGMENTER, model=SEMI_MARKOV)),
    "semi_typed": ("memb", {**ONE_PHASE, **of(SEGMENTER, model=SEMI_MARKOV, penalty__sigma=0.5)}),
    "memm": (
        "memb",
        of(
            SEGMENTER,
            model=architecture("MaximumEntropyMarkov.v1", "SegmentationTemplates.v1", min_count=5),
        ),
    ),
    "higher_order": (
        "memb",
        of(
            SEGMENTER,
            model=architecture("HigherOrderChain.v1", "SegmentationTemplates.v1", min_count=5),
        ),
    ),
    "induced": (
        "memb",
        {f"{stage}.trainer": registered("Induction.v1", trainer=BATCH) for stage in STAGES},
    ),
    "tagger": (
        "ocr",
        {
            "nlp.pipeline": ["cascade_tagger"],
            "components.cascade_tagger": TAGGER,
            "training.max_epochs": 4,
            "training.eval_frequency": 3,
            "training.before_to_disk": None,
            "training.score_weights": {"tag_acc": 1.0},
        },
    ),
    "chunks": (
        "memb",
        {
            "nlp.pipeline": ["cascade_chunker", "cascade_types"],
            "nlp.tokenizer": {"@tokenizers": "spacy_cascade.SpaceTokenizer.v1"},
            **READING,
            "components.cascade_chunker": CHUNKS,
            "components.cascade_types": TYPES,
            "components.cascade_types.model.templates.extra": [
                "tag@-2..2", "tag@-1 & tag", *looking_at_spans("chunks"), "lower@recurrence-2",
            ],
            "components.cascade_types.trainer.first": "cascade_chunker",
            "training.before_to_disk": None,
            "training.score_weights": {"ents_f": 1.0},
        },
    ),
    "shards": (
        "memb",
        {
            **STREAM,
            **{
                f"{stage}.trainer": registered("Sharded.v1", tokens=500, trainer=BATCH)
                for stage in STAGES
            },
        },
    ),
    "stream": (
        "ocr",
        {
            **STREAM,
            **{f"{stage}.trainer.curvature": False for stage in STAGES},
            "training.max_steps": 12,
        },
    ),
    "overlapping": (
        "memb",
        {
            **of(SEGMENTER, overlapping=True, threshold=0.05),
            **of(CLASSIFIER, reject=True, threshold=0.2),
            "training.before_to_disk": None,
        },
    ),
    "abbreviations": (
        "memb",
        {
            f"{SEGMENTER}.model.templates.extra": [
                "abbreviation@-1..1", "seen_inside@long_form", "seen_inside@long_form_last",
            ],
            f"{CLASSIFIER}.model.templates.extra": [
                "suffix(3..4)@long_form", "suffix(3..5)@long_form_last",
            ],
        },
    ),
    "many_labels": (
        "memb",
        {
            **ONE_PHASE,
            **of(SEGMENTER, loss=LIKELIHOOD, model__label_pairs=False, model__min_count=2),
            "training.max_steps": 2,
        },
    ),
    "many_types": ("memb", {"training.max_steps": 2}),
}  # fmt: skip
"""A shipped config, and what is changed in it."""


def config_of(name: str, corpora: Path, more: Changes | None = None) -> Config:
    """The training config of a system of `CONFIGS` for the corpora of a folder."""
    base, changes = CONFIGS[name]
    overrides = {f"paths.{split}": str(corpora / f"{split}.spacy") for split in ("train", "dev")}
    config = load_config(PROJECT / "configs" / f"{base}.cfg", overrides=overrides, interpolate=True)
    for dotted, value in {**changes, **(more or {})}.items():
        *sections, last = dotted.split(".")
        section = config
        for one in sections:
            section = section.setdefault(one, {})
        section[last] = Config(value).copy() if isinstance(value, Mapping) else value
    if config["training"]["max_epochs"] < 0:  # the examples of a stream are not there beforehand
        seen = {one: {"corpus": config["corpora"]["train"]} for one in config["nlp"]["pipeline"]}
        config["initialize"] = {"components": seen}
    return config


def trained(config: Config) -> Language:
    """The best pipeline of `spacy train`, as it is loaded from disk."""
    with tempfile.TemporaryDirectory() as output:
        table = io.StringIO()
        train(init_nlp(config), Path(output), stdout=table, stderr=table)
        return spacy.load(Path(output) / "model-best")


def by_config(name: str, corpora: Path) -> Language:
    return trained(config_of(name, corpora))


def with_many_labels(name: str, corpora: Path) -> Language:
    """A system of `CONFIGS` with a label for each type and first two letters of the last word."""
    with tempfile.TemporaryDirectory() as folder:
        for split in ("train", "dev"):
            docs = docs_in(corpora / f"{split}.spacy")
            for doc in docs:
                finer = [(e.start, e.end, f"{e.label_}-{e[-1].lower_[:2]}") for e in doc.ents]
                doc.set_ents([Span(doc, *bounds) for bounds in finer], default="outside")
            DocBin(docs=docs).to_disk(Path(folder) / f"{split}.spacy")
        return trained(config_of(name, Path(folder)))


def with_words(corpora: Path) -> Language:
    """The cascade with clusters of words, which have nothing in common, and a term list."""
    terms = ["NF-kappa B", "T cells", "monocytes", "Jurkat", "IL-2", "HIV-1", "glucocorticoid"]
    words = {token.text for doc in docs_in(corpora / "train.spacy") for token in doc}
    lines = [f"{zlib.crc32(word.encode()) % 64:06b}\t{word}\t1\n" for word in sorted(words)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clusters.gz"
        with gzip.open(path, "wt", encoding="utf8") as file:
            file.writelines(lines)
        more = {f"{stage}.model.templates.words": {"words": str(path)} for stage in STAGES}
        lexicons = {"listed": registered("TermList.v1", source=terms)}
        more[f"{SEGMENTER}.model.templates.lexicons"] = lexicons
        return trained(config_of("memb", corpora, more))


def reranked(corpora: Path, **settings: Any) -> Language:
    paths = corpora / "train.spacy", corpora / "dev.spacy"
    nlp, _ = train_reranker(by_config("memb", corpora), *paths, **settings)
    return reloaded(nlp)


def ensemble(corpora: Path) -> Language:
    """Two cascades, each with some of the Docs and templates."""
    task = EnsembleTask(
        (config_of("memb", corpora, {"training.max_steps": 2}),), corpora / "train.spacy",
        corpora / "dev.spacy", 2, Drawing(features=0.7, data=0.7, seed=1),
    )  # fmt: skip
    nlp, _ = train_ensemble(task, 1, lambda member: None)
    return reloaded(nlp)


def distilled(corpora: Path) -> Language:
    """A cascade that has learnt from an ensemble, and from text that this has annotated."""
    train_path, dev_path = corpora / "train.spacy", corpora / "dev.spacy"
    config = config_of("memb", corpora, {"training.max_steps": 2})
    nlp, _ = distill(ensemble(corpora), config, train_path, dev_path, [dev_path], gold=0.5)
    return reloaded(nlp)


def second_look(corpora: Path) -> Language:
    """Two passes, the second of which looks at what the first has found."""
    config = config_of("memb", corpora, {"training.max_steps": 2})
    paths = corpora / "train.spacy", corpora / "dev.spacy"
    return reloaded(train_passes(config, *paths, folds=2).both)


def adapted(corpora: Path) -> Language:
    """The cascade, which has gone on with other Docs."""
    nlp = by_config("memb", corpora)
    adapt(nlp, list(Corpus(corpora / "dev.spacy")(nlp))[:3], updates=2)
    return reloaded(nlp)


def reloaded(nlp: Language) -> Language:
    """The pipeline as it is loaded from disk."""
    with tempfile.TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        return spacy.load(folder)


def docs_in(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


SYSTEMS: dict[str, Callable[[Path], Language]] = {
    **{name: partial(by_config, name) for name in CONFIGS},
    "many_labels": partial(with_many_labels, "many_labels"),
    "many_types": partial(with_many_labels, "many_types"),
    "words": with_words,
    "reranked": partial(reranked, folds=2, passes=3),
    "ensemble": ensemble,
    "distilled": distilled,
    "second_look": second_look,
    "adapted": adapted,
}
"""A trained pipeline for the folder of `train.spacy` and `dev.spacy`, as it is loaded from disk."""


def write_sample(folder: Path) -> None:
    """The sample corpus as `train.spacy` and `dev.spacy`, with tags and chunks made of shapes."""
    for split in ("train", "dev"):
        docs = sample_docs(blank().vocab, split)
        for doc in docs:
            for token in doc:
                token.tag_ = token.shape_[:2]
            doc.spans["chunks"] = [
                Span(doc, t.i, t.i + 1, f"{t.tag_}P") for t in doc if not t.is_alpha
            ]
        DocBin(docs=docs).to_disk(folder / f"{split}.spacy")
