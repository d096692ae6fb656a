#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave {

/// One spike of a pattern of SPADE, by the name of its unit.
struct named_spike {
    std::string unit{};
    std::uint32_t lag = 0;  ///< bins from the start of the window

    friend auto operator<=>(const named_spike&, const named_spike&) = default;
};

using named_pattern = std::vector<named_spike>;

/// Patterns of SPADE as named in their result, so that they can be searched for in other spikes.
struct named_patterns {
    duration bin{};
    std::vector<named_pattern> patterns{};
};

/// Reads the patterns of the folder of a result of SPADE: those that are significant if they were
/// tested, otherwise all.
/// @param lines  if given, gets the line of each pattern in `patterns.tsv`
/// @throws io_error with the file and the line, also if there is no such pattern, or more than
/// 10,000.
SPIKEWEAVE_API named_patterns read_named_patterns(const std::filesystem::path& folder,
                                                  std::vector<std::size_t>* lines = nullptr);

/// The patterns of several results, each of them once.
/// @throws invalid_argument if results have bins of other widths.
SPIKEWEAVE_API named_patterns joined_patterns(std::span<const named_patterns> results);

}  // namespace spikeweave
