"""Measures the energy that the GPUs take while a command runs, by the counter of NVML.

python3 benchmarks/python/gpu_energy.py [--of N] COMMAND...

--of N  the number of things that the command computes, such as surrogates: the joules of each
        are printed too.

The counter is that of a whole card (memory and idle power included) and moves every few tens of
milliseconds, so a command should run for seconds. The idle power before the command is measured
for two seconds and printed beside. The energy of the processor is not in it; where the kernel
shows the counters of RAPL, theirs is printed.
"""

import argparse
import ctypes
import pathlib
import subprocess
import sys
import time


class Counters:
    """The energy of each GPU since its driver was loaded."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.check(self.nvml.nvmlInit_v2())
        number = ctypes.c_uint()
        self.check(self.nvml.nvmlDeviceGetCount_v2(ctypes.byref(number)))
        self.cards = []
        for i in range(number.value):
            card = ctypes.c_void_p()
            self.check(self.nvml.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(card)))
            self.cards.append(card)

    @staticmethod
    def check(status):
        if status != 0:
            raise SystemExit(f"NVML gave the error {status}")

    def joules(self):
        total = 0
        for card in self.cards:
            millijoules = ctypes.c_ulonglong()
            self.check(
                self.nvml.nvmlDeviceGetTotalEnergyConsumption(card, ctypes.byref(millijoules))
            )
            total += millijoules.value / 1000
        return total


def processor_joules():
    """Returns the energy of all processor packages, or None where the kernel does not show it."""
    total = 0
    packages = [
        p
        for p in pathlib.Path("/sys/class/powercap").glob("intel-rapl:*")
        if p.name.count(":") == 1
    ]
    try:
        for package in packages:
            total += int((package / "energy_uj").read_text()) / 1e6
    except OSError:
        return None
    return total if packages else None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--of", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    counters = Counters()
    before, began = counters.joules(), time.monotonic()
    time.sleep(2)
    idle = (counters.joules() - before) / (time.monotonic() - began)

    processor = processor_joules()
    before, began = counters.joules(), time.monotonic()
    status = subprocess.run(options.command, check=False).returncode
    seconds, joules = time.monotonic() - began, counters.joules() - before
    watts = joules / seconds
    print(f"GPU: {joules:.1f} J in {seconds:.2f} s, {watts:.0f} W on average; idle {idle:.0f} W")
    if options.of:
        each = joules / options.of
        print(f"GPU: {each:.4g} J and {seconds / options.of:.4g} s for each of {options.of}")
    if processor is not None:
        print(f"processor: {processor_joules() - processor:.1f} J")
    sys.exit(status)


if __name__ == "__main__":
    main()
