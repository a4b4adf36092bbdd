"""Learning what annotators sent back, by adaptation or retraining, whichever is better on dev."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter

from spacy.language import Language
from spacy.training import Example

from ...errors import ConfigError, CorpusError, TrainingError
from ...pipeline.progress import progress
from ...pipeline.readers import examples_for, input_doc
from ...workflows.fit import fit
from ...workflows.reconfigure import reconfigured
from ..formats.annotated import annotated_only
from ..formats.any_file import read_records
from ..formats.bad_records import check_none
from ..formats.exchange.base import FormatOptions
from ..formats.exchange.registry import AUTO
from ..formats.placing import LostSpan, place
from ..formats.texts import AnnotatedText
from ..tokenizers.tokenizing import tokenize
from .adapting import UPDATES, adapt, set_share


@dataclass(frozen=True)
class Returned:
    """examples: to learn from. left_out: texts by the reason. lost: spans that are no entities.

    bad: errors of records and spans that were left out; bad_spans: how many of them are spans.
    """

    examples: list[Example]
    left_out: Counter[str] = field(default_factory=Counter)
    lost: tuple[LostSpan, ...] = ()
    bad: tuple[CorpusError, ...] = ()
    bad_spans: int = 0


def read_returned(path: Path, nlp: Language, skip_bad: bool = False) -> Returned:
    """The examples of a `.spacy` file, or of any format that `convert` reads.

    skip_bad: whether records and spans that cannot be read are left out. Raises `CorpusError` for a
    file that cannot be read, or that has nothing to learn.
    """
    if path.suffix == ".spacy":
        return Returned(list(examples_for(nlp, path)))
    left_out: Counter[str] = Counter()
    bad: list[CorpusError] = []
    options = FormatOptions(on_bad=bad.append)
    records = read_records(path, AUTO, options, nlp.lang or "xx")
    examples, lost, bad_spans = list[Example](), list[LostSpan](), 0
    for text in annotated_only(records, left_out):
        example, without_place = example_of(text, nlp)
        examples.append(example)
        lost += without_place
        bad_spans += text.bad_spans
    if not skip_bad:
        check_none(bad)
    if not examples:
        raise CorpusError(f"{path} has no accepted annotation. Annotate some sentences first.")
    return Returned(examples, left_out, tuple(lost), tuple(bad), bad_spans)


def example_of(text: AnnotatedText, nlp: Language) -> tuple[Example, tuple[LostSpan, ...]]:
    """An annotated text with the tokens of the pipeline, or its own; spans that have no place."""
    placed = place(text, partial(tokenize, nlp), nlp.vocab, spans_key=None)
    return Example(input_doc(placed.doc, (), nlp.vocab), placed.doc), placed.lost


AS_IT_WAS, ADAPTED, RETRAINED = "as it was", "adapted", "retrained"
SHARES = (1.0, 0.3)
"""What the old corpus counts; less helps where the new annotation contradicts it."""


@dataclass(frozen=True)
class Tried:
    """A way to learn, its entity F1 on dev (None without dev), and the seconds that it took."""

    way: str
    f1: float | None
    seconds: float


@dataclass(frozen=True)
class Learnt:
    """A pipeline, the way in which it has learnt, and all ways that were tried.

    warning: what the comparison on dev cannot show, and why nothing was learnt.
    """

    nlp: Language
    way: str
    tried: tuple[Tried, ...]
    warning: str = ""

    @property
    def has_changed(self) -> bool:
        """Whether anything was learnt."""
        return self.way != AS_IT_WAS


def learn(
    nlp: Language,
    new: Sequence[Example],
    old: Sequence[Example] = (),
    dev: Sequence[Example] = (),
    *,
    updates: int = UPDATES,
    share: float | None = None,
) -> Learnt:
    """A pipeline that has learnt new examples; nlp stays as it is.

    Ways: adaptation by so many updates, with this share of the old corpus, or with each of
    `SHARES`; and with old examples, those that nlp was trained on, retraining on old and new ones
    with `fit`. The best entity F1 on dev decides, and nlp itself is kept where no way is better.
    Without dev nothing is compared: with old examples it is retraining, else adaptation. Raises
    `TrainingError` without new examples, `ConfigError` for a share that cannot be.
    """
    if not new:
        raise TrainingError(
            "There is no new annotation to learn from. Check the paths, or annotate texts first."
        )
    shares = SHARES if share is None else (share,)
    ways = list(_ways(nlp, new, old, dev, shares, updates))
    if not dev:
        way, make = ways[-1] if old else ways[0]
        began = perf_counter()
        return Learnt(make(), way, (Tried(way, None, perf_counter() - began),))
    best, tried = nlp, [Tried(AS_IT_WAS, _f1(nlp, dev), 0.0)]
    top, way_of_best = tried[0].f1 or 0.0, AS_IT_WAS
    for way, make in progress("Learning", iterable=ways):
        began = perf_counter()
        try:
            made = make()
        except ConfigError:
            if share is not None or way == ADAPTED:
                raise  # else it was trained online, and so has no share
            continue
        tried.append(Tried(way, _f1(made, dev), perf_counter() - began))
        if (tried[-1].f1 or 0.0) > top:
            best, top, way_of_best = made, tried[-1].f1 or 0.0, way
    return Learnt(best, way_of_best, tuple(tried), _warning(new, dev, best is nlp))


def _warning(new: Sequence[Example], dev: Sequence[Example], is_kept: bool) -> str:
    """What dev lacks, perhaps, and what that did."""
    taught, compared = (
        {entity.label_ for example in part for entity in example.reference.ents}
        for part in (new, dev)
    )
    labels = ", ".join(sorted(taught - compared))
    found = []
    if is_kept:
        found.append("The pipeline is kept as it was: no way to learn is better on DEV.")
    if labels:
        found.append(f"DEV has no entity of {labels}, so what is learnt of that does not count.")
    if found:
        found.append("DEV needs old and new documents: if it has none of the new, move some there.")
    return " ".join(found)


def _ways(
    nlp: Language,
    new: Sequence[Example],
    old: Sequence[Example],
    dev: Sequence[Example],
    shares: Sequence[float],
    updates: int,
) -> Iterator[tuple[str, Callable[[], Language]]]:
    def adapted(share: float) -> Language:
        made = reconfigured(nlp, nlp.config)
        set_share(made, share)
        adapt(made, _fresh(new), updates)
        return made

    def retrained() -> Language:
        made = reconfigured(nlp, nlp.config)
        fit(made, _fresh([*old, *new]), _fresh(dev) or None)
        return made

    for share in shares:
        yield (
            ADAPTED if share == 1.0 else f"{ADAPTED}, old share {share:g}",
            partial(adapted, share),
        )
    if old:
        yield RETRAINED, retrained


def _fresh(examples: Sequence[Example]) -> list[Example]:
    """Examples whose predicted Docs no pipeline has annotated."""
    return [Example(example.predicted.copy(), example.reference) for example in examples]


def _f1(nlp: Language, dev: Sequence[Example]) -> float:
    return float(nlp.evaluate(_fresh(dev)).get("ents_f") or 0.0)
