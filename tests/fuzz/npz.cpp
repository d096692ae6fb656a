#include "fuzz/spikes.hpp"

namespace spikeweave::fuzz {

// The input is either arrays as parts, which are zipped with correct checksums, or a whole archive.
SPIKEWEAVE_FUZZ_TARGET(npz, parts, nullptr) {
    const auto path = folder.file(
        "a.npz", bytes.starts_with("PK") ? std::string(bytes) : zip_of(parts_of(bytes)));
    read_and_write_again(folder, path, spike_format::npz, bytes);
}

}  // namespace spikeweave::fuzz
