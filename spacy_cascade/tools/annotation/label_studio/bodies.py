"""What Label Studio sends, checked before anything is done with it."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

Item = TypeVar("Item")
_LARGEST = 2**63 - 1
_LONGEST = 200


def _valid(text: str) -> str:
    text.encode()  # raises `ValueError` for half of a surrogate pair
    return text


Text = Annotated[str, AfterValidator(_valid)]
Number = Annotated[int, Field(strict=True, ge=0, le=_LARGEST)]
Id = Number | Annotated[Text, Field(max_length=_LONGEST)]


def _as_list(value: Any) -> Any:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


Several = Annotated[list[Item], BeforeValidator(_as_list)]
"""One thing or a list of them; null is none."""


class Setup(BaseModel):
    """A project that the backend is connected to; its labelling interface."""

    label_schema: Text = Field("", alias="schema")


class Named(BaseModel):
    """Of what was deleted only the id is sent."""

    id: Id


class Annotation(BaseModel):
    """What an annotator submitted, or skipped."""

    id: Id | None = None
    result: list[dict[str, Any]]
    was_cancelled: bool | None = None


class Task(BaseModel):
    """A text to annotate, under its key in `data`, with its annotations."""

    id: Id | None = None
    data: dict[str, Any]
    annotations: Several[Annotation] = []


class Tasks(BaseModel):
    """Tasks to predict, each checked on its own; label_config: the interface of their project."""

    tasks: list[Any]
    label_config: Text | None = None


class Annotations(BaseModel):
    """Tasks with all their annotations, to train on."""

    annotations: list[Task]
    label_config: Text | None = None


class Project(BaseModel):
    """Where an event comes from; its labelling interface."""

    label_config: Text | None = None


class Event(BaseModel):
    """Something that happened in a project, and what it happened to."""

    action: str
    project: Project = Project()
    task: Several[Task] = []
    annotation: Several[Annotation] = []
    tasks: Several[Named] = []
    annotations: Several[Named] = []
