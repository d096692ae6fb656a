#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(npy, bytes, nullptr) {
    read_and_write_again(folder, folder.file("a.npy", bytes), spike_format::npy, bytes);
}

}  // namespace spikeweave::fuzz
