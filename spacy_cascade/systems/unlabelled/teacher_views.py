"""Configs whose components look at one view of their templates, or at both and nothing else."""

from collections.abc import Collection

from thinc.api import Config

from .views import View

_REGISTERED = "spacy_cascade.View.v1"
_CLASSIFIER = "cascade_classifier"
_SEGMENTS = "segments"
_SECTIONS = ("templates", _SEGMENTS)
"""Of a model: what it looks at in tokens or spans, and in segments where it scores such."""


def with_views(config: Config, views: Collection[View]) -> Config:
    """A copy of a training config whose components look at these views only.

    config: complete and without variables.
    """
    changed = config.copy()
    for name in changed["nlp"]["pipeline"]:
        component = changed["components"][name]
        model = component.get("model") or {}
        for section in set(_SECTIONS).intersection(model):
            model[section] = {
                "@misc": _REGISTERED,
                "of": model[section],
                "views": [view.value for view in views],
                "of_spans": section == _SEGMENTS or component["factory"] == _CLASSIFIER,
            }
    return changed
