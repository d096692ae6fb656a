#pragma once

#include <filesystem>

#include "fuzz/harness.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::fuzz {

/// Opens and reads a recording, writes it as a SpikeInterface folder and reads that as well.
void read_recording_and_write_again(const temporary_folder& folder,
                                    const std::filesystem::path& path,
                                    const recording_read_options& how = {});

}  // namespace spikeweave::fuzz
