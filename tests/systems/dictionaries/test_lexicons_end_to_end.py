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


def as_list(folder: Path) -> Any:
    return CELLS


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


SOURCES = [as_list, as_file, as_patterns]


@pytest.mark.parametrize("source", SOURCES)
def test_terms_are_found_that_training_never_saw(
    source: Callable[[Path], Any], tmp_path: Path
) -> None:
    nlp = pipeline({"cells": source(tmp_path)})
    train(nlp, make_examples(nlp, SENTENCES))
    for text, spans in UNSEEN.items():
        assert found(nlp, text) == spans
        assert found(nlp, text.upper().replace("WE SAW", "we saw").replace("TODAY", "today")) == (
            spans
        )


@pytest.mark.parametrize("source", [*SOURCES, with_options])
def test_lexicons_survive_saving(source: Callable[[Path], Any], tmp_path: Path) -> None:
    """The file that they came from is not needed any more."""
    nlp = pipeline({"cells": source(tmp_path)})
    train(nlp, make_examples(nlp, SENTENCES))
    nlp.to_disk(tmp_path / "model")
    for file in tmp_path.glob("cells.*"):
        file.unlink()
    other = spacy.load(tmp_path / "model")
    for text in UNSEEN:
        assert found(other, text) == found(nlp, text)
    assert (
        other.get_pipe("cascade_segmenter").to_bytes()
        == nlp.get_pipe("cascade_segmenter").to_bytes()
    )


def test_without_the_lexicon_it_cannot_be_known() -> None:
    nlp = pipeline({})
    train(nlp, make_examples(nlp, SENTENCES))
    assert {text: found(nlp, text) for text in UNSEEN} != UNSEEN


def test_several_lexicons_are_told_apart() -> None:
    nlp = pipeline({"cells": CELLS, "people": ["reporters", "old friends", "some other people"]})
    train(nlp, make_examples(nlp, SENTENCES))
    space = nlp.get_pipe("cascade_segmenter").space
    assert space.resources_to_read == ["lexicon(cells)", "lexicon(people)"]
    for text, spans in UNSEEN.items():
        assert found(nlp, text) == spans


def test_lexicons_in_conjunctions() -> None:
    nlp = pipeline({"cells": CELLS}, extra=["lexicon(cells) & word@-1"])
    train(nlp, make_examples(nlp, SENTENCES))
    for text, spans in UNSEEN.items():
        assert found(nlp, text) == spans


def test_terms_match_as_the_tokenizer_cuts_them() -> None:
    """A term of the list is one word for its author and three for spaCy."""
    nlp = pipeline({"cells": ["NF-kappa", "monocytes"]})
    train(nlp, make_examples(nlp, SENTENCES))
    assert [token.text for token in nlp.make_doc("NF-kappa")] == ["NF", "-", "kappa"]
    lexicon = nlp.get_pipe("cascade_segmenter").space.resources.made["lexicon(cells)"].lexicon
    assert len(lexicon.keys) == 1 + 1 + 3  # monocytes, NF-kappa, and NF, NF -, NF - kappa


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_set_takes_lexicons(name: str) -> None:
    nlp = blank()
    component = "cascade_classifier" if name.startswith("Class") else "cascade_segmenter"
    templates = {"@misc": f"spacy_cascade.{name}.v1", "lexicons": {"cells": CELLS}}
    nlp.add_pipe(component, config={**SMALL, "model": {"min_count": 1, "templates": templates}})
    train(nlp, make_examples(nlp, SENTENCES))
    assert nlp.get_pipe(component).space.resources_to_read == ["lexicon(cells)"]
    with_lexicon = nlp.get_pipe(component).to_bytes()
    del templates["lexicons"]
    other = blank()
    other.add_pipe(component, config={**SMALL, "model": {"min_count": 1, "templates": templates}})
    with pytest.raises(ModelFileError, match="templates"):
        other.from_bytes(nlp.to_bytes())
    assert len(with_lexicon) > 0


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


