"""Configs for a corpus in hand: comments, what is given, and corpora that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import Doc, Span
from spacy.util import load_config
from spacy.vocab import Vocab

from made_corpora import named_docs, write_docs
from spacy_cascade import ConfigError, CorpusError
from spacy_cascade.tools.recipes import Choices, Domain, Recipe, config_text, make_config
from spacy_cascade.tools.recipes.deciding import Rule, Rules
from spacy_cascade.tools.recipes.describing import describe
from spacy_cascade.tools.recipes.profile import Profile, measure_profile
from spacy_cascade.tools.recipes.suggesting import Suggestion, look_at, named_tables, suggest

PATHS = {"train": Path("a.spacy"), "dev": Path("b.spacy")}


@pytest.fixture(scope="module")
def profile() -> Profile:
    return measure_profile(named_docs(Vocab()))


@pytest.fixture(scope="module")
def nothing(profile: Profile) -> Suggestion:
    """What is suggested without rules."""
    return suggest(profile, {}, Rules([], {}))


def test_comments_stand_above_the_sections_that_they_are_on(
    profile: Profile, tmp_path: Path
) -> None:
    suggestion = suggest(profile, PATHS)
    text = config_text(suggestion.config, suggestion.comments)
    paragraphs = text.split("\n\n")
    for section, expected in (
        ("nlp", "# lang = en: "),
        ("components.cascade_segmenter.model", "# min_count = 1: features that occur once gain"),
        ("nlp.tokenizer", "# tokenizer = spacy.Tokenizer.v1: "),
        ("corpora", "# sentences = no: "),
    ):
        (found,) = [part for part in paragraphs if f"[{section}]" in part.splitlines()]
        assert found.startswith(expected)
        assert all(line.startswith("# ") for line in found.split("\n[")[0].splitlines())
    assert max(map(len, text.splitlines())) <= 100
    path = tmp_path / "x.cfg"
    path.write_text(text, encoding="utf8")
    loaded = load_config(path)
    assert config_text(loaded) == config_text(suggestion.config)
    assert loaded["paths"]["train"] == "a.spacy"
    assert loaded["components"]["cascade_classifier"]["model"]["min_count"] == 1


def test_comments_on_sections_that_are_not_there_stand_above_what_they_are_part_of(
    nothing: Suggestion,
) -> None:
    text = config_text(nothing.config, {"training.batcher.size": ["x"], "nowhere": ["y"]})
    assert "\n# x\n[training.batcher]\n" in text
    assert text.startswith("# y\n[paths]\n")


def test_without_rules_it_is_the_config_for_an_unknown_corpus(nothing: Suggestion) -> None:
    assert nothing.config == make_config(Choices())
    assert list(nothing.comments) == ["components"]  # what is known of English words


def test_what_is_given_wins(profile: Profile) -> None:
    given = {
        "lang": "de", "recipe": Recipe.ocr, "domain": Domain.biomedical, "small": False,
        "labels": ("PER",),
    }  # fmt: skip
    suggestion = suggest(profile, {**PATHS, **given})
    config = suggestion.config
    assert config["nlp"]["lang"] == "de"
    assert config["nlp"]["tokenizer"] == {"@tokenizers": "spacy_cascade.WholeNamesTokenizer.v1"}
    assert config["components"]["cascade_segmenter"]["model"]["min_count"] == 5
    assert config["components"]["cascade_segmenter"]["penalty"] is None
    for component in config["components"].values():
        assert component["gold_labels"] == ["PER"]
    assert suggestion.comments["nlp"] == ["lang = de: as the command line says."]


def test_a_model_is_chosen_by_rules(profile: Profile) -> None:
    rules = Rules([Rule("model", choose="crf", because="x")], {})
    for given, pipeline in (
        ({}, ["cascade_segmenter"]),
        ({"recipe": Recipe.memb}, ["cascade_segmenter", "cascade_classifier"]),
    ):
        assert suggest(profile, given, rules).config["nlp"]["pipeline"] == pipeline


@pytest.mark.parametrize(("small", "min_count"), [(True, 1), (False, 5)])
def test_whether_a_corpus_is_small_is_a_setting(
    profile: Profile, small: bool, min_count: int
) -> None:
    suggestion = suggest(profile, {"small": small})
    assert suggestion.choices == suggest(profile, {}).choices
    for component in suggestion.config["components"].values():
        assert component["model"]["min_count"] == min_count


def test_templates_of_tags_stay_where_a_rule_chooses_templates(profile: Profile) -> None:
    only = {"@misc": "spacy_cascade.SegmentationTemplates.v1", "without": ["recurrence"]}
    rules = Rules(
        [Rule("templates", choose={"cascade_segmenter": only}, because="x")],
        {"templates": "components.*.model.templates"},
    )
    tags = suggest(profile, {"tags": True}, rules).config["components"]["cascade_segmenter"]
    assert any("tag" in text for text in tags["model"]["templates"]["extra"])


def test_a_label_that_the_corpus_does_not_have(profile: Profile) -> None:
    with pytest.raises(ConfigError, match=r"label 'PERS'. The nearest .* is 'PER'; all .*LOC, ORG"):
        suggest(profile, {"labels": ("LOC", "PERS")})
    with pytest.raises(ConfigError, match="The nearest label"):
        suggest(profile, {"labels": ("ζ",)})


def test_corpora_that_cannot_be_used(tmp_path: Path) -> None:
    vocab = Vocab()
    good = write_docs(tmp_path / "good.spacy", named_docs(vocab))
    bare = write_docs(tmp_path / "bare.spacy", [Doc(vocab, words=["a", "b"]), Doc(vocab)])
    empty = write_docs(tmp_path / "empty.spacy", [])
    broken = tmp_path / "broken.spacy"
    broken.write_bytes(good.read_bytes()[:-9])
    (tmp_path / "folder").mkdir()
    for train, dev, message in (
        (bare, None, "bare.spacy has no entities in doc.ents, so there is nothing to learn"),
        (empty, None, "empty.spacy has no entities"),
        (good, bare, "so there is nothing to score on"),
        (tmp_path / "none.spacy", None, "There is no corpus at"),
        (good, broken, "cannot be read as a .spacy file"),
        (tmp_path / "folder", None, "has no .spacy files"),
    ):
        with pytest.raises(CorpusError, match=message):
            look_at(train, dev)
    write_docs(tmp_path / "folder" / "one.spacy", named_docs(vocab, 1))
    write_docs(tmp_path / "folder" / "two.spacy", named_docs(vocab, 2))
    assert look_at(tmp_path / "folder", good).documents == 3


def test_mixed_corpora_get_a_stated_choice() -> None:
    """Docs without words, without sentences, with either token style and unannotated tokens."""
    vocab = Vocab()
    partial = Doc(vocab, words=["Ada", "and", "Bob"])
    partial.set_ents([Span(partial, 0, 1, "PER")], missing=[partial[1:3]])
    docs = [
        *named_docs(vocab, 2, extra=("IL-2",)), *named_docs(vocab, 1, extra=("IL", "-", "2")),
        *named_docs(vocab, 1, is_marked=False), Doc(vocab), partial,
    ]  # fmt: skip
    found = {d.name: d for d in suggest(measure_profile(docs, docs[:1]), {}).decisions}
    assert set(found) == {
        "lang", "model", "tokenizer", "sentences", "min_count", "left out", "sigma", "max_steps",
        "decoding", "words",
    }  # fmt: skip
    assert "only 33% of the hyphens" in found["tokenizer"].reason


def write_list(folder: Path, words: str) -> Path:
    path = folder / "my news.txt"
    path.write_text("".join(f"01\t{word}\t2\n" for word in words.split()), "utf8")
    return path


def test_tables_of_words_are_looked_at_by_all_components(tmp_path: Path) -> None:
    """Besides those of the language."""
    train = write_docs(tmp_path / "train.spacy", named_docs(Vocab(), 6))
    given = {"words": named_tables([write_list(tmp_path, "the visited")]), "lang": "en"}
    assert list(given["words"]) == ["my_news"]
    profile = look_at(train, None, given)
    assert 0 < profile.covered["my_news"] < 1
    text = " ".join(describe(profile))
    assert f"'my_news' knows {profile.covered['my_news']:.0%} of the words" in text
    for named, names in (({}, ["english", "my_news"]), ({"no_words": True}, ["my_news"])):
        suggestion = suggest(profile, {**given, **named})
        for component in suggestion.config["components"].values():
            assert list(component["model"]["templates"]["words"]) == names
        expected = f"words = {', '.join(names)}: as the command line says."
        assert expected in suggestion.comments["components"]


def test_tables_of_the_language(tmp_path: Path) -> None:
    train = write_docs(tmp_path / "train.spacy", named_docs(Vocab(), 6))
    for given, n_tables in (({}, 2), ({"no_words": True}, 0), ({"lang": "de"}, 0)):
        assert len(look_at(train, None, given).covered) == n_tables


def test_a_table_of_another_language_is_named(tmp_path: Path) -> None:
    train = write_docs(tmp_path / "train.spacy", named_docs(Vocab(), 6))
    profile = look_at(train, None, {"words": {"x": str(write_list(tmp_path, "xyz"))}})
    assert "It seems to be of another language" in " ".join(describe(profile))


def test_files_whose_names_begin_alike_are_told_apart() -> None:
    names = ["g50.100.gz", "g50.1000.gz", "news.words", "news.txt.gz", "a b.txt"]
    assert list(named_tables(map(Path, names))) == [
        "g50_100", "g50_1000", "news", "news_2", "a_b",
    ]  # fmt: skip
