"""The report of an evaluation as one self-contained HTML page."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .costs import SMALLEST, BadPiece, Judged, bad_pieces, negative_log_likelihood
from .counts import count_confusion, count_kinds, count_scores
from .mistakes import Entity, Kind
from .reading import is_annotated, judge
from .reliability import Reliability, measure_reliability
from .sweep import sweep, sweep_listed
from .texts import colours_of, draw, template

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
    *,
    model: str,
    data: str,
    n_mistakes: int = N_MISTAKES,
) -> str:
    """The HTML of the report.

    examples: their predicted Docs as the pipeline left them, their references with gold
    entities. model, data: names of the pipeline and the data. n_mistakes: the largest number of
    sentences, or pieces of Docs without sentences, with mistakes in the report.
    """
    numbers = [number for number, example in enumerate(examples) if is_annotated(example)]
    judged = judge(nlp, [examples[number] for number in numbers])
    comparisons = [of_doc.comparison for of_doc in judged]
    scores = count_scores(comparisons)
    bad = bad_pieces(judged)
    reliability = _reliability(judged)
    colours = colours_of(list(scores.by_type))
    return template("page.html.jinja").render(
        model=model,
        data=data,
        language=nlp.lang,
        components=nlp.pipe_names,
        n_docs=len(numbers),
        n_unannotated=len(examples) - len(numbers),
        n_tokens=sum(len(examples[number].reference) for number in numbers),
        scores=scores,
        confusion=count_confusion(comparisons),
        kinds=count_kinds(comparisons),
        meanings=_MEANINGS,
        reliability=reliability,
        sweep=sweep(judged),
        listed=sweep_listed(judged),
        n_bad=len(bad),
        has_costs=reliability is not None
        or any(m.probability is not None for piece in bad for m in piece.mistakes),
        smallest=SMALLEST,
        largest_cost=negative_log_likelihood(SMALLEST),
        shown=[
            {
                "number": numbers[piece.doc] + 1,
                **_show(piece, judged[piece.doc], examples[numbers[piece.doc]].reference, colours),
            }
            for piece in bad[:n_mistakes]
        ],
    )


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

    def drawn(entities: Sequence[Entity], kinds: Sequence[Kind]) -> Markup:
        both = zip(entities, kinds, strict=True)
        inside = [(e, k is not Kind.RIGHT) for e, k in both if bad.piece[0] <= e[0] < bad.piece[1]]
        return draw(doc, bad.piece, inside, colours)

    return {
        "bad": bad,
        "gold": drawn(found.gold, found.gold_kinds),
        "predicted": drawn(found.predicted, found.predicted_kinds),
        "mistakes": [(m, doc[m.entity[0] : m.entity[1]].text) for m in bad.mistakes],
    }