TYPED = [
    ("we saw JUN today", [(2, 3, "protein")]),
    ("we saw jun today", [(2, 3, "DNA")]),
    ("we saw FOS today", [(2, 3, "protein")]),
    ("we saw fos today", [(2, 3, "DNA")]),
]


def classifier(lexicons: dict[str, Any], *templates: str) -> Language:
    nlp = blank()
    model = {
        "min_count": 1,
        "templates": {
            "@misc": "spacy_cascade.Templates.v1",
            "templates": ["bias", *templates],
            "patterns": {},
            "lexicons": lexicons,
        },
    }
    nlp.add_pipe("cascade_classifier", config={**SMALL, "model": model})
    return nlp


def types(nlp: Language, *words: str) -> list[str]:
    docs = [make_doc(nlp.vocab, word) for word in words]
    found = nlp.get_pipe("cascade_classifier").classify(docs, [[(0, 1)]] * len(docs))
    return [label for of_doc in found for label in of_doc]


def test_case_counts_in_exact_lexicons() -> None:
    proteins = ["JUN", "FOS", "MYC"]
    exact = classifier({"proteins": proteins}, "lexicon_exact(proteins)")
    train(exact, make_examples(exact, TYPED))
    assert types(exact, "MYC", "myc") == ["protein", "DNA"]
    folded = classifier({"proteins": proteins}, "lexicon(proteins)")
    train(folded, make_examples(folded, TYPED))
    assert len(set(types(folded, "MYC", "myc"))) == 1


def test_labels_of_a_list_tell_types_apart(tmp_path: Path) -> None:
    patterns = [
        {"label": label, "pattern": word}
        for label, words in {"P": ["a", "b", "c"], "D": ["x", "y", "z"]}.items()
        for word in words
    ]
    srsly.write_jsonl(tmp_path / "genes.jsonl", patterns)
    nlp = classifier({"genes": str(tmp_path / "genes.jsonl")}, "lexicon(genes)")
    sentences = [("a", "protein"), ("b", "protein"), ("x", "DNA"), ("y", "DNA")]
    train(nlp, make_examples(nlp, [(word, [(0, 1, label)]) for word, label in sentences]))
    assert types(nlp, "c", "z") == ["protein", "DNA"]


def test_a_list_of_the_training_entities_is_not_trusted_blindly() -> None:
    """New names are all found by the shape that tells them: the list lacks them.

    All names of training are listed. Who may see that in training needs nothing else.
    """
    names = [f"x{n}y" for n in range(8)]
    sentences = [(f"we saw {name} today", [(2, 3, "cell")]) for name in names]
    sentences += [(f"we saw nothing{n} today", []) for n in range(8)]
    confidences = {}
    for leave_out in (False, True):
        listed = {"@misc": "spacy_cascade.TermList.v1", "source": names, "leave_out": leave_out}
        nlp = pipeline({"names": listed}, ["prefix(1)"])
        train(nlp, make_examples(nlp, sentences))
        doc = nlp(make_doc(nlp.vocab, "we saw x9y today"))
        pipe = nlp.get_pipe("cascade_segmenter")
        (confidences[leave_out],) = pipe.posteriors([doc], [[(2, 3, "ENT")]])[0]
    without = pipeline({}, ["prefix(1)"])
    train(without, make_examples(without, sentences))
    doc = without(make_doc(without.vocab, "we saw x9y today"))
    (expected,) = without.get_pipe("cascade_segmenter").posteriors([doc], [[(2, 3, "ENT")]])[0]
    assert confidences[True] == pytest.approx(expected, abs=1e-3)
    assert confidences[False] < expected - 0.05


def test_words_of_terms_are_not_kept_in_the_vocabulary() -> None:
    nlp = pipeline({"cells": [*CELLS, "unheard-of things"]})
    train(nlp, make_examples(nlp, SENTENCES))
    assert "things" not in nlp.vocab.strings
    assert "monocytes" in nlp.vocab.strings
    assert found(nlp, "we saw unheard-of things today") == [(2, 4, "ENT")]
