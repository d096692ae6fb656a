"""The old name of `bin_size`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_binsize(function: Function) -> Function:
    """Make a function accept the keyword `binsize`, with a DeprecationWarning."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if "binsize" in kwargs:
            if "bin_size" in kwargs:
                raise TypeError(f"{function.__name__} received both 'binsize' and 'bin_size'")
            warnings.warn(
                "'binsize' is deprecated; use 'bin_size'", DeprecationWarning, stacklevel=2
            )
            kwargs["bin_size"] = kwargs.pop("binsize")
        return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]
