"""The report of an evaluation as one self-contained HTML page."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .costs import (
    SMALLEST,
    BadPiece,
    Judged,
    Mistake,
    bad_pieces,
    choose,
    count_labels,
    negative_log_likelihood,
    repeated_mistakes,
)
from .diagrams import (
    SPARSE,
    Axis,
    Reliability,
    Sweep,
    axis_around,
    measure_reliability,
    sweep,
    sweep_listed,
)
from .drawing import about, draw, label_colours, language_tag, mark_mistakes, template
from .mistakes import Kind, count_confusion, count_kinds, count_scores

N_MISTAKES = 20

_MEANINGS = {
    Kind.RIGHT: "same bounds and type as in the gold annotation",
    Kind.WRONG_TYPE: "same bounds, another type",
    Kind.WRONG_BOUNDS: "overlapping entities of the same type",
    Kind.WRONG_BOTH: "overlapping entities of another type",
    Kind.MISSED: "gold entity that overlaps no wrong prediction",
    Kind.SPURIOUS: "predicted entity that overlaps no unmatched gold entity",
}


def make_page(
    nlp: Language,
    examples: Sequence[Example],
    judged_by_number: Mapping[int, Judged],
    *,
    model: str,
    data: str,
    n_mistakes: int = N_MISTAKES,
    levels: Mapping[str, Mapping[str, float]] | None = None,
) -> str:
    """The HTML of the report.

    examples: their predicted Docs as the pipeline left them, their references with gold
    entities. judged_by_number: what `judge_annotated` gives of them. model, data: paths of the
    pipeline and the data. n_mistakes: how many sentences, or pieces of Docs without sentences, and
    how many texts with mistakes the report shows at once.
    levels: scores of nested spans by their level (`pipeline.scorers.score_types`).
    """
    numbers, judged = list(judged_by_number), list(judged_by_number.values())
    docs = [examples[number].reference for number in numbers]
    comparisons = [of_doc.comparison for of_doc in judged]
    scores = count_scores(comparisons)
    bad = bad_pieces(judged)
    texts = repeated_mistakes(
        (piece.doc, _text(docs[piece.doc], mistake), mistake)
        for piece in bad
        for mistake in piece.mistakes
    )
    orders = (attrgetter("cost_per_word"), attrgetter("cost"))
    reliability = _reliability(judged)
    colours = label_colours(nlp, scores.by_type)
    of_sweep, listed = sweep(judged), sweep_listed(judged)
    return template("evaluation.html.jinja").render(
        about=about(nlp, model, data),
        language=language_tag(str(nlp.lang)),
        n_docs=len(docs),
        n_unannotated=len(examples) - len(docs),
        n_tokens=sum(map(len, docs)),
        scores=scores,
        levels=levels or {},
        colours=colours,
        confusion=count_confusion(comparisons),
        kinds=count_kinds(comparisons),
        meanings=_MEANINGS,
        reliability=reliability,
        sparse=SPARSE,
        sweep=of_sweep,
        listed=listed,
        axes=_axes(of_sweep, listed),
        has_costs=reliability is not None
        or any(m.probability is not None for piece in bad for m in piece.mistakes),
        largest_cost=negative_log_likelihood(SMALLEST),
        n_mistakes=n_mistakes,
        n_texts=len(texts),
        texts_by_label=count_labels(texts),
        texts=choose(texts, n_mistakes, [*orders, attrgetter("n")]),
        n_bad=len(bad),
        bad_by_label=count_labels(bad),
        bad=[
            (_show(piece, judged[piece.doc], docs[piece.doc], colours), numbers[piece.doc], first)
            for piece, first in choose(bad, n_mistakes, orders)
        ],
    )


def _text(doc: Doc, mistake: Mistake) -> str:
    start, end, _ = mistake.entity
    return doc[start:end].text


def _axes(*sweeps: Sweep | None) -> tuple[Axis, Axis]:
    """Of recall and of precision, as far as there are points."""
    scores = [score for one in sweeps if one for score in one.scores if score.n_predicted]
    return axis_around(s.recall for s in scores), axis_around(s.precision for s in scores)


def _reliability(docs: Sequence[Judged]) -> Reliability | None:
    """Reliability of all predicted entities with a confidence; None if there are none."""
    pairs = [
        (confidence, kind is Kind.RIGHT)
        for judged in docs
        for confidence, kind in zip(
            judged.confidences, judged.comparison.predicted_kinds, strict=True
        )
        if confidence is not None
    ]
    if not pairs:
        return None
    confidences, is_right = zip(*pairs, strict=True)
    return measure_reliability(confidences, is_right)


def _show(bad: BadPiece, judged: Judged, doc: Doc, colours: Mapping[str, str]) -> dict[str, Any]:
    """A piece with mistakes as the page shows it: with its HTML, and the text of each mistake."""
    found = judged.comparison
    gold = mark_mistakes(found.gold, found.gold_kinds)
    predicted = mark_mistakes(found.predicted, found.predicted_kinds)
    return {
        "bad": bad,
        "gold": draw(doc, bad.piece, gold, colours),
        "predicted": draw(doc, bad.piece, predicted, colours),
        "mistakes": [(mistake, _text(doc, mistake)) for mistake in bad.mistakes],
    }
