"""GPUs."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core


@dataclass(frozen=True)
class Device:
    """A GPU.

    Attributes
    ----------
    ordinal : int
        The number in ``device="cuda:ORDINAL"``.
    name : str
    total_bytes, free_bytes : int
        Bytes of its memory.
    multiprocessors : int
    compute_capability : tuple of int
        ``(9, 0)`` for 9.0.
    driver, cuda : str
        The driver's version, and the newest CUDA version that it supports.
    """

    ordinal: int
    name: str
    total_bytes: int
    free_bytes: int
    multiprocessors: int
    compute_capability: tuple[int, int]
    driver: str
    cuda: str


class DeviceList(list[Device]):
    """The available GPUs; its repr shows why there are none."""

    def __repr__(self) -> str:
        return super().__repr__() if self else f"[]  # {_core.device_unavailable_reason()}"
