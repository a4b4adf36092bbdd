"""What `spacy cascade init --auto` leaves of a search, whose trainings are made up here."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from spacy.util import load_config
from spacy.vocab import Vocab

from commands import run_command
from made_corpora import named_docs, write_docs
from spacy_cascade.tools.recipes.deciding import Variant
from spacy_cascade.tools.search.auto import AutoSearch
from spacy_cascade.tools.search.greedy import Candidate, Search, Step
from spacy_cascade.tools.search.trials import Settings, Trial

run = partial(run_command, "init")
MIN_COUNT: Settings = {"components.cascade_segmenter.model.min_count": 7}
BOTH: Settings = {**MIN_COUNT, "training.max_steps": 9}
STEPS = [
    Step(Candidate({}), 0.8, 1.0, 0.0, 0.0, is_kept=True),
    Step(Candidate(MIN_COUNT, Variant("often", {}, "because")), 0.81, 1.0, 0.01, 0.005, True),
    Step(Candidate(BOTH, Variant("worse", {}, "to lose")), 0.79, 1.0, -0.02, 0.0, False),
    Step(Candidate(BOTH, Variant("short", {}, "of haste")), 0.815, 1.0, 0.005, 0.001, True),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_docs(tmp_path / "all.spacy", named_docs(Vocab(), 6))


def test_the_config_says_what_was_tried_and_above_each_section_what_was_kept(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Search(0, Trial(BOTH, 0.815, [0.815], 1.0), STEPS)
    monkeypatch.setattr(AutoSearch, "run", lambda *_: found)
    config = tmp_path / "x.cfg"
    run(config, "--train", corpus, "--dev", corpus, "--auto")
    text = config.read_text(encoding="utf8")
    assert (
        f"# Tried by --auto, F1 on {corpus}. A change is kept that gains more than 0.5 standard "
        "errors:\n"
        "#   80.00  the choice of the rules\n"
        "#   81.00  often: +1.00 ± 0.50, kept\n"
        "#   79.00  worse: -2.00 ± 0.00, not kept\n"
        "#   81.50  short: +0.50 ± 0.10, kept\n"
    ) in text
    joined = text.replace("\n# ", " ")
    for comment, section in (
        ("short (+0.50 ± 0.10 F1); of haste.", "training"),
        ("often (+1.00 ± 0.50 F1); because.", "components.cascade_segmenter.model"),
    ):
        assert f"--auto changed it: {comment}\n[{section}]\n" in joined
    assert text.count("--auto changed it") == 2
    assert load_config(config)["training"]["max_steps"] == 9


def test_nothing_is_held_out_nor_said_of_trainings_where_none_has_ended(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AutoSearch, "run", lambda *_: Search(5, is_stopped=True))
    config = tmp_path / "x.cfg"
    stdout, _ = run(config, "--train", corpus, "--auto", exit_code=130)
    assert "No training has ended. Config with the choice of the rules" in stdout
    assert "Tried by --auto" not in config.read_text(encoding="utf8")
    paths = load_config(config)["paths"]
    assert (paths["train"], paths["dev"]) == (str(corpus), None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.spacy", "x.cfg"]
