"""Term lists in the config: they decide where words alone cannot, and travel with the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers import SMALL, blank, bounds, make_doc, make_examples, train
from spacy.language import Language

from spacy_cascade import ModelFileError

CELLS = ["white blood cells", "T cells", "monocytes", "natural killer cells", "B lymphocytes"]
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


def pipeline(lexicons: dict[str, Any], extra: list[str] | None = None) -> Language:
    nlp = blank()
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
        "objective": {"@misc": "spacy_cascade.Likelihood.v1", "sigma": 5.0},
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


@pytest.mark.parametrize("source", [as_list, as_file])
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


@pytest.mark.parametrize("source", [as_list, as_file])
def test_lexicons_survive_saving(source: Callable[[Path], Any], tmp_path: Path) -> None:
    """The file that they came from is not needed any more."""
    nlp = pipeline({"cells": source(tmp_path)})
    train(nlp, make_examples(nlp, SENTENCES))
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "cells.txt").unlink(missing_ok=True)
    other = spacy.load(tmp_path / "model")
    for text, spans in UNSEEN.items():
        assert found(other, text) == spans
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
    assert space.memberships == ["lexicon(cells)", "lexicon(people)"]
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
    lexicon = nlp.get_pipe("cascade_segmenter").space.lexicons["lexicon(cells)"]
    assert len(lexicon.index) == 1 + 1 + 3  # monocytes, NF-kappa, and NF, NF -, NF - kappa


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_set_takes_lexicons(name: str) -> None:
    nlp = blank()
    component = "cascade_classifier" if name.startswith("Class") else "cascade_segmenter"
    templates = {"@misc": f"spacy_cascade.{name}.v1", "lexicons": {"cells": CELLS}}
    nlp.add_pipe(component, config={**SMALL, "model": {"min_count": 1, "templates": templates}})
    train(nlp, make_examples(nlp, SENTENCES))
    assert nlp.get_pipe(component).space.memberships == ["lexicon(cells)"]
    with_lexicon = nlp.get_pipe(component).to_bytes()
    del templates["lexicons"]
    other = blank()
    other.add_pipe(component, config={**SMALL, "model": {"min_count": 1, "templates": templates}})
    with pytest.raises(ModelFileError, match="templates"):
        other.from_bytes(nlp.to_bytes())
    assert len(with_lexicon) > 0
