"""The modules of the package in groups, each guarded by the tests of the folder of its name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.support.imports import FILES, IMPORTS, LAYERS, ROOMS, room

PROJECT = Path(__file__).parents[2]
ROOT = "root"
"""The group of modules that are in no folder."""
KERNELS = "/kernels"
"""How the groups of the modules of rooms that have kernels end."""
_PLAIN = {"NUMBA_DISABLE_JIT": "1"}
"""Kernels are plain Python, so that no mutant is compiled."""
_BOUNDS = {"NUMBA_BOUNDSCHECK": "1"}
"""Kernels notice arrays of a wrong length, for modules that only call them."""
_CALLERS = ("losses", "penalties", "trainers", "systems/higher_order", "systems/isomeric")
_MORE_TESTS = {
    "cli": (
        "systems/unlabelled",
        "tools/explaining/test_explain.py",
        "tools/folding",
        "tools/recipes",
        "tools/reports",
        "tools/search/test_tune.py",
    ),
    "features": ("systems/nested/test_nested_levels.py",),
    "inference": (
        "systems/many_labels/test_many_labels.py",
        "trainers/test_passive_aggressive.py",
        "trainers/test_online_prior.py",
    ),
    "losses": ("trainers/test_objective.py",),
    "numeric": ("systems/many_labels/test_sparse_training.py",),
    "penalties": ("trainers/test_objective.py",),
    "pipeline": (
        "spacy_behaviour/test_span_groups.py",
        "spacy_behaviour/test_training_loops.py",
        "systems/dictionaries/growing/test_neighbours.py",
        "systems/isomeric",
        "systems/nested",
        "systems/word_window/test_word_window.py",
        "tools/formats/test_convert_texts.py",
        "tools/reports/test_confidences_of_spans.py",
        "tools/scale/test_sharding.py",
        "test_unchanged.py",
    ),
    "root": ("inference/test_viterbi.py", "tools/words/test_make_command.py"),
    "scorers": (
        "pipeline/test_base.py",
        "pipeline/test_segmenter.py",
        "pipeline/test_tok2vec.py",
        "systems/ensembles/test_ensemble.py",
        "systems/many_labels/test_sparse_scores.py",
        "systems/nested/test_nested_levels.py",
        "systems/reranking/test_reranker.py",
    ),
    "systems/abbreviations": ("features/test_names.py", "features/test_span_context.py"),
    "systems/many_labels": ("inference/test_dense_losses.py", "inference/test_viterbi.py"),
    "systems/second_look": ("features/test_group_attributes.py",),
    "systems/tagging": (
        "pipeline/test_base.py",
        "pipeline/test_component_settings.py",
        "pipeline/test_contract.py",
        "pipeline/test_sizes.py",
    ),
    "tools/annotation": ("pipeline/test_tok2vec.py",),
    "tools/explaining": (
        "pipeline/test_messages.py",
        "pipeline/test_segmenter_models.py",
        "pipeline/test_tok2vec.py",
        "tools/annotation/test_suggest.py",
    ),
    "tools/recipes": ("spacy_tools/test_commands.py", "tools/formats/test_convert_texts.py"),
    "tools/reports": ("systems/nested/test_asked.py",),
    "tools/tokenizers": ("test_windows.py",),
    "tools/words": ("systems/words/test_word_pieces.py",),
    "trainers": (
        "numeric/test_arrays.py",
        "pipeline/test_online_training.py",
        "pipeline/test_training_runs.py",
        "systems/many_labels/test_sparse_training.py",
    ),
    "workflows": (
        "pipeline/test_tok2vec.py",
        "systems/second_look/test_two_passes.py",
        "systems/unlabelled/test_cotrain.py",
        "tools/explaining/test_explain.py",
        "tools/search/test_trials.py",
    ),
}
_SLOW = ("calibration", "checkpoints", "commands", "searches", "streams", "workflows")
"""Kinds of slow tests that guard modules, as the only ones that run a command or a workflow."""
LEFT_OUT = ("tests/test_jit.py::test_ctrl_c_is_no_other_error",)
"""Tests that interrupt coverage.py, too, which would wait for itself for ever."""


class Group(NamedTuple):
    """Modules that are changed, and the tests that guard them.

    tests: patterns in tests/. environment: variables of the tests. marks: for the option `-m` of
    pytest.
    """

    modules: tuple[Path, ...]
    tests: tuple[str, ...]
    environment: dict[str, str]
    marks: str

    def paths(self) -> list[Path]:
        """Files and folders of tests."""
        tests = PROJECT / "tests"
        return sorted(path for pattern in self.tests for path in tests.glob(pattern))


def group_of(module: str) -> str:
    """The group of a module: its room, such as `systems/local`, or its folder of the core.

    Modules of a room that have kernels are a group apart: only their tests are run without a
    compiler, which is slow.
    """
    top = module.partition(".")[0]
    if name := room(module).replace(".", "/"):
        return name + KERNELS if _has_kernels(module) else name
    return top if top in LAYERS else ROOT


def _has_kernels(module: str) -> bool:
    return "jit" in IMPORTS[module]


def folder_of(group: str) -> str:
    """All systems are one folder, and so are all tools."""
    return group.partition("/")[0]


def is_core(group: str) -> bool:
    return folder_of(group) not in ROOMS


def _group(name: str, names: set[str]) -> Group:
    modules = [module for module in FILES if group_of(module) == name]
    folder = name.removesuffix(KERNELS)
    tests = "test_*.py" if name == ROOT else folder, *_MORE_TESTS.get(folder, ())
    environment, slow = {}, _SLOW
    if name != ROOT and any(map(_has_kernels, modules)):
        environment, slow = _PLAIN, ()
    elif name in _CALLERS or name + KERNELS in names:
        environment = _BOUNDS
    marks = " or ".join(["not slow", *(f"slow(kind='{kind}')" for kind in slow)])
    return Group(tuple(FILES[module] for module in modules), tests, environment, marks)


_NAMES = set(map(group_of, FILES))
GROUPS = {name: _group(name, _NAMES) for name in sorted(_NAMES)}
