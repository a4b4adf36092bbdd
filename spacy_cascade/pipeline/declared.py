"""The options of all components: each is declared here, and nowhere else."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ConfigError
from ..inference.schemes import SCHEMES
from .options import Options, above, at_least, between, one_of, option, values_of
from .spans.nbest import MOST


@dataclass
class SegmenterOptions(Options):
    """Options of `cascade_segmenter`."""

    component: ClassVar[str] = "cascade_segmenter"

    scheme: str = option(
        "BILOU", "Tagging scheme of the spans: `BILOU` or `IOB2`", one_of(SCHEMES), is_fixed=True
    )
    typed: bool = option(
        False,
        "Keep the gold labels (a single-phase recogniser) instead of making them all `ENT`",
        is_fixed=True,
    )
    gold_key: str | None = option(None, "Key of the gold spans in `doc.spans`; null for `doc.ents`")
    spans_key: str = option("cascade", "Key in `doc.spans` for the spans that it finds")
    confidence: bool = option(True, "Give each span its posterior probability as a confidence")
    temperature: float = option(
        1.0, "What scores are divided by before they become confidences", above(0)
    )
    threshold: float = option(0.0, "Spans of less confidence are dropped", between(0, 1))
    label_thresholds: dict[str, float] = option(
        {}, "Thresholds by label, instead of `threshold`", values_of(between(0, 1))
    )
    constrained: bool = option(
        False, "Find the best spans beside entities and blocked tokens that are on the Doc already"
    )
    overlapping: bool = option(
        False, "List all spans that reach their threshold, whether they overlap or not"
    )
    set_ents: bool = option(False, "Write `doc.ents`, too")
    n_best: int = option(
        1,
        f"Above 1: also write so many best segmentations of each sentence (at most {MOST})",
        between(1, MOST),
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
        "cascade", "Key in `doc.spans` of the spans to type; null for `doc.ents`"
    )
    mention_labels: list[str] | None = option(
        None, "Type only spans with one of these labels; null for all spans"
    )
    gold_key: str | None = option(None, "Key of the gold spans in `doc.spans`; null for `doc.ents`")
    reject: bool = option(
        False,
        "Learn a class for wrong proposals, too; needs the segmenter in `annotating_components`",
        is_fixed=True,
    )
    confidence: bool = option(True, "Give each span the probability of its type as a confidence")
    temperature: float = option(
        1.0, "What scores are divided by before they become confidences", above(0)
    )
    threshold: float = option(0.0, "Spans of less confidence do not become entities", between(0, 1))
    label_thresholds: dict[str, float] = option(
        {}, "Thresholds by label, instead of `threshold`", values_of(between(0, 1))
    )
    set_ents: bool = option(True, "Write `doc.ents`")

    def check_together(self) -> None:
        check_thresholds(self)


@dataclass
class RerankerOptions(Options):
    """Options of `cascade_reranker`."""

    component: ClassVar[str] = "cascade_reranker"

    spans_key: str = option("cascade", "Key in `doc.spans` that both stages have")
    weight: float = option(
        1.0, "Weight of the type scores, beside the score of the segmentation", at_least(0)
    )
    scale: float = option(1.0, "Scale of both, beside what training adds", above(0))
    rate: float = option(0.1, "Rate of learning", above(0))
    keep_candidates: bool = option(False, "Leave the N-best list on the Doc")
    set_ents: bool = option(True, "Write `doc.ents`")


@dataclass
class TaggerOptions(Options):
    """Options of `cascade_tagger`."""

    component: ClassVar[str] = "cascade_tagger"

    overwrite: bool = option(True, "Replace tags that are there already")


def check_thresholds(options: SegmenterOptions | ClassifierOptions) -> None:
    """Raise `ConfigError` for thresholds on confidences that there are not."""
    if (options.threshold or options.label_thresholds) and not options.confidence:
        raise ConfigError(
            f"'{options.title}' has a threshold but no confidences. Set confidence = true, or "
            "leave out threshold and label_thresholds."
        )
