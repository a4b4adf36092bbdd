"""The options of all components: each is declared here, and nowhere else."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ConfigError
from ..inference.schemes import SCHEMES
from ..systems.dictionaries.similarity import phrases
from .options import Options, above, at_least, between, one_of, option, values_of
from .spans.nbest import MOST


@dataclass
class SegmenterOptions(Options):
    """Options of `cascade_segmenter`."""

    component: ClassVar[str] = "cascade_segmenter"

    scheme: str = option(
        "BILOU",
        'how tags mark spans: `"BILOU"`, `"IOB2"`, or `"IO"`, under which spans of one label that '
        "touch become one. `BIO` means `IOB2`; `BILUO`, `IOBES` and `BIOES` mean `BILOU`",
        one_of(SCHEMES, BIO="IOB2", BILUO="BILOU", IOBES="BILOU", BIOES="BILOU"),
        is_fixed=True,
    )
    typed: bool = option(
        False,
        "keep the gold labels (a single-phase recogniser) instead of merging them into `ENT`",
        is_fixed=True,
    )
    gold_key: str | None = option(None, "`doc.spans` key of the gold spans; `null` for `doc.ents`")
    gold_labels: list[str] | None = option(
        None,
        "learn only gold spans with these labels, and count only these in scores; other gold spans "
        "are outside; `null` for all. A segmenter and its classifier need the same",
    )
    spans_key: str = option(
        "cascade", '`doc.spans` key of the spans found; their confidences are in `.attrs["scores"]`'
    )
    confidence: bool = option(True, "give each span its exact posterior probability")
    temperature: float = option(
        1.0,
        "number by which scores are divided for that "
        "([calibration](recipes.md#calibrated-confidences))",
        above(0),
    )
    threshold: float = option(
        0.0,
        "spans with less confidence are dropped. With `overlapping`, 0 lists what can become an "
        "entity: the spans that reach the threshold of the classifier, if there is one",
        between(0, 1),
    )
    label_thresholds: dict[str, float] = option(
        {}, "thresholds by label, in place of `threshold`", values_of(between(0, 1))
    )
    constrained: bool = option(
        False,
        "treat entities and blocked tokens that are already on the document as "
        "certain, and find the best spans around them "
        "([presets](partial_annotation.md))",
    )
    overlapping: bool = option(
        False,
        "list every span that reaches the threshold, even if spans overlap, "
        "instead of the best segmentation ([precision and "
        "recall](precision_and_recall.md))",
    )
    set_ents: bool = option(False, "write `doc.ents` too")
    n_best: int = option(
        1,
        "above 1: also write that many best segmentations of each sentence, at "
        "most 100 ([N best](nbest.md))",
        between(1, MOST),
    )
    joint_key: str | None = option(
        None,
        "`spans_key` of an earlier `cascade_segmenter` with `n_best` above 1: find what is most "
        "probable together with one of its segmentations, instead of given the best "
        "([recipes](recipes.md#two-chains-decoded-together))",
    )

    def check_together(self) -> None:
        check_thresholds(self)
        if self.overlapping and not self.confidence:
            raise ConfigError(
                f"'{self.title}' lists overlapping spans by their confidences, but has none. Set "
                "confidence = true, or overlapping = false."
            )
        if self.overlapping and self.n_best > 1:
            raise ConfigError(
                f"'{self.title}' lists overlapping spans, and no segmentation has them all. Set "
                "n_best = 1, or overlapping = false."
            )


@dataclass
class ClassifierOptions(Options):
    """Options of `cascade_classifier`."""

    component: ClassVar[str] = "cascade_classifier"

    spans_key: str | None = option(
        "cascade", "`doc.spans` key of the spans to type; `null` for `doc.ents`"
    )
    mention_labels: list[str] | None = option(
        None,
        "type only spans with these labels; `null` for all ([mentions of another "
        "component](typing_mentions.md))",
    )
    gold_key: str | None = option(None, "`doc.spans` key of the gold spans; `null` for `doc.ents`")
    gold_labels: list[str] | None = option(
        None,
        "learn only gold spans with these labels, and count only these in scores; other gold spans "
        "are outside; `null` for all. A segmenter and its classifier need the same",
    )
    reject: bool = option(
        False,
        "learn a class for wrong proposals; put the segmenter into `annotating_components`",
        is_fixed=True,
    )
    confidence: bool = option(
        True,
        "set `span._.confidence`, the probability of the type times that of the "
        "span; with `false` spans have none",
    )
    temperature: float = option(
        1.0, "number by which scores are divided for the probability of the type", above(0)
    )
    threshold: float = option(
        0.0, "spans with less confidence stay in `doc.spans` but become no entities", between(0, 1)
    )
    label_thresholds: dict[str, float] = option(
        {}, "thresholds by label, in place of `threshold`", values_of(between(0, 1))
    )
    set_ents: bool = option(True, "write `doc.ents`")

    def check_together(self) -> None:
        check_thresholds(self)


@dataclass
class RerankerOptions(Options):
    """Options of `cascade_reranker`."""

    component: ClassVar[str] = "cascade_reranker"

    spans_key: str = option(
        "cascade", "that of the segmenter (with `n_best` of 2 or more) and of the classifier"
    )
    weight: float = option(1.0, "weight of the type scores", at_least(0))
    scale: float = option(1.0, "weight of both stages' scores against what training adds", above(0))
    rate: float = option(0.1, "learning rate", above(0))
    keep_candidates: bool = option(False, "leave the N-best list on the document")
    set_ents: bool = option(True, "write `doc.ents`; only entities of the cascade are replaced")


@dataclass
class TaggerOptions(Options):
    """Options of `cascade_tagger`."""

    component: ClassVar[str] = "cascade_tagger"

    overwrite: bool = option(True, "replace tags that are already there")


@dataclass
class LinkerOptions(Options):
    """Options of `cascade_linker`."""

    component: ClassVar[str] = "cascade_linker"

    lists: dict[str, str] = option(
        {}, "term lists with ids by name, each a path; a new value is read by the next `initialize`"
    )
    entity_labels: dict[str, list[str]] = option(
        {},
        "for a list by its name, the labels of the entities that it links; without, an entity has "
        "the label of the term, where the term has one",
    )
    overwrite: bool = option(False, "replace `kb_id_` of entities that have one already")
    similarity: float = option(
        1.0,
        "below 1: an entity that equals no term is linked to the most similar one, if their "
        "Jaro-Winkler similarity is this or more",
        between(phrases.LEAST, 1),
    )

    def check_together(self) -> None:
        for name in sorted(self.entity_labels.keys() - self.lists.keys()):
            raise ConfigError(
                f"'{self.title}' has entity_labels for '{name}', but no such list. Its lists: "
                f"{', '.join(self.lists) or 'none'}."
            )


@dataclass
class EnsembleOptions(Options):
    """Options of `cascade_ensemble`."""

    component: ClassVar[str] = "cascade_ensemble"

    members: str | None = option(
        None, "folder of trained pipelines, which `initialize` takes as members; `null` for none"
    )
    spans_key: str = option("cascade", "`doc.spans` key of the entities and their confidences")
    background_penalty: float = option(
        0.2,
        "a span stays background only where the members' mean probability of that is greater than "
        "that of the best label by more than this ([ensembles](ensembles.md))",
        between(0, 1),
    )
    confidence: bool = option(True, "set `span._.confidence`, the mean probability of the entity")
    temperature: float = option(1.0, "number by which the log-odds of that are divided", above(0))
    set_ents: bool = option(True, "write `doc.ents`")


def check_thresholds(options: SegmenterOptions | ClassifierOptions) -> None:
    """Raise `ConfigError` for thresholds on confidences that there are not."""
    if (options.threshold or options.label_thresholds) and not options.confidence:
        raise ConfigError(
            f"'{options.title}' has a threshold but no confidences. Set confidence = true, or "
            "leave out threshold and label_thresholds."
        )


DECLARED: dict[str, type[Options]] = {
    options.component: options
    for options in (
        SegmenterOptions,
        ClassifierOptions,
        RerankerOptions,
        TaggerOptions,
        LinkerOptions,
        EnsembleOptions,
    )
}
"""The declarations by the names of the components."""
