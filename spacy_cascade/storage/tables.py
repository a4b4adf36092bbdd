"""Tables of JSON that are checked field by field, as `pydantic` does it."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""For `__pydantic_config__`: these fields and no others, of their very types, numbers finite."""
_SHOWN = 100
T = TypeVar("T")


def read_table(kind: type[T], text: bytes) -> T:
    """The dataclass of a text. Raises `ValueError` that names the first wrong field."""
    try:
        made: T = _adapter(kind).validate_json(text)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:_SHOWN]
        what = f"has no valid {place!r}" if place else "is no valid table"
        raise ValueError(f"the header {what}: {first['msg']}") from None
    return made


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
