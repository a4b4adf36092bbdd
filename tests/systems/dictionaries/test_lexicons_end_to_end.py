"""Term lists in the config: they decide where words alone cannot, and travel with the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Span

from helpers import SMALL, blank, bounds, make_doc, make_examples, train
from spacy_cascade import ModelFileError

CELLS = ["white blood cells", "T cells", "monocytes", "natural killer cells", "B lymphocytes"]
PATTERNS = [
    {"label": "CELL", "pattern": [{"LOWER": word} for word in cell.lower().split()]}
    for cell in CELLS
]
# Membership is all that tells these words apart: none is seen twice.
SENTENCES = [
    ("we saw monocytes today", [(2, 3, "cell")]),
    ("we saw reporters today", []),
    ("we saw T cells today", [(2, 4, "cell")]),
    ("we saw old friends today", []),
    ("we saw white blood cells today", [(2, 5, "cell")]),
    ("we saw very tall children today", []),
]
TEMPLATES = ["SegmentationTemplates", "JnlpbaTemplates", "ClassificationTemplates"]


def membership(lexicons: dict[str, Any]) -> list[str]:
    return ["lexicon(*)@-1..1", "lexicon(*)@0 & lexicon(*)@1"] if lexicons else []


def pipeline(
    lexicons: dict[str, Any], extra: list[str] | None = None, ruler: Any = None
) -> Language:
    nlp = blank()
    if ruler is not None:
        nlp.add_pipe("span_ruler", config=ruler)
        nlp.config["initialize"]["components"]["span_ruler"] = {"patterns": PATTERNS}
    settings = {
        **SMALL,
        "model": {
            "min_count": 2,
            "templates": {
                "@misc": "spacy_cascade.Templates.v1",
                "templates": ["bias", "word@-1..1", *membership(lexicons), *(extra or [])],
                "patterns": {},
                "lexicons": lexicons,
            },
        },
        "loss": {"@misc": "spacy_cascade.Likelihood.v2"},
        "penalty": {"@misc": "spacy_cascade.Gaussian.v1", "sigma": 5.0},
    }
    nlp.add_pipe("cascade_segmenter", config=settings)
    return nlp


def found(nlp: Language, text: str) -> list[tuple[int, int, str]]:
    doc = nlp(make_doc(nlp.vocab, text))
    return bounds(doc.spans["cascade"])


UNSEEN = {
    "we saw natural killer cells today": [(2, 5, "ENT")],
    "we saw B lymphocytes today": [(2, 4, "ENT")],
    "we saw some other people today": [],
}


def as_file(folder: Path) -> Any:
    file = folder / "cells.txt"
    file.write_text("\n".join(["", *CELLS, "  "]), encoding="utf8")
    return str(file)


def as_patterns(folder: Path) -> Any:
    srsly.write_jsonl(folder / "cells.jsonl", PATTERNS)
    return str(folder / "cells.jsonl")


def with_options(folder: Path) -> Any:
    """With labels, and with what is left out in training."""
    return {"@misc": "spacy_cascade.TermList.v1", "source": as_patterns(folder), "leave_out": True}


@pytest.mark.parametrize("source", [lambda _: CELLS, as_file, as_patterns, with_options])
def test_terms_are_found_that_training_never_saw(
    source: Callable[[Path], Any], tmp_path: Path
) -> None:
    """The file that they came from is not needed any more."""
    nlp = pipeline({"cells": source(tmp_path)})
    train(nlp, make_examples(nlp, SENTENCES))
    nlp.to_disk(tmp_path / "model")
    for file in tmp_path.glob("cells.*"):
        file.unlink()
    other = spacy.load(tmp_path / "model")
    for text, spans in UNSEEN.items():
        loud = text.upper().replace("WE SAW", "we saw").replace("TODAY", "today")
        assert found(nlp, text) == found(other, text)
        assert source is with_options or found(nlp, text) == found(nlp, loud) == spans
    pipes = [each.get_pipe("cascade_segmenter") for each in (nlp, other)]
    assert pipes[0].to_bytes() == pipes[1].to_bytes()


def test_without_the_lexicon_it_cannot_be_known() -> None:
    nlp = pipeline({})
    train(nlp, make_examples(nlp, SENTENCES))
    assert {text: found(nlp, text) for text in UNSEEN} != UNSEEN


def test_several_lexicons_in_conjunctions() -> None:
    """A term of a list is one word for its author and three for spaCy."""
    lexicons = {"cells": [*CELLS, "unheard-of things"], "people": ["reporters", "old friends"]}
    nlp = pipeline(lexicons, extra=["lexicon(cells) & word@-1"])
    train(nlp, make_examples(nlp, SENTENCES))
    space = nlp.get_pipe("cascade_segmenter").space
    assert space.resources_to_read == ["lexicon(cells)", "lexicon(people)"]
    text = "we saw unheard-of things today"
    assert [token.text for token in nlp.make_doc(text)][2:5] == ["unheard", "-", "of"]
    for doc, end in ((make_doc(nlp.vocab, text), 4), (nlp.make_doc(text), 6)):
        assert bounds(nlp(doc).spans["cascade"]) == [(2, end, "ENT")]
    for text, spans in UNSEEN.items():
        assert found(nlp, text) == spans


def test_words_of_terms_are_not_kept_in_the_vocabulary() -> None:
    nlp = pipeline({"cells": [*CELLS, "unheard-of things"]})
    nlp.initialize(lambda: make_examples(nlp, SENTENCES))
    assert "things" not in nlp.vocab.strings
    assert "monocytes" in nlp.vocab.strings


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_set_takes_lexicons(name: str) -> None:
    component = "cascade_classifier" if name.startswith("Class") else "cascade_segmenter"

    def made(**lexicons: Any) -> Language:
        nlp = blank()
        templates = {"@misc": f"spacy_cascade.{name}.v1", **lexicons}
        nlp.add_pipe(component, config={**SMALL, "model": {"min_count": 1, "templates": templates}})
        return nlp

    nlp = made(lexicons={"cells": CELLS})
    nlp.initialize(lambda: make_examples(nlp, SENTENCES))
    assert nlp.get_pipe(component).space.resources_to_read == ["lexicon(cells)"]
    with pytest.raises(ModelFileError, match="templates"):
        made().from_bytes(nlp.to_bytes())


def test_a_ruler_before_the_segmenter(tmp_path: Path) -> None:
    """What it finds is seen in training, too, though nothing ran it on the examples."""
    nlp = pipeline({}, ["span(listed)@-1..1"], {"spans_key": "listed"})
    train(nlp, make_examples(nlp, SENTENCES))
    nlp.to_disk(tmp_path)
    for trained in (nlp, spacy.load(tmp_path)):
        for text, spans in UNSEEN.items():
            assert found(trained, text) == spans


def test_spans_that_training_has_are_seen_as_they_are() -> None:
    """Of a component that was trained elsewhere, such as a spancat, in the reference."""
    nlp = pipeline({}, ["span(sc)@-1..1"])
    examples = make_examples(nlp, SENTENCES)
    for example in examples:
        example.reference.spans["sc"] = list(example.reference.ents)
    train(nlp, examples)
    doc = make_doc(nlp.vocab, "we saw natural killer cells today")
    doc.spans["sc"] = [Span(doc, 2, 5, "cell"), Span(doc, 4, 5, "cell")]
    assert bounds(nlp(doc).spans["cascade"]) == [(2, 5, "ENT")]


def trained_classifier(
    lexicons: dict[str, Any], template: str, sentences: dict[str, str]
) -> Callable[..., list[str]]:
    """Gives the types of words; sentences: words with their types."""
    nlp = blank()
    templates = {
        "@misc": "spacy_cascade.Templates.v1", "templates": ["bias", template], "patterns": {},
        "lexicons": lexicons,
    }  # fmt: skip
    model = {"min_count": 1, "templates": templates}
    classifier = nlp.add_pipe("cascade_classifier", config={**SMALL, "model": model})
    train(nlp, make_examples(nlp, [(w, [(0, 1, label)]) for w, label in sentences.items()]))

    def types(*words: str) -> list[str]:
        docs = [make_doc(nlp.vocab, word) for word in words]
        return [label for (label,) in classifier.classify(docs, [[(0, 1)]] * len(docs))]

    return types


def test_case_counts_in_exact_lexicons() -> None:
    typed = {"JUN": "protein", "jun": "DNA", "FOS": "protein", "fos": "DNA"}
    for template, expected in (("lexicon_exact(p)", ["protein", "DNA"]), ("lexicon(p)", None)):
        types = trained_classifier({"p": ["JUN", "FOS", "MYC"]}, template, typed)("MYC", "myc")
        assert types == (expected or types[:1] * 2)


def test_labels_of_a_list_tell_types_apart(tmp_path: Path) -> None:
    listed = {"P": "abc", "D": "xyz"}
    patterns = [{"label": label, "pattern": w} for label, words in listed.items() for w in words]
    srsly.write_jsonl(tmp_path / "genes.jsonl", patterns)
    typed = {"a": "protein", "b": "protein", "x": "DNA", "y": "DNA"}
    types = trained_classifier({"g": str(tmp_path / "genes.jsonl")}, "lexicon(g)", typed)
    assert types("c", "z") == ["protein", "DNA"]


def test_a_list_of_the_training_entities_is_not_trusted_blindly() -> None:
    """New names are all found by the shape that tells them: the list lacks them.

    All names of training are listed. Who may see that in training needs nothing else.
    """
    names = [f"x{n}y" for n in range(8)]
    sentences = [(f"we saw {name} today", [(2, 3, "cell")]) for name in names]
    sentences += [(f"we saw nothing{n} today", []) for n in range(8)]

    def confidence(lexicons: dict[str, Any]) -> float:
        nlp = pipeline(lexicons, ["prefix(1)"])
        train(nlp, make_examples(nlp, sentences))
        doc = nlp(make_doc(nlp.vocab, "we saw x9y today"))
        ((found,),) = nlp.get_pipe("cascade_segmenter").posteriors([doc], [[(2, 3, "ENT")]])
        return float(found)

    trusted, left_out = (
        confidence({"names": {
            "@misc": "spacy_cascade.TermList.v1", "source": names, "leave_out": leave_out,
        }}) for leave_out in (False, True)
    )  # fmt: skip
    assert left_out == pytest.approx(confidence({}), abs=1e-3)
    assert trusted < left_out - 0.05
