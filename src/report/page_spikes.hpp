#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// Browsers open a page of more spikes slowly, and it takes memory that the search left to others.
inline constexpr std::size_t most_spikes_of_a_page = 10'000'000;

std::string base64(std::span<const std::uint8_t> bytes);

/// Whole numbers of two bytes, the lower one first, and what they are multiples of.
json scaled(std::span<const float> items);

/// Numbers that do not fall, each as its difference to the one before, the first to `begin`: seven
/// bits a byte, the lowest first; the top bit of a byte says that more follow (LEB128).
std::vector<std::uint8_t> varints_of_steps(std::span<const std::int64_t> numbers,
                                           std::int64_t begin = 0);

/// The spikes in their order, as the data of every page have them.
/// @param first  those before are left out
json page_spikes(const spike_sequence& spikes, std::size_t first = 0);

/// Reads the spikes of the data of a page, `units` and `spikes`, and `places` if it has them.
/// @throws json::exception or invalid_argument if they are damaged.
spike_sequence read_page_spikes(const json& page);

}  // namespace spikeweave::report
