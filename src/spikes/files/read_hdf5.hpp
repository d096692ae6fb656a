#pragma once

#include "io/hdf5_reader.hpp"
#include "spikes/files/readers.hpp"

namespace spikeweave::spikes {

/// The readers of open files of HDF5, each of which sets `spike_file::format`.
spike_file read_nwb(const io::hdf5::reader& nwb, const reading& job);
spike_file read_kwik(const io::hdf5::reader& kwik, const reading& job);
spike_file read_eglen(const io::hdf5::reader& file, const reading& job);

}  // namespace spikeweave::spikes
