"""The usable GPUs."""

from __future__ import annotations

from .. import _core
from .._values.devices import Device, DeviceList


def devices() -> DeviceList:
    """Lists the GPUs that this process can use.

    The driver is not touched before this call. The list is empty in a package built without CUDA,
    or without a GPU.

    Returns
    -------
    list of Device
        In the order of their ordinals.

    Examples
    --------
    >>> import spikeweave
    >>> devices = spikeweave.devices()
    >>> [device.ordinal for device in devices] == list(range(len(devices)))
    True
    """
    return DeviceList(Device(**one) for one in _core.devices())
