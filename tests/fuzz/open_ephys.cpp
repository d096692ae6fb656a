#include "fuzz/recordings.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(open_ephys, parts, nullptr) {
    write_parts(folder, bytes, {"structure.oebin", "continuous/F/continuous.dat"});
    read_recording_and_write_again(folder, folder.path() / "structure.oebin");
}

}  // namespace spikeweave::fuzz
