#pragma once

#include <filesystem>

#include "fuzz/harness.hpp"
#include "spikeweave/sort/files.hpp"

namespace spikeweave::fuzz {

/// Reads features, and once more after they were written as `.npz`.
void read_features_and_write_again(const temporary_folder& folder,
                                   const std::filesystem::path& path,
                                   const feature_read_options& how = {});

}  // namespace spikeweave::fuzz
