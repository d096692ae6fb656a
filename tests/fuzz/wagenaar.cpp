#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(wagenaar, bytes, nullptr) {
    read_and_write_again(folder, folder.file("a.spk.txt", bytes), spike_format::wagenaar, bytes);
}

}  // namespace spikeweave::fuzz
