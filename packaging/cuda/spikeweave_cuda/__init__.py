"""The extension and the command of spikeweave, compiled with CUDA.

``spikeweave`` takes both from here where there is an NVIDIA driver.
"""

from ._version import VERSION

__all__ = ["VERSION"]
