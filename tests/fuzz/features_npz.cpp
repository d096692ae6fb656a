#include "fuzz/features.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(features_npz, parts, nullptr) {
    read_features_and_write_again(
        folder, folder.file("a.npz", bytes.starts_with("PK") ? std::string(bytes)
                                                             : zip_of(parts_of(bytes))));
}

}  // namespace spikeweave::fuzz
