#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spikeweave::record {

/// Returns warnings about the numbers that a recording system gave its samples: those that are
/// missing in between, and numbers of fewer or more samples than the `frames` that there are.
///
/// @param path  .npy with a number for each sample: whole numbers, or times in seconds. A file that
/// does not exist says nothing.
/// @throws io_error if it is no array of numbers
std::vector<std::string> check_sample_numbers(const std::filesystem::path& path,
                                              std::uint64_t frames, double rate_hz);

}  // namespace spikeweave::record
