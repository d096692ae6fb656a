#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "spikeweave/published/hybrid.hpp"

namespace spikeweave::episodes {

/// The text of a calibration file (docs/formats.md).
std::string calibration_text(const hybrid_calibration&);
/// @param path  used in messages. @throws io_error naming the invalid line.
hybrid_calibration calibration_from(std::string_view text, const std::filesystem::path& path);

/// The calibration of an NVIDIA H200, used for devices that were not measured.
const hybrid_calibration& built_in_calibration();

}  // namespace spikeweave::episodes
