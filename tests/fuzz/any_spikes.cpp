#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

// The format is found by the content.
SPIKEWEAVE_FUZZ_TARGET(any_spikes, bytes, nullptr) {
    // Bytes of HDF5 are for the targets that know how to mutate them.
    if (bytes.starts_with("\x89HDF")) return;
    read_and_write_again(folder, folder.file("a.any", bytes), spike_format::automatic, bytes);
}

}  // namespace spikeweave::fuzz
