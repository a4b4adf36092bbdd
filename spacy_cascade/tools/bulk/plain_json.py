"""Values as JSON that every reader takes."""

from __future__ import annotations

import base64
import json
from typing import Any


def as_json(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinity: they become null.

    Half a surrogate pair is escaped, since UTF-8 cannot have it.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, default=_plain)
    except ValueError:
        # Python writes names for them, which it reads again and can so replace.
        named = json.dumps(value, default=_plain)
        return as_json(json.loads(named, parse_constant=lambda _: None))
    return text


def _plain(value: Any) -> Any:
    """What JSON can hold of a value that it has no type for, such as a date."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
