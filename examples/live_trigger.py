"""Sends a pulse each time that a chain of neurons has fired, while the recording runs.

Usage: live_trigger.py CHAINS [PORT]
CHAINS  names of units with the delay between two of them in ms, such as n4,4-6,n5,4-6,n6; several
        chains are separated by blanks
PORT    a device that takes a byte for a pulse, such as /dev/ttyUSB0; without it, times are printed

Spikes come on standard input, in the order of time: a line for each, with the time in seconds, a
tab and the unit. Pulses of a chain are at least 50 ms apart, and of all chains there are ten at
once at most, and then ten a second. Both are times of the spikes: if this program is held up, the
pulses of that time come at once, so the device itself must keep a shortest time between pulses.
"""

import sys

import spikeweave


def parse_chain(text):
    parts = text.split(",")
    units, delays = parts[::2], parts[1::2]
    bounds = [tuple(float(ms) / 1000 for ms in delay.split("-")) for delay in delays]
    return units, bounds


def blocks(lines, number):
    for line in lines:
        time, unit = line.split("\t")
        if unit.strip() in number:  # no chain needs the others
            yield [float(time)], [number[unit.strip()]]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    chains = [parse_chain(text) for text in sys.argv[1].split()]
    units = sorted({unit for chain, _ in chains for unit in chain})
    number = {unit: i for i, unit in enumerate(units)}
    port = open(sys.argv[2], "wb", buffering=0) if len(sys.argv) > 2 else None
    with spikeweave.live(
        blocks(sys.stdin, number),
        unit_names=units,
        episodes=chains,
        windows=False,
        hold_off="50ms",
        max_triggers="10/s",
    ) as run:
        for event in run:
            if not isinstance(event, spikeweave.Detection) or not event.is_trigger:
                continue
            if port is not None:
                port.write(b"\x01")
            print(f"{event.times[-1]:.6f}", " -> ".join(event.units), flush=True)


if __name__ == "__main__":
    main()
