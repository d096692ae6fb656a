"""Arguments that were given, in the form for the library."""

from __future__ import annotations

from typing import Any


def given(**arguments: Any) -> dict[str, Any]:
    """The arguments that are not None; the library has the defaults of all others."""
    return {name: value for name, value in arguments.items() if value is not None}
