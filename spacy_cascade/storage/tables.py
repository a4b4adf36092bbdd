"""Tables of JSON that are checked field by field, as `pydantic` does it."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

_SHOWN = 100


class Table(BaseModel):
    """A table that has these fields and no others, each of its very type; numbers are finite."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


AnyTable = TypeVar("AnyTable", bound=BaseModel)


def read_table(kind: type[AnyTable], text: bytes) -> AnyTable:
    """The table of a text. Raises `ValueError` that names the first wrong field of the header."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:_SHOWN]
        what = f"has no valid {place!r}" if place else "is no valid table"
        raise ValueError(f"the header {what}: {first['msg']}") from None
