"""What configs for a corpus say above their settings: commands, and what was seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from spacy.vocab import Vocab

from made_corpora import made_doc, named_docs
from spacy_cascade.tools.recipes import Choices
from spacy_cascade.tools.recipes.describing import describe, heading, suggested_text
from spacy_cascade.tools.recipes.profile import Profile, measure_profile
from spacy_cascade.tools.recipes.suggesting import suggest

OUTPUT, TRAIN, DEV = Path("x.cfg"), Path("a.spacy"), Path("b.spacy")


@pytest.fixture(scope="module")
def profile() -> Profile:
    return measure_profile(named_docs(Vocab(), 6, 4))


@pytest.mark.parametrize(
    ("choices", "missing"),
    [
        (Choices(), " --paths.train TRAIN.spacy --paths.dev DEV.spacy"),
        (Choices(train=TRAIN), " --paths.dev DEV.spacy"),
        (Choices(train=TRAIN, dev=DEV), ""),
    ],
)
def test_the_heading_has_the_commands_with_the_corpora_that_are_missing(
    choices: Choices, missing: str
) -> None:
    assert heading(OUTPUT, choices).splitlines() == [
        "# Named entities, biomedical text: spacy cascade init --recipe memb",
        f"# python -m spacy cascade debug-data x.cfg{missing}",
        f"# python -m spacy train x.cfg --output OUT{missing}",
        "# It trains on the CPU: leave out --gpu-id.",
        "",
    ]


def test_a_config_for_a_corpus_begins_with_commands_and_what_was_seen(profile: Profile) -> None:
    paths = {"train": TRAIN, "dev": DEV}
    text = suggested_text(OUTPUT, profile, suggest(profile, paths), tried=["One", "Two"])
    lines = text.splitlines()
    assert lines[:6] == [
        "# Named entities: spacy cascade init --train a.spacy --dev b.spacy",
        "# python -m spacy cascade debug-data x.cfg",
        "# python -m spacy train x.cfg --output OUT",
        "# It trains on the CPU: leave out --gpu-id.",
        "#",
        "# What was seen:",
    ]
    first = "# " + describe(profile)[0]
    assert first.startswith(lines[6])
    assert len(lines[6]) > 50
    begin = text.partition("\n\n")[0]
    assert begin.endswith("\n#\n# One\n# Two")
    alone = suggested_text(OUTPUT, profile, suggest(profile, {"train": TRAIN}))
    assert "\n# DEV.spacy: Docs to score on, with entities, not used in training.\n" in alone


def test_the_size_says_whether_documents_are_pieces(profile: Profile) -> None:
    size = "6 documents, 24 sentences (4.0 in each), 564 words."
    pieces = " Nearly all documents have 4 sentences: they are pieces of a text."
    assert describe(profile)[0] == size + pieces
    assert describe(replace(profile, pieces=None))[0] == size


def test_tokens_are_told_by_their_spaces_and_signs() -> None:
    for words, spaces, expected in (
        ("a b", None, "The spaces between words are unknown."),
        ("a b", [True, False], "The spaces between words are known."),
        (
            "a-b a - b a/b", None,
            "The spaces between words are unknown. 50% of the hyphens between letters or digits "
            "are tokens. 0% of the slashes between letters or digits are tokens.",
        ),
    ):  # fmt: skip
        doc = made_doc(Vocab(), [words.split()], [(0, 1, "X")], spaces=spaces)
        assert describe(measure_profile([doc]))[2].startswith(expected)
