"""Which extension and command the package uses: its own, or those compiled with CUDA.

``pip install 'spikeweave[cuda]'`` adds the package ``spikeweave_cuda``, which has nothing but the
same extension and the same command for NVIDIA GPUs. Where there is a driver, its folder is first in
the path of this package, so that ``spikeweave._core`` is found there. Therefore this module is
imported before any that needs the extension.
"""

import ctypes
import os
import sys
import warnings


def has_driver() -> bool:
    """Return whether an NVIDIA driver is installed; it is not asked for GPUs."""
    if os.path.exists("/proc/driver/nvidia/version"):
        return True
    try:
        ctypes.CDLL("libcuda.so.1")  # in the Windows Subsystem for Linux, that file is missing
    except OSError:
        return False
    return True


def cuda_folder() -> str | None:
    """Return the folder of ``spikeweave_cuda`` if it should be used.

    Another version is not, because these Python files do not fit its extension; a warning reports
    it.
    """
    try:
        import spikeweave_cuda as cuda
        from spikeweave_cuda import VERSION as CUDA_VERSION  # an emptied folder has none

        from ._version import VERSION  # written by the build of a wheel; a checkout has none
    except ImportError:
        return None
    if not has_driver():
        return None
    if CUDA_VERSION != VERSION:
        warnings.warn(
            f"GPUs are not used: spikeweave is version {VERSION}, but spikeweave-cuda is "
            f"{CUDA_VERSION} (pip install 'spikeweave[cuda]=={VERSION}')",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return cuda.__path__[0]


_folder = cuda_folder()
if _folder is not None:
    sys.modules[__package__].__path__.insert(0, _folder)
