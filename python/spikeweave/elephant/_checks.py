"""Checks of the arguments of `spade` before anything is computed."""

from __future__ import annotations

import warnings
from typing import Any

import neo
import numpy as np
import quantities as pq

from ._names import CORRECTIONS, SPECTRA, SURR_METHODS, check_choice


def check_whole(name: str, value: Any, none: bool = False) -> None:
    """Raise TypeError unless the value is a whole number, or None if that is allowed."""
    if not (isinstance(value, (int, np.integer)) or (none and value is None)):
        raise TypeError(f"{name}: expected an integer{' or None' if none else ''}, found {value!r}")


def check_quantity(name: str, value: Any) -> None:
    """Raise TypeError unless the value is a quantity."""
    if not isinstance(value, pq.Quantity):
        raise TypeError(f"{name}: expected a quantity, found {value!r}")


def _check_trains(spiketrains: Any) -> None:
    if not all(isinstance(train, neo.SpikeTrain) for train in spiketrains):
        raise TypeError("spiketrains: expected a list of neo.SpikeTrain")
    for name in ("t_start", "t_stop"):
        edges = [getattr(train, name) for train in spiketrains]
        if any(edge != edges[0] for edge in edges):
            raise ValueError(f"spiketrains: expected the same {name}")


def _check_reduction(psr_param: Any) -> None:
    if psr_param is None:
        return
    if not isinstance(psr_param, (list, tuple)):
        raise TypeError(f"psr_param: expected None or three integers, found {psr_param!r}")
    for value in psr_param:
        check_whole("psr_param", value)
    if len(psr_param) != 3:
        raise ValueError(f"psr_param: expected three integers, found {len(psr_param)}")


def _asks_for_stability(approx_stab_pars: Any) -> bool:
    if not isinstance(approx_stab_pars, dict):
        return False
    thresholds = approx_stab_pars.get("stability_thresh")
    if thresholds is not None and len(thresholds) < 2:
        raise ValueError(f"stability_thresh: expected two numbers, found {thresholds!r}")
    if "n_subsets" in approx_stab_pars or {"epsilon", "delta"} <= approx_stab_pars.keys():
        return True
    raise ValueError(
        "approx_stab_pars: expected n_subsets, or epsilon and delta, found"
        f" {list(approx_stab_pars)}"
    )


def _check_alpha(alpha: Any, n_surr: int) -> None:
    if alpha is None:
        return
    if not isinstance(alpha, (int, float, np.integer, np.floating)):
        raise TypeError(f"alpha: expected a number or None, found {alpha!r}")
    if 0 < alpha < 1 and n_surr == 0:
        warnings.warn(
            "0.<alpha<1. but p-value spectrum has not been computed (n_surr==0)",
            UserWarning,
            stacklevel=4,
        )


def check_input(
    spiketrains: Any,
    bin_size: Any,
    dither: Any,
    whole: dict[str, Any],
    whole_or_none: dict[str, Any],
    approx_stab_pars: Any,
    alpha: Any,
    spectrum: Any,
    stat_corr: Any,
    surr_method: Any,
    psr_param: Any,
    output_format: Any,
) -> bool:
    """Check the arguments of `spade`; return whether stability is requested."""
    _check_trains(spiketrains)
    check_quantity("bin_size", bin_size)
    for name, value in whole.items():
        check_whole(name, value)
    for name, value in whole_or_none.items():
        check_whole(name, value, none=True)
    computes_stability = _asks_for_stability(approx_stab_pars)
    check_quantity("dither", dither)
    check_choice("spectrum", spectrum, SPECTRA)
    _check_alpha(alpha, whole["n_surr"])
    check_choice("stat_corr", stat_corr, CORRECTIONS)
    check_choice("surr_method", surr_method, SURR_METHODS)
    _check_reduction(psr_param)
    check_choice("output_format", output_format, ("concepts", "patterns"))
    return computes_stability
