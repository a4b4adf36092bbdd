"""The command `spacy cascade evaluate`: scores of a pipeline, with the input of its task."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import spacy
from spacy.scorer import Scorer
from spacy.training import Example

from ...cli.options import Html, Json, Model, argument, option
from ...cli.output import (
    check_rows_file,
    counted,
    percent,
    print_good,
    print_table,
    print_warning,
    reports_errors,
    write_file,
    write_json,
    write_rows,
)
from ...errors import CorpusError
from ...pipeline.readers import INPUTS, examples_for, make_corpus

_PARTS = {"type": "label", "level": "level (0: outermost)"}
"""What scores are for each of, by the ends of their names."""
_ENTITIES = "entities.html"
"""Name of the page, the same as that of `spacy evaluate` for spaCy's own `ner`."""


@reports_errors
def evaluate_command(
    model: Model,
    data: Annotated[Path, argument("DATA.spacy", "Docs with the gold annotation")],
    json: Json = None,
    html: Html = None,
    gold_inputs: Annotated[
        list[str] | None,
        option(
            f"Gold annotation that the components see, {' or '.join(INPUTS)}; can be given several "
            "times. Default: as for the dev corpus of the training config"
        ),
    ] = None,
    mistakes: Annotated[int, option("Sentences with mistakes on the HTML page", min=0)] = 20,
    mistakes_list: Annotated[
        Path | None, option("Write all mistakes to this file: .csv, .tsv or .jsonl")
    ] = None,
    displacy_path: Annotated[
        Path | None, option(f"Folder for {_ENTITIES}, drawn by displaCy", "--displacy-path", "-dp")
    ] = None,
    displacy_limit: Annotated[
        int, option("Docs in that page", "--displacy-limit", "-dl", min=1)
    ] = 25,
) -> None:
    """
    Evaluate a pipeline on gold data.

    This command differs from `spacy evaluate` in three ways. It reads DATA as the training config
    reads its dev corpus, with the sentences and tags that `spacy_cascade.Corpus.v1` gives. It
    shows every score of every component, and the scores of spans for each label. Its
    --displacy-path works with any component that sets doc.ents, not only with `ner`. DATA without
    gold annotation of any component is an error.
    """
    from ...pipeline.unseen_words import WordSample
    from .gold import check_gold

    check_rows_file(mistakes_list)
    nlp = spacy.load(model)
    corpus = make_corpus(data, gold_inputs)(nlp) if gold_inputs else examples_for(nlp, data)
    examples = list(corpus)
    if not examples:
        raise CorpusError(f"{data} has no Docs to score on. Check the path.")
    check_gold(nlp, examples, data)
    scorer = _KeepingScorer(nlp)
    scores = nlp.evaluate(examples, scorer=scorer)
    _print_scores(scores)
    sample = WordSample(nlp, each=1)
    for example in scorer.examples:
        sample.add(example.predicted)
    if sample.warning:
        print_warning(sample.warning)
    if json is not None:
        write_json(json, scores, "Scores")
    paths = {"model": str(model), "data": str(data)}
    if html is not None or mistakes_list is not None:
        from .reading import judge_annotated

        judged = judge_annotated(nlp, scorer.examples)
    if html is not None:
        from .page import make_page

        levels = next((v for name, v in scores.items() if name.endswith("_per_level")), None)
        page = make_page(nlp, scorer.examples, judged, **paths, n_mistakes=mistakes, levels=levels)
        write_file(html, page, "Report")
    if mistakes_list is not None:
        from .listing import COLUMNS, list_mistakes

        rows = list_mistakes(scorer.examples, judged)
        write_rows(mistakes_list, rows, COLUMNS)
        print_good(f"{counted(len(rows), 'mistake')} -> {mistakes_list}")
    if displacy_path is not None:
        from .entities import make_entities_page

        page = make_entities_page(nlp, scorer.examples[:displacy_limit], **paths)
        write_file(displacy_path / _ENTITIES, page, "Entities")


class _KeepingScorer(Scorer):
    """Keeps the examples that it scored, with the pipeline's predictions, for the report."""

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        self.examples = list(examples)
        scores: dict[str, Any] = super().score(self.examples, **settings)
        return scores


def _print_scores(scores: Mapping[str, Any]) -> None:
    speed = scores.get("speed")
    rows = [
        (name, percent(value))
        for name, value in sorted(scores.items())
        if isinstance(value, float) and name != "speed" and not name.startswith("token_")
    ]
    if isinstance(speed, float):
        rows.append(("words per second", f"{speed:,.0f}"))
    print_table(rows, ("score", "value"), "lr")
    for name, parts in sorted(scores.items()):
        of, _, kind = name.rpartition("_per_")
        if kind in _PARTS and parts:
            rows_of_parts = [
                (part, *(percent(found[key]) for key in ("p", "r", "f")))
                for part, found in sorted(parts.items())
            ]
            print_table(rows_of_parts, (f"{of} by {_PARTS[kind]}", "P", "R", "F1"), "lrrr")
