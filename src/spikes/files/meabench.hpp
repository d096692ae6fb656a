#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spikeweave::spikes {

inline constexpr std::size_t meabench_plain_bytes = 164;
inline constexpr std::size_t meabench_padded_bytes = 168;

/// Determines the record length of a MEABench file from its first bytes; 0 if these are no such
/// records.
std::size_t meabench_record_bytes(std::string_view first_bytes, std::uint64_t file_bytes);

}  // namespace spikeweave::spikes
