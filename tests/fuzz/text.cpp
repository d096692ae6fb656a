#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(text, bytes, nullptr) {
    read_and_write_again(folder, folder.file("a.tsv", bytes), spike_format::text, bytes);
}

}  // namespace spikeweave::fuzz
