"""Settings of calls for which Elephant's signatures have no arguments."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from spikeweave._adapters.progress import Progress, check_progress, reporting

from ._checks import check_whole


@dataclass(frozen=True)
class Settings:
    """The values that `settings` sets."""

    seed: int | None = None
    threads: int | None = None
    progress: Progress = False


_current: contextvars.ContextVar[Settings] = contextvars.ContextVar(
    "settings",
    default=Settings(),  # noqa: B039 - it is frozen
)


def current() -> Settings:
    """Return the settings in force."""
    return _current.get()


def _check(now: Settings) -> None:
    for name, below in (("seed", 1 << 64), ("threads", 4097)):
        value = getattr(now, name)
        check_whole(name, value, none=True)
        if value is not None and not 0 <= value < below:
            raise ValueError(f"{name}: expected an integer from 0 to {below - 1}, found {value}")
    check_progress(now.progress)


@contextlib.contextmanager
def running() -> Iterator[dict[str, Any]]:
    """Provide the arguments of every long call of the extension."""
    with reporting(current().progress) as progress:
        yield {"threads": current().threads, "progress": progress}


@contextlib.contextmanager
def settings(**changes: Any) -> Iterator[Settings]:
    """Set how the calls in a `with` block run.

    Parameters
    ----------
    seed : int, optional
        With a seed, surrogates and the subsets for stability are drawn by spikeweave: they are the
        same for any number of threads and independent of NumPy's global state. Without a seed,
        surrogates are those of `elephant.spike_train_surrogates`, drawn in Elephant's order from
        the global states of `numpy.random` and `random`; if Elephant is not installed, they are
        spikeweave's own with its default seed.
    threads : int, optional
        Worker threads; every core by default.
    progress : bool or callable, optional
        Show a bar (needs tqdm), or call this function with (task, done, total).

    Raises
    ------
    TypeError, ValueError
        For invalid values.

    Notes
    -----
    The settings are a context variable (`contextvars`): a thread that is started in the block does
    not see them, unless it runs in a copy of the context; an `asyncio` task does.

    Examples
    --------
    >>> from spikeweave.elephant import settings
    >>> with settings(seed=1, threads=2) as now:
    ...     now.seed
    1
    """
    changed = replace(_current.get(), **changes)
    _check(changed)
    token = _current.set(changed)
    try:
        yield _current.get()
    finally:
        _current.reset(token)
