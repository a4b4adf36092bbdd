"""The command `spacy cascade review`: annotators compared, and their annotation merged."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...cli.options import (
    Field,
    Force,
    Form,
    Json,
    Lang,
    OtherModel,
    OtherOutput,
    SkipBad,
    Tokenizer,
    argument,
    option,
    refuse_existing,
    split_labels,
)
from ...cli.output import (
    check_rows_file,
    counted,
    percent,
    print_good,
    print_info,
    print_table,
    print_warning,
    reports_errors,
    write_json,
    write_rows,
)
from ...errors import ConfigError, CorpusError
from .merge import Fate, Merge

if TYPE_CHECKING:
    from spacy.language import Language

    from .agreement import Pair, Reviewed
    from .disagreements import Disagreement, Opinion
    from .review import Inputs, Texts

_SHOWN = 10
_ALL = "all"


@reports_errors
def review_command(
    inputs: Annotated[
        list[Path],
        argument("INPUT...", "File of each annotator, in any format that convert reads, or .spacy"),
    ],
    output: OtherOutput = None,
    names: Annotated[
        str,
        option("Names of the annotators, separated by commas. Default: those of the files"),
    ] = "",
    disagreements: Annotated[
        Path | None, option("Write the disagreements to this file: .csv, .tsv or .jsonl")
    ] = None,
    json: Json = None,
    model: OtherModel = None,
    merge: Annotated[
        Merge,
        option(
            "Who decides for OUTPUT: vote of the annotators, and of --model where there is no "
            "majority; or confidence of --model wherever they disagree"
        ),
    ] = Merge.VOTE,
    form: Form = "auto",
    field: Field = "text",
    lang: Lang = "en",
    tokenizer: Tokenizer = None,
    skip_bad: SkipBad = False,
    force: Force = False,
) -> None:
    """
    Compare the annotation of the same texts by several people, and merge it.

    Each INPUT has the annotation of one person. One INPUT alone has that of several: tasks of Label
    Studio with several annotations, or JSONL of Prodigy with _annotator_id. Documents are the same
    where their texts are, character by character; each may be missing in some files.

    The tables show the F1 of the spans of one annotator against another one's, and Cohen's kappa
    of the tokens, as means of all pairs. Words outside of entities count for kappa, too, and
    nearly all agree on most of them: it is high where entities are rare.

    --disagreements lists each span that annotators disagree on. A cell says with which label an
    annotator has it, is empty where they have none, and has a ? where they have not annotated it.
    With --model there is what the pipeline finds, how probable it finds the labels, and how much it
    is against an annotator: the list begins with these.

    --output is a .spacy file with what most annotators say. Without a majority the pipeline
    decides; without --model these words are not annotated, and training leaves them open. What
    only one annotator has annotated is taken over.
    """
    import spacy

    from ..formats.docs import check_suffix
    from ..words.splitting import TokenizerChoice
    from .agreement import compare_pairs
    from .disagreements import find_disagreements, opinions_of
    from .review import Inputs

    check_rows_file(disagreements)
    if output is not None:
        check_suffix(output)
        refuse_existing(output, force)
    if merge is Merge.CONFIDENCE and model is None:
        raise ConfigError("--merge confidence needs a pipeline that has confidences: --model.")
    given = Inputs(inputs, split_labels(names), form, field, lang)
    texts = given.read(skip_bad)
    nlp = None if model is None else spacy.load(model)
    words = nlp if nlp and tokenizer is None else TokenizerChoice(lang, tokenizer).load()
    documents = _place(given, texts, words, keeps_words=tokenizer is None)
    who = _print_documents(documents, list(texts))
    pairs = compare_pairs(documents, texts)
    scores = _print_agreement(pairs)
    opinions = [None] * len(documents) if nlp is None else opinions_of(nlp, documents)
    groups = [
        (group, opinion)
        for document, opinion in zip(documents, opinions, strict=True)
        for group in find_disagreements(document, list(texts))
    ]
    kinds = _print_disagreements(groups, list(texts), disagreements)
    fates = None if output is None else _write(documents, opinions, merge, output)
    if json is not None:
        results = {
            "documents": who, **scores, "disagreements": kinds,
            "merged": fates and {fate.name.lower(): fates[fate] for fate in Fate},
        }  # fmt: skip
        write_json(json, results, "Results")


def _place(
    given: "Inputs", texts: "Texts", nlp: "Language", *, keeps_words: bool
) -> "list[Reviewed]":
    """The documents, and what is told of records and spans that are not in them."""
    from ..formats.annotated import TextSummary
    from ..formats.converted import print_bad, print_left_out, report_lost
    from ..formats.discontinuous import Discontinuous
    from .review import matched, placed

    made = TextSummary()
    documents = list(placed(matched(texts), nlp, keeps_words=keeps_words, summary=made))
    print_left_out(given.left_out)
    print_bad(given.bad, made.bad_spans)
    report_lost(made, nlp, spans_key=None, discontinuous=Discontinuous.DROP, accept_loss=True)
    return documents


def _print_documents(documents: "Sequence[Reviewed]", names: Sequence[str]) -> dict[str, Any]:
    """How many documents who has. Raises `CorpusError` where no two annotators have the same."""
    has = Counter(name for document in documents for name in document.readings)
    alone = Counter(next(iter(d.readings)) for d in documents if len(d.readings) == 1)
    n_shared = sum(len(document.readings) > 1 for document in documents)
    n_all = sum(len(document.readings) == len(names) for document in documents)
    listed = ", ".join(f"{name} {has[name]:,}" for name in names)
    if not n_shared:
        raise CorpusError(
            f"No document is annotated twice ({listed}). The texts of two annotators must be the "
            "same, character by character: compare those of their files."
        )
    print_info(f"{counted(len(documents), 'document')}: {listed}")
    some = f"; by two or more: {n_shared:,}" if len(names) > 2 else ""
    print_info(f"Annotated by all: {n_all:,}{some}")
    for name, n in alone.items():
        print_warning(f"Only {name} has {counted(n, 'document')}")
    return {"all": len(documents), "of": has, "shared": n_shared, "by_all": n_all, "only_of": alone}


def _print_agreement(pairs: "Sequence[Pair]") -> dict[str, Any]:
    """The means of all pairs by label, and each pair where there are several."""
    from .agreement import mean

    def means(label: str | None) -> dict[str, float | None]:
        return {
            "f1": mean(pair.f1(label) for pair in pairs),
            "kappa": mean(pair.kappa(label) for pair in pairs),
        }

    labels = sorted({label for pair in pairs for label in pair.spans})
    by_label = {label: means(label) for label in labels}
    rows = [
        (label, percent(of["f1"]), _kappa(of["kappa"]))
        for label, of in [(_ALL, means(None)), *by_label.items()]
    ]
    print_table(rows, ("label", "F1 of spans", "kappa of tokens"), "lrr")
    found = [
        {
            "annotators": pair.names, "documents": pair.documents,
            "f1": pair.f1(), "kappa": pair.kappa(),
        }
        for pair in pairs
    ]  # fmt: skip
    if len(pairs) > 1:
        rows_of_pairs = [
            (" and ".join(pair.names), pair.documents, percent(pair.f1()), _kappa(pair.kappa()))
            for pair in pairs
        ]
        print_table(rows_of_pairs, ("annotators", "documents", "F1", "kappa"), "lrrr")
    return {"agreement": means(None), "labels": by_label, "pairs": found}


def _kappa(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _print_disagreements(
    found: "list[tuple[list[Disagreement], Opinion | None]]",
    names: Sequence[str],
    path: Path | None,
) -> dict[str, int]:
    """Show the first disagreements, write all, and return how many of each kind there are."""
    from .disagreements import COLUMNS, CONTEXT, OF_MODEL, Kind, most_against

    found.sort(key=most_against)
    kinds = Counter(each.kind for group, _ in found for each in group)
    listed = ", ".join(f"{kind.value} {kinds[kind]:,}" for kind in Kind if kinds[kind])
    print_info(f"Disagreements: {kinds.total():,}" + (f" ({listed})" if listed else ""))
    rows = [each.row(opinion) for group, opinion in found for each in group]
    has_model = any(opinion is not None for _, opinion in found)
    columns = [*COLUMNS, *names, *(OF_MODEL if has_model else ()), CONTEXT]
    if len(set(columns)) < len(columns):
        raise ConfigError(f"No annotator can be called as a column: {', '.join(COLUMNS)}.")
    if rows:
        shown = [[row[name] for name in columns[:-1]] for row in rows[:_SHOWN]]
        print_table(shown, columns[:-1], "lrr" + "l" * (len(columns) - 4))
    if path is not None:
        write_rows(path, rows, columns)
        print_good(f"{counted(len(rows), 'disagreement')} -> {path}")
    return {kind.value: kinds[kind] for kind in Kind}


def _write(
    documents: "Sequence[Reviewed]",
    opinions: "Sequence[Opinion | None]",
    merge: Merge,
    output: Path,
) -> Counter[Fate]:
    """Write the merged corpus, and say what became of the spans."""
    from spacy.tokens import DocBin

    from ...files import replace_file
    from .merging import merged

    fates: Counter[Fate] = Counter()
    docs = [
        merged(document, merge, opinion, fates)
        for document, opinion in zip(documents, opinions, strict=True)
    ]
    replace_file(output, DocBin(docs=docs).to_bytes())
    for fate in Fate:
        if fates[fate]:
            print_info(f"Spans {fate.value}: {fates[fate]:,}")
    n_entities = sum(len(doc.ents) for doc in docs)
    print_good(
        f"{counted(len(docs), 'document')}, {counted(n_entities, 'entity', 'entities')} -> {output}"
    )
    return fates
