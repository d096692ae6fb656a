"""Writes band_filter.tsv: SciPy's zero-phase Butterworth band passes of a short random trace.

Usage: make_band_filter.py >band_filter.tsv, with tests/golden/requirements.txt installed.
"""

import numpy
import scipy
from scipy import signal

FRAMES = 120
BANDS = ((3, 300, 6000, 30000), (3, 500, 14000, 30000), (2, 500, 900, 20000), (1, 300, 3000, 25000), (5, 1000, 4000, 30000))

trace = numpy.random.default_rng(1).integers(-500, 500, FRAMES).astype(float)
print(f"# numpy {numpy.__version__}, scipy {scipy.__version__}: sosfiltfilt(butter(order, band, 'bandpass'), padtype=None)")
print("# order low_hz high_hz rate_hz, then the filtered trace; the first line of numbers is the trace itself")
print("trace\t" + "\t".join(str(int(value)) for value in trace))
for order, low, high, rate in BANDS:
    sections = signal.butter(order, [low, high], "bandpass", fs=rate, output="sos")
    filtered = signal.sosfiltfilt(sections, trace, padtype=None)
    print(f"{order} {low} {high} {rate}\t" + "\t".join(repr(float(value)) for value in filtered))
