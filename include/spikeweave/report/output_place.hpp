#pragma once

#include <cstdint>
#include <filesystem>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The contents of a folder of results.
enum class result_kind : std::uint8_t {
    episodes,
    spade,
    sort,
    replay,
    assemblies,
    bursts,
    episode_differences,
    pattern_differences,
    tracking,
    recording,  ///< of `simulate_recording`
    part,       ///< of the surrogates of `episodes` or `spade`
};

/// Checks the place of a file before the work begins. Folders above it that are missing are made
/// when it is written.
/// @throws io_error if it exists and may not be replaced, or if it cannot be written there.
SPIKEWEAVE_API void check_output_place(const std::filesystem::path& path, bool may_replace);

/// The same for a folder, which is replaced only if it holds an earlier result of this kind.
SPIKEWEAVE_API void check_result_place(const std::filesystem::path& folder, bool may_replace,
                                       result_kind kind);

}  // namespace spikeweave
