#pragma once

#include <cstdint>
#include <filesystem>

#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Takes the time of the first sample from the numbers that a recording system gave its samples,
/// and warns of those that are missing in between, and of numbers of fewer or more samples than the
/// `frames` that there are.
///
/// @param path  .npy with a number for each sample: whole numbers, or times in seconds. A file that
/// does not exist causes no warning.
/// @param what  with the rate
/// @throws io_error if it is no array of numbers
void take_sample_numbers(const std::filesystem::path& path, std::uint64_t frames,
                         recording_description& what);

}  // namespace spikeweave::record
