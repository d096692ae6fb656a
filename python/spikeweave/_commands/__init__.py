"""The calls of the library: the functions of `spikeweave` on values."""
