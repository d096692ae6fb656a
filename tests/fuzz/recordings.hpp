#pragma once

#include <filesystem>

#include "fuzz/harness.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::fuzz {

/// Opens a recording and reads it through, and once more after it was written as a folder of
/// SpikeInterface's.
void read_recording_and_write_again(const temporary_folder& folder,
                                    const std::filesystem::path& path,
                                    const recording_read_options& how = {});

}  // namespace spikeweave::fuzz
