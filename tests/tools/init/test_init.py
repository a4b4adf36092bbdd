"""`spacy cascade init`: the configs that it writes, and the questions that it asks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.debug_config import debug_config
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.util import load_config, load_model_from_config

from commands import check_errors, run_command
from helpers import PROJECT, blank, sample_docs, write_sample
from spacy_cascade import ConfigError
from spacy_cascade.tools.init import command as init
from spacy_cascade.tools.recipes import Choices, Domain, Recipe, make_config
from spacy_cascade.tools.recipes.configs import with_filled
from spacy_cascade.tools.recipes.deciding import change_of
from spacy_cascade.tools.recipes.rules import BY_CORPUS, VARIANTS

LABELS = "DNA,RNA,cell_line,cell_type,protein"
PIPES = ("cascade_segmenter", "cascade_classifier")

run = partial(run_command, "init")


@cache
def shipped(name: str) -> dict[str, Any]:
    """All settings of one of `configs/`, with what spaCy fills in, by their dotted names."""
    nlp = load_model_from_config(load_config(PROJECT / "configs" / name), auto_fill=True)
    return settings(nlp.config)


def settings(section: Any) -> dict[str, Any]:
    return dict(_settings(section.interpolate(), ""))


def _settings(section: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, dict) and value:
            yield from _settings(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def changed(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.mark.parametrize("recipe", ["semi", "memm", "ocr"])
def test_it_has_the_settings_of_the_shipped_configs(recipe: str) -> None:
    choices = Choices(recipe=Recipe(recipe), no_words=True)
    assert settings(make_config(choices)) == shipped(f"{recipe}.cfg")


def test_without_options_it_writes_the_first_config_in_order(tmp_path: Path) -> None:
    """Nothing is asked outside of a terminal; sections follow what they are part of."""
    run(tmp_path / "x.cfg", "--no-words")
    assert settings(load_config(tmp_path / "x.cfg")) == shipped("memb.cfg")
    text = (tmp_path / "x.cfg").read_text(encoding="utf8")
    names = [line[1:-1] for line in text.splitlines() if line.startswith("[")]
    assert len(names) == len(set(names))
    places = [name.split(".") for name in names]
    for before, place in pairwise(places):
        assert before[: len(place) - 1] == place[:-1]


def test_one_phase_is_a_single_typed_chain() -> None:
    found = settings(make_config(Choices(recipe=Recipe.crf)))
    assert found["nlp.pipeline"] == ["cascade_segmenter"]
    expected = {
        "typed": True, "set_ents": True, "model.@architectures": "spacy_cascade.LinearChain.v1",
        "loss.@misc": "spacy_cascade.Likelihood.v2",
    }  # fmt: skip
    assert {name: found[f"components.cascade_segmenter.{name}"] for name in expected} == expected


def test_the_variant_of_one_phase_types_its_spans() -> None:
    (variant,) = (each for each in VARIANTS if each.name == "spans and types in one phase")
    config = make_config(Choices(recipe=Recipe.semi, no_words=True))
    found = settings(with_filled(config, change_of(config, BY_CORPUS, variant)))
    differences = {name for name in changed(found, shipped("semi.cfg")) if PIPES[1] not in name}
    assert {name.removeprefix("components.cascade_segmenter.") for name in differences} == {
        "nlp.pipeline", "typed", "set_ents", "scheme", "penalty.sigma",
    }  # fmt: skip


def test_what_each_option_changes(tmp_path: Path) -> None:
    """All components look at tables of words; the segmenter looks at tags."""
    path = tmp_path / "x.cfg"
    run(
        path, "--domain", "general", "--lang", "de", "--small", "--labels", "protein, DNA",
        "--tags", "--words", "words.txt.gz", "--words", "more.words",
    )  # fmt: skip
    found, plain = settings(load_config(path)), shipped("memb.cfg")
    expected = {"nlp.tokenizer.@tokenizers": "spacy.Tokenizer.v1", "nlp.lang": "de"}
    for pipe in PIPES:
        of_pipe = {
            "model.min_count": 1, "gold_labels": ["DNA", "protein"],
            "model.templates.words.words": "words.txt.gz",
            "model.templates.words.more": "more.words",
        }  # fmt: skip
        expected |= {f"components.{pipe}.{name}": value for name, value in of_pipe.items()}
    extra = "components.cascade_segmenter.model.templates.extra"
    others = {name for name in changed(found, plain) if not name.startswith("corpora.")}
    # The empty section of the shipped config has a setting now.
    others -= {f"components.{pipe}.model.templates.words" for pipe in PIPES}
    assert {name: found[name] for name in others - {extra}} == expected
    assert any(template.startswith("tag@") for template in found[extra])
    assert found["corpora.train.gold_inputs"] == found["corpora.dev.gold_inputs"] == ["tags"]
    assert "cascade_tagger" in path.read_text(encoding="utf8")


@pytest.mark.slow(kind="commands")
@pytest.mark.parametrize(
    "options",
    [
        ("--labels", LABELS),
        ("--recipe", "ocr", "--domain", "general", "--lang", "xx"),
        ("--recipe", "crf", "--labels", LABELS),
        ("--recipe", "semi"),
        ("--tags",),
    ],
    ids=" ".join,
)
def test_it_trains_as_it_is(options: tuple[str, ...], tmp_path: Path) -> None:
    config, output = tmp_path / "ner.cfg", tmp_path / "OUT"
    run(config, "--small", *options)
    docs = sample_docs(blank().vocab, n_docs=6)
    for doc in docs:
        for token in doc:
            token.tag_ = "NN" if token.is_alpha else "SYM"
    data = tmp_path / "data.spacy"
    DocBin(docs=docs).to_disk(data)
    paths = {"paths.train": str(data), "paths.dev": str(data)}
    debug_config(config, overrides=paths)
    train(config, output, overrides=paths)
    lines = config.read_text(encoding="utf8").splitlines()
    command = f"# python -m spacy train {config} --output OUT"
    assert lines[2] == f"{command} --paths.train TRAIN.spacy --paths.dev DEV.spacy"
    best = spacy.load(output / "model-best")
    assert best.meta["performance"]["ents_f"] > 0.8
    assert list(best.pipe_labels[best.pipe_names[-1]]) == LABELS.split(",")


def test_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_is_terminal", lambda: True)
    asked, defaults = tmp_path / "asked.cfg", tmp_path / "defaults.cfg"
    stdout, _ = run(asked, answers="\nklingon\nde\nlegal\ngeneral\nocr\nn\ny\nORG, PER\n")
    assert stdout.count("Domain (biomedical, general)") == 2
    assert "'legal' is none of biomedical, general" in stdout
    assert stdout.count("Language [en]") == 2
    assert "spaCy does not know the language 'klingon'" in stdout
    same = Choices(
        lang="de", domain=Domain.general, recipe=Recipe.ocr, small=True, labels=("ORG", "PER")
    )
    assert load_config(asked) == make_config(same)
    run(defaults, answers="\n" * 7)
    assert settings(load_config(defaults)) == settings(make_config(Choices()))


def test_english_words_are_looked_at_by_default() -> None:
    """By all components, and nothing else is changed; other languages have none."""
    found = settings(make_config(Choices()))
    more = {name for name in changed(found, shipped("memb.cfg")) if "templates.words" not in name}
    assert more == set()
    for pipe in PIPES:
        name = f"components.{pipe}.model.templates.words.english.@misc"
        assert found[name] == "spacy_cascade.English.v1"
    german = settings(make_config(Choices(lang="de")))
    assert not any("English" in str(value) for value in german.values())


def test_errors_are_one_line(tmp_path: Path) -> None:
    path = write_sample(tmp_path / "there.cfg", n_docs=1)
    before = path.read_bytes()
    check_errors(
        run,
        ((path,), "--force"),
        ((tmp_path / "x.cfg", "--lang", "klingon"), "the language 'klingon'"),
    )
    assert path.read_bytes() == before
    assert not (tmp_path / "x.cfg").exists()
    run(path, "--force")
    assert load_config(path)["nlp"]["lang"] == "en"


def test_a_network_stands_where_a_model_can_have_one() -> None:
    block = {"@misc": "spacy_cascade.WordWindow.v1"}
    config = make_config(Choices(network=True))
    models = [config["components"][name]["model"] for name in config["nlp"]["pipeline"]]
    assert [model["network"] for model in models] == [block, block]
    semi = make_config(Choices(recipe=Recipe.semi, network=True))["components"]
    assert "network" not in semi["cascade_segmenter"]["model"]
    assert semi["cascade_classifier"]["model"]["network"] == block
    assert make_config(Choices())["components"]["cascade_segmenter"]["model"]["network"] is None
    with pytest.raises(ConfigError, match="takes it in parts"):
        make_config(Choices(recipe=Recipe.ocr, network=True))


def test_plain_copies_are_learnt_and_not_scored_on(tmp_path: Path) -> None:
    path = tmp_path / "plain.cfg"
    run(path, "--train", write_sample(tmp_path / "train.spacy", n_docs=2), "--plain-copies")
    corpora = load_config(path)["corpora"]
    assert corpora["train"]["augmenter"]["@augmenters"] == "spacy_cascade.plain_copies.v1"
    assert corpora["dev"]["augmenter"] is None
    with_sentences = make_config(Choices(sentences=True, plain_copies=True))["corpora"]
    assert with_sentences["train"]["augmenter"] == corpora["train"]["augmenter"]
