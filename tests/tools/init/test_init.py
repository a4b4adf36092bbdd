"""`spacy cascade init`: the configs that it writes, and the questions that it asks."""

from __future__ import annotations

from functools import partial
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
from spacy_cascade.tools.init import command as init
from spacy_cascade.tools.recipes import Choices, Recipe, make_config
from spacy_cascade.tools.recipes.configs import with_filled
from spacy_cascade.tools.recipes.deciding import change_of
from spacy_cascade.tools.recipes.rules import BY_CORPUS, VARIANTS

LABELS = "DNA,RNA,cell_line,cell_type,protein"
SLOW = pytest.mark.slow(kind="commands")


run = partial(run_command, "init")


def written(path: Path, *options: str) -> dict[str, Any]:
    """Settings of the config that the command writes, by their dotted names."""
    run(path, *options)
    return settings(load_config(path).interpolate())


def shipped(name: str) -> dict[str, Any]:
    """All settings of one of `configs/`, with what spaCy fills in."""
    nlp = load_model_from_config(load_config(PROJECT / "configs" / name), auto_fill=True)
    return settings(nlp.config.interpolate())


def settings(section: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found = {}
    for name, value in section.items():
        if isinstance(value, dict) and value:
            found.update(settings(value, f"{prefix}{name}."))
        else:
            found[prefix + name] = value
    return found


def changed(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


@pytest.mark.parametrize("recipe", [recipe for recipe in Recipe if recipe != Recipe.crf])
def test_it_has_the_settings_of_the_shipped_configs(recipe: Recipe, tmp_path: Path) -> None:
    assert written(tmp_path / "x.cfg", "--recipe", recipe.value) == shipped(f"{recipe.value}.cfg")


def test_one_phase_is_a_single_typed_chain(tmp_path: Path) -> None:
    found = written(tmp_path / "x.cfg", "--recipe", "crf")
    assert found["nlp.pipeline"] == ["cascade_segmenter"]
    of_segmenter = {name.removeprefix("components.cascade_segmenter."): value
                    for name, value in found.items()}  # fmt: skip
    assert of_segmenter["typed"]
    assert of_segmenter["set_ents"]
    assert of_segmenter["model.@architectures"] == "spacy_cascade.LinearChain.v1"
    assert of_segmenter["loss.@misc"] == "spacy_cascade.Likelihood.v2"


def test_the_variant_of_one_phase_types_its_spans() -> None:
    (variant,) = (each for each in VARIANTS if each.name == "spans and types in one phase")
    config = make_config(Choices(recipe=Recipe.semi))
    found = settings(with_filled(config, change_of(config, BY_CORPUS, variant)).interpolate())
    differences = changed(found, shipped("semi.cfg"))
    classifier = {name for name in differences if "cascade_classifier" in name}
    assert {name.removeprefix("components.cascade_segmenter.")
            for name in differences - classifier} == {
        "nlp.pipeline", "typed", "set_ents", "scheme", "penalty.sigma",
    }  # fmt: skip


def test_tags_are_looked_at(tmp_path: Path) -> None:
    """By the segmenter, and both corpora give them."""
    found, plain = written(tmp_path / "x.cfg", "--tags"), shipped("memb.cfg")
    extra = "components.cascade_segmenter.model.templates.extra"
    others = {name for name in changed(found, plain) if not name.startswith("corpora.")}
    assert others == {extra}
    assert any(template.startswith("tag@") for template in found[extra])
    assert found["corpora.train.gold_inputs"] == found["corpora.dev.gold_inputs"] == ["tags"]
    assert "cascade_tagger" in (tmp_path / "x.cfg").read_text(encoding="utf8")


def test_clusters_are_looked_at_by_all_components(tmp_path: Path) -> None:
    found = written(tmp_path / "x.cfg", "--clusters", "words.txt.gz")
    sections = [f"components.{name}.model.templates.clusters" for name in found["nlp.pipeline"]]
    assert {found[f"{section}.words"] for section in sections} == {"words.txt.gz"}
    others = changed(found, shipped("memb.cfg")) - {f"{section}.words" for section in sections}
    assert others <= set(sections)


def test_vectors_are_looked_at_by_all_components(tmp_path: Path) -> None:
    found = written(tmp_path / "x.cfg", "--vectors", "folder/of/vectors")
    places = {f"components.{name}.model.templates.vectors.words" for name in found["nlp.pipeline"]}
    assert found["initialize.vectors"] == "folder/of/vectors"
    plain = written(tmp_path / "plain.cfg", "--recipe", "memb")
    assert changed(found, plain) == {*places, "initialize.vectors"}


def test_what_each_option_changes(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.cfg", "--recipe", "memb")
    for options, expected in (
        (["--domain", "general"], {"nlp.tokenizer.@tokenizers": "spacy.Tokenizer.v1"}),
        (["--lang", "de"], {"nlp.lang": "de"}),
        (
            ["--small"],
            {f"components.{name}.model.min_count": 1 for name in plain["nlp.pipeline"]},
        ),
    ):
        found = written(tmp_path / f"{options[-1]}.cfg", *options)
        assert {name: found[name] for name in changed(found, plain)} == expected
    labels = written(tmp_path / "labels.cfg", "--labels", "protein, DNA")
    for name in plain["nlp.pipeline"]:
        assert labels[f"components.{name}.gold_labels"] == ["DNA", "protein"]


@pytest.mark.slow(kind="commands")
@pytest.mark.parametrize(
    "options",
    [
        ("--labels", LABELS),
        pytest.param(("--recipe", "ocr", "--domain", "general", "--lang", "xx"), marks=SLOW),
        pytest.param(("--recipe", "crf", "--labels", LABELS), marks=SLOW),
        pytest.param(("--recipe", "semi"), marks=SLOW),
        pytest.param(("--tags",), marks=SLOW),
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
    assert f"python -m spacy train {config.name}" in lines[2]
    best = spacy.load(output / "model-best")
    assert best.meta["performance"]["ents_f"] > 0.8
    assert list(best.pipe_labels[best.pipe_names[-1]]) == LABELS.split(",")


def test_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_is_terminal", lambda: True)
    asked, by_options = tmp_path / "asked.cfg", tmp_path / "options.cfg"
    stdout, _ = run(asked, answers="\nklingon\nde\nlegal\ngeneral\nocr\nn\ny\nORG, PER\n")
    assert stdout.count("Domain (biomedical, general)") == 2
    assert "'legal' is none of biomedical, general" in stdout
    assert stdout.count("Language [en]") == 2
    assert "spaCy does not know the language 'klingon'" in stdout
    run(
        by_options, "--lang", "de", "--domain", "general", "--recipe", "ocr", "--small",
        "--labels", "ORG,PER",
    )  # fmt: skip
    assert load_config(asked) == load_config(by_options)
    run(tmp_path / "defaults.cfg", answers="\n" * 7)
    assert settings(load_config(tmp_path / "defaults.cfg").interpolate()) == shipped("memb.cfg")


def test_nothing_is_asked_outside_of_a_terminal(tmp_path: Path) -> None:
    assert written(tmp_path / "x.cfg") == shipped("memb.cfg")


def test_sections_follow_what_they_are_part_of(tmp_path: Path) -> None:
    run(tmp_path / "x.cfg")
    text = (tmp_path / "x.cfg").read_text(encoding="utf8")
    names = [line[1:-1] for line in text.splitlines() if line.startswith("[")]
    assert len(names) == len(set(names))
    places = [name.split(".") for name in names]
    for i, place in enumerate(places):
        if len(place) > 1:
            before = places[i - 1]
            assert before[: len(place) - 1] == place[:-1]


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
