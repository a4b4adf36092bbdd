"""What configs for a corpus say above their settings: commands, and what was seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from spacy.vocab import Vocab

from made_corpora import made_doc, named_docs
from spacy_cascade.tools.recipes import Choices, config_text
from spacy_cascade.tools.recipes.describing import describe, heading, lost_text, suggested_text
from spacy_cascade.tools.recipes.profile import Held, Profile, measure_profile
from spacy_cascade.tools.recipes.settings import with_settings
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
    assert alone.startswith("# Named entities: spacy cascade init --train a.spacy\n")
    assert "\n# DEV.spacy: Docs to score on, with entities, not used in training.\n" in alone
    assert not alone.partition("\n\n")[0].endswith("#"), "nothing was tried"


def test_who_looks_at_tags_is_told_where_they_come_from(profile: Profile) -> None:
    for tags in (False, True):
        choices = {"train": TRAIN, "tags": tags}
        for text in (
            heading(OUTPUT, Choices(**choices)),
            suggested_text(OUTPUT, profile, suggest(profile, choices)),
        ):
            assert ("\n# Both corpora need predicted tags" in text) == tags


def test_another_config_has_the_comments_that_are_given_with_it(profile: Profile) -> None:
    suggestion = suggest(profile, {"train": TRAIN})
    config = with_settings(suggestion.config, {"training.patience": 7})
    comments = {"training": ["It was tried."]}
    text = suggested_text(OUTPUT, profile, suggestion, config=config, comments=comments)
    end = config_text(config, comments)
    assert "\n# It was tried.\n[training]\n" in end
    assert "\npatience = 7\n" in end
    assert text.endswith(end)


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


@pytest.mark.parametrize(
    ("n_types", "rest"), [(12, ""), (13, " and 1 other"), (15, " and 3 others")]
)
def test_a_dozen_types_are_listed(profile: Profile, n_types: int, rest: str) -> None:
    labels = Counter({f"T{i}": 40 - i for i in range(n_types)})
    seen = replace(
        profile, labels=labels, entities=labels.total(), mean_length=1.25, length_95=2, longest=7,
        recurring=0.5, recurring_elsewhere=0.25,
    )  # fmt: skip
    listed = ", ".join(f"T{i} {(40 - i) / labels.total():.0%}" for i in range(12))
    assert describe(seen)[1] == (
        f"{labels.total()} entities of {n_types} types: {listed}{rest}. They have 1.2 words on "
        "average, 95 % have 2 at most, the longest has 7. 50% recur in the same document, 25% in "
        "the next one."
    )


CAPITALS = (
    " 95% of the entities begin with a capital, and few will be found where none is typed. Where "
    "texts in use are typed so, init --plain-copies helps, at some cost elsewhere."
)


@pytest.mark.parametrize(
    ("lower", "upper", "capitalized", "expected"),
    [
        (0.991, 0.0, 0.0, " The text is in lower case."),
        (0.0, 0.991, 1.0, " The text is in upper case."),
        (0.99, 0.99, 0.949, ""),
        (0.0, 0.99, 0.95, CAPITALS),
    ],
)
def test_the_case_is_told_where_it_is_that_of_nearly_all(
    profile: Profile, lower: float, upper: float, capitalized: float, expected: str
) -> None:
    usual = replace(profile, spacing_known=1.0, hyphens_split=None, slashes_split=None)
    seen = replace(usual, lower=lower, upper=upper, capitalized=capitalized)
    assert describe(seen)[2] == f"The spaces between words are known.{expected}"


def test_what_else_was_seen_follows_in_order(profile: Profile) -> None:
    held = Held(2, None, 1000, 1, Counter(PER=1), unseen_words=0.125, unseen_entities=0.5)
    seen = replace(
        profile,
        lost=Counter({"that cut a token": 2, "of several parts": 1}),
        contradictions=["This and that."],
        covered={"one": 0.7, "other": 0.69},
        dev=held,
    )
    lost, *others = describe(seen)[3:]
    assert lost.startswith(
        "3 spans of the annotation became no entity in `convert`: 2 that cut a token, 1 of several "
        "parts. The measures of tokenizers count those that cut a token. "
    )
    assert others == [
        "This and that.",
        "The table of words 'one' knows 70% of the words.",
        "The table of words 'other' knows 69% of the words. It seems to be of another language or "
        "kind of token.",
        "To score on: 2 documents, 1,000 words, 1 entity. 12.5% of the words and 50% of the "
        "entities do not occur in the training corpus.",
    ]
    assert len(describe(profile)) == 3, "nothing is told of what is not there"
    assert lost_text(Counter(other=1)).endswith("`convert`: 1 other.")
