#pragma once

#include <filesystem>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// Checks the place of a result before the work begins.
/// @throws io_error if it exists and may not be replaced, or if its folder is missing or cannot be
/// written.
SPIKEWEAVE_API void check_output_place(const std::filesystem::path& path, bool may_replace);

}  // namespace spikeweave
