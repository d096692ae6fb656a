#pragma once

#include <filesystem>

#include "fuzz/harness.hpp"
#include "spikeweave/sort/files.hpp"

namespace spikeweave::fuzz {

/// Reads features, writes them as `.npz` and reads them again.
void read_features_and_write_again(const temporary_folder& folder,
                                   const std::filesystem::path& path,
                                   const feature_read_options& how = {});

}  // namespace spikeweave::fuzz
