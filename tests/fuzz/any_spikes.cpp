#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

// The format is detected from the content.
SPIKEWEAVE_FUZZ_TARGET(any_spikes, bytes, nullptr) {
    // HDF5 is left to the targets that can mutate it.
    if (bytes.starts_with("\x89HDF")) return;
    read_and_write_again(folder, folder.file("a.any", bytes), spike_format::automatic, bytes);
}

}  // namespace spikeweave::fuzz
