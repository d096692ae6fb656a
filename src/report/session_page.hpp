#pragma once

#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"

namespace spikeweave::report {

/// The data of the page that shows a recorded session, as docs/formats.md describes them.
/// @param alpha  the level at which rates differ between windows
/// @throws io_error if the file is no session or damaged; cancelled.
std::string session_page_data(const std::filesystem::path& path, double alpha,
                              const execution& run);

}  // namespace spikeweave::report
