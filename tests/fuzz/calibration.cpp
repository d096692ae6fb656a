#include "fuzz/harness.hpp"
#include "published/hybrid/calibration_file.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(calibration, bytes, nullptr) {
    const auto path = folder.path() / "hybrid.tsv";
    const hybrid_calibration first = episodes::calibration_from(bytes, path);
    require(episodes::calibration_from(episodes::calibration_text(first), path) == first,
            "a calibration comes back as another");
}

}  // namespace spikeweave::fuzz
