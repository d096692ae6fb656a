"""The values of the package: spikes, recordings, results, and what their arguments may be."""
