"""Two views of a template set: the phrase itself, and what stands around it.

Co-training needs two models that look at different things, each of which could do alone (Blum and
Mitchell 1998, Combining Labeled and Unlabeled Data with Co-Training). A template that looks at
both, such as a word with the word before it, belongs to neither view. Nor does one that looks at
the neighbours' counts in training: each model has counts of its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import Enum

from ...checks import configured
from ...errors import TemplateError
from ...features.attributes import ContextAttribute
from ...features.resources import Resource
from ...features.templates import (
    ALL,
    ANY,
    FIRST,
    HEAD_RECURRENCE,
    LAST,
    LONG_FORM,
    LONG_FORM_LAST,
    RECURRENCE,
    UNIT,
    Part,
    Template,
    Templates,
)
from ...types import Texts

_ALWAYS = "bias"
"""Without this template no view knows how frequent the labels are."""


class View(str, Enum):
    """What a template looks at."""

    internal = "internal"
    external = "external"


@configured
def make_view(of: Templates, views: Texts, of_spans: bool = False) -> Templates:
    """Registered as `spacy_cascade.View.v1`: the templates of a set that belong to views.

    of: the set. views: `"internal"`, `"external"`, or both; `bias` always stays. of_spans: whether
    the templates look at spans, of which the second token can be inside or outside.

    Raises `TemplateError` for another view, and where a view has no template.
    """
    unknown = sorted(set(views) - {view.value for view in View})
    if unknown or not views:
        raise TemplateError(
            f"There is no view '{', '.join(unknown)}'. Known: internal, external. Change views "
            "under [components.*.model.templates]."
        )
    sides = [(template, view_of(template, of_spans)) for template in of.expanded()]
    for view in map(View, views):
        if all(side is not view for _, side in sides):
            looks_at = "the phrase itself" if view is View.internal else "what stands around it"
            raise TemplateError(
                f"The templates give no {view.value} view: none of them looks only at {looks_at}. "
                "Add some under [components.*.model.templates]."
            )
    kept = tuple(t.text for t, side in sides if side in _views(views) or str(t) == _ALWAYS)
    return replace(of, templates=kept)


def _views(names: Sequence[str]) -> Collection[View]:
    return [View(name) for name in names]


def view_of(template: Template, of_spans: bool) -> View | None:
    """The view that a template belongs to; None for one of both, or of none."""
    found = {_view_of_part(part, of_spans) for part in template.parts}
    return found.pop() if len(found) == 1 else None


def _view_of_part(part: Part, of_spans: bool) -> View | None:
    if _is_inside(part):
        return View.internal
    is_at_edge = part.anchor in (FIRST, LAST)
    is_beyond = part.offset < 0 if part.anchor == FIRST else part.offset > 0
    can_be_inside = of_spans and is_at_edge and not is_beyond
    if can_be_inside or _is_learnt(part) or str(part) == _ALWAYS:
        return None
    return View.external


def _is_inside(part: Part) -> bool:
    if part.anchor == UNIT:
        # Attributes of context that read no resource look at the spans around.
        is_context = isinstance(part.attribute, ContextAttribute) and part.attribute.spec is None
        return not is_context and str(part) != _ALWAYS
    if part.anchor in (FIRST, LAST, RECURRENCE, HEAD_RECURRENCE):
        return part.offset == 0
    return part.anchor in (ANY, ALL, LONG_FORM, LONG_FORM_LAST)


def _is_learnt(part: Part) -> bool:
    """Whether it reads what training learns from the annotation."""
    spec = part.attribute.spec
    return spec is not None and spec.kind.learn is not Resource.learn
