#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(meabench, bytes, nullptr) {
    read_and_write_again(folder, folder.file("a.spike", bytes), spike_format::meabench, bytes);
}

}  // namespace spikeweave::fuzz
