#include "fuzz/recordings.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(binary_folder, parts, nullptr) {
    write_parts(folder, bytes, {"binary.json", "probe.json", "t.raw"});
    read_recording_and_write_again(folder, folder.path());
}

// Reads a probe file that the caller names, for a recording of four channels.
SPIKEWEAVE_FUZZ_TARGET(probe, bytes, nullptr) {
    const auto samples = folder.file("four.dat", std::string(16, '\1'));
    read_recording_and_write_again(folder, samples,
                                   {.format = recording_format::raw,
                                    .sample_rate = 20000,
                                    .channels = 4,
                                    .gain = 0.5,
                                    .probe = folder.file("probe.json", bytes)});
}

}  // namespace spikeweave::fuzz
