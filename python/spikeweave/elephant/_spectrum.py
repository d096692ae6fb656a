"""The p-value spectrum."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

import neo
import numpy as np
import quantities as pq

from spikeweave import _core

from ._binning import Binned, Trains, number_in
from ._deprecated import takes_binsize
from ._names import SPECTRA, SURR_METHODS, check_choice
from ._settings import current, running
from ._surrogates import elephant_generators, elephant_surrogates, is_plain_dithering, own_arguments


def _as_sequence(spiketrains: Sequence[neo.SpikeTrain]) -> Any:
    first = spiketrains[0]
    times = np.concatenate([train.rescale(pq.s).magnitude for train in spiketrains])
    units = np.repeat(
        np.arange(len(spiketrains), dtype=np.uint32), [len(train) for train in spiketrains]
    )
    names = [str(unit) for unit in range(len(spiketrains))]
    core, duplicates, _ = _core.make_spikes(
        times.astype(float), units, names, first.t_start, first.t_stop
    )
    if duplicates:
        warnings.warn(f"{duplicates} spikes are listed twice and were counted once.", stacklevel=5)
    return core


def _mined(
    surrogates: Iterable[Binned], number: int, mining: dict[str, Any], call: dict[str, Any]
) -> dict[str, np.ndarray]:
    """Mine surrogates while the next ones are made."""
    # The miner is closed, because a stored exception would otherwise keep its threads alive.
    with closing(_core.ElephantSurrogateMiner({**mining, "threads": call["threads"]})) as miner:
        for done, surrogate in enumerate(surrogates, 1):
            miner.add(surrogate.arrays())
            if call["progress"] is not None:
                call["progress"]("mining surrogates", done, number)
        return miner.spectrum()


def _own_spectrum(
    spiketrains: Sequence[neo.SpikeTrain], bin_size: pq.Quantity, arguments: dict[str, Any]
) -> dict[str, np.ndarray]:
    Trains.of(spiketrains, bin_size)  # refuses invalid input
    units = spiketrains[0].units
    in_seconds = number_in(pq.s, "spiketrains", units)
    if in_seconds not in (1.0, 0.001):
        raise ValueError(
            f"spiketrains: expected units of s or ms, found {units.dimensionality};"
            " spikeweave's own surrogates know no others"
        )
    return _core.elephant_own_spectrum(
        _as_sequence(spiketrains), {**arguments, "in_seconds": in_seconds == 1}
    )


def _as_entries(found: dict[str, np.ndarray], spectrum: str) -> list[list[Any]]:
    counts = found["counts"]
    # The type is Elephant's if the counts fit into it.
    counts = counts.astype(np.uint16 if counts.max(initial=0) < 1 << 16 else np.uint32)
    columns = [found["sizes"].tolist(), list(counts)]
    if spectrum == "3d#":
        columns.append(found["durations"].tolist())
    return [list(entry) for entry in zip(*columns, list(found["p"]), strict=True)]


@takes_binsize
def pvalue_spectrum(
    spiketrains: Sequence[neo.SpikeTrain],
    bin_size: pq.Quantity,
    winlen: int,
    dither: pq.Quantity,
    n_surr: int,
    min_spikes: int = 2,
    min_occ: int = 2,
    max_spikes: int | None = None,
    max_occ: int | None = None,
    min_neu: int = 1,
    spectrum: str = "#",
    surr_method: str = "dither_spikes",
    **surr_kwargs: Any,
) -> list[list[Any]]:
    """Estimate how likely signatures are in surrogates of the spike trains.

    Parameters
    ----------
    spiketrains : list of neo.SpikeTrain
        All trains have the same units, t_start and t_stop.
    bin_size : quantities.Quantity
        Width of the bins.
    winlen : int
        Number of bins in a window.
    dither : quantities.Quantity
        Largest distance by which spikes, or trials, are moved.
    n_surr : int
        Number of surrogates; at least 1.
    min_spikes, min_occ, max_spikes, max_occ, min_neu : int
        As in `concepts_mining`.
    spectrum : {'#', '3d#'}
        Signatures of size and occurrences, or also of duration.
    surr_method : str
        A method of `elephant.spike_train_surrogates`.
    surr_kwargs
        Passed to the method.

    Returns
    -------
    list of list
        [size, occurrences, p] or [size, occurrences, duration, p]: p is the share of surrogates
        with a pattern of at least this size and number of occurrences (and exactly this duration).
        Signatures that no surrogate has are not listed.

    Raises
    ------
    ValueError
        For `n_surr` below 1, or an unknown `surr_method` or `spectrum`.

    Notes
    -----
    Surrogates are Elephant's, from NumPy's global state: after the same ``numpy.random.seed`` the
    spectrum equals Elephant's bit by bit. They are mined on threads while the next ones are made.
    With ``settings(seed=...)``, or without Elephant, they are spikeweave's own. More than 32,767
    occurrences are supported, for which Elephant's spectrum is empty.

    Examples
    --------
    >>> import neo, numpy as np, quantities as pq
    >>> from spikeweave.elephant import pvalue_spectrum
    >>> trains = [neo.SpikeTrain(np.arange(10, 1000, 10), units="ms", t_stop=1000)] * 2
    >>> np.random.seed(0)
    >>> found = pvalue_spectrum(trains, 5 * pq.ms, 1, dither=2 * pq.ms, n_surr=50, min_occ=40)
    >>> [(size, int(count), float(p)) for size, count, p in found][0]
    (2, 40, 0.96)
    """
    if n_surr <= 0:
        raise ValueError(f"n_surr: expected an integer > 0, found {n_surr}")
    check_choice("surr_method", surr_method, SURR_METHODS)
    check_choice("spectrum", spectrum, SPECTRA)
    seed = current().seed
    mining = {
        "winlen": winlen,
        "min_spikes": min_spikes,
        "min_occ": min_occ,
        "max_spikes": max_spikes,
        "max_occ": max_occ,
        "min_neu": min_neu,
        "spectrum": spectrum,
    }
    made = elephant_generators()
    with running() as call:
        if seed is None and (made or is_plain_dithering(surr_method, surr_kwargs)):
            surrogates = elephant_surrogates(
                made, spiketrains, bin_size, dither, surr_method, n_surr, surr_kwargs
            )
            found = _mined(surrogates, n_surr, mining, call)
        else:
            arguments = own_arguments(bin_size, dither, surr_method, surr_kwargs)
            found = _own_spectrum(
                spiketrains,
                bin_size,
                {**mining, **arguments, "surrogates": n_surr, "seed": seed, **call},
            )
    return _as_entries(found, spectrum)
