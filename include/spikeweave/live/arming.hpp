#pragma once

#include <cstdint>
#include <optional>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"

namespace spikeweave {

/// The rules by which episodes are armed while a recording runs, in addition to those that are
/// given.
enum class arming_method : std::uint8_t {
    automatic,  ///< those that have been significant in most of the last windows
};

template <>
SPIKEWEAVE_API enum_table<arming_method> enum_names<arming_method>();

/// When an episode is armed and disarmed automatically. Only windows that do not overlap decide,
/// because others are not independent tests.
struct arming_options {
    /// Null: only the given episodes are armed.
    std::optional<arming_method> arm{};
    /// An episode is armed when it has been significant in so many of the last `arm_windows`, and
    /// disarmed when it has no longer been.
    std::uint64_t arm_after = 3;
    std::uint64_t arm_windows = 4;
    /// The most episodes and patterns that are armed at once, with those that are given.
    std::uint64_t max_armed = 1000;
};

SPIKEWEAVE_API option_list describe(arming_options& options);

}  // namespace spikeweave
