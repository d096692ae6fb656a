#pragma once

#include "io/hdf5_reader.hpp"

namespace spikeweave::io {

/// Reads the sample rate of a `.kwik`, in hertz; 0 if it states none.
/// @throws io_error if it is no rate.
double read_kwik_rate(const hdf5::reader& kwik);

}  // namespace spikeweave::io
