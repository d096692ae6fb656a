#include "fuzz/features.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(fet, parts, nullptr) {
    write_parts(folder, bytes, {"a.fet.1", "a.fmask.1", "a.res.1"});
    read_features_and_write_again(folder, folder.path() / "a.fet.1");
}

}  // namespace spikeweave::fuzz
