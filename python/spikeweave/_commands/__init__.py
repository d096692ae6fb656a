"""The calls of the library: what `spikeweave` does with values."""
