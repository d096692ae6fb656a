#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Detection of given SPADE patterns while spikes arrive. The detections are the windows in which
/// SPADE finds the pattern in the same spikes; docs/algorithms/live.md explains why.
namespace spikeweave {

/// One spike of a pattern: an item of `pattern_table` in parts.
struct pattern_spike {
    unit_id unit{};
    std::uint32_t lag = 0;  ///< bins from the start of the window

    friend auto operator<=>(const pattern_spike&, const pattern_spike&) = default;
};

/// Patterns to detect.
struct armed_patterns {
    /// Bins begin at the multiples of this, as SPADE's do by default.
    duration bin = std::chrono::milliseconds{5};
    /// The spikes of each pattern by lag, then by unit; the first lag is 0.
    std::vector<std::vector<pattern_spike>> patterns{};
};

/// A window that contains all spikes of a pattern.
struct pattern_detection {
    std::size_t pattern;    ///< index among the armed patterns
    std::int64_t begin_us;  ///< left edge of the window's first bin
    /// The first spike of the unit in the bin of each of the pattern's spikes, in their order.
    /// Valid until the detector changes.
    std::span<const std::int64_t> times_us;
};

/// Detects armed patterns in spikes that are given one after another.
///
/// A spike takes a step for each place that its unit has in an armed pattern. No memory is
/// allocated after construction.
class SPIKEWEAVE_API pattern_detector {
public:
    /// The longest pattern, in bins from its first spike to its last.
    static constexpr std::uint32_t most_lag = 65'535;

    /// @param unit_count  the units of spikes are below this
    /// @throws invalid_argument if the bin is not positive or a pattern is invalid.
    pattern_detector(armed_patterns armed, std::size_t unit_count);
    ~pattern_detector();
    pattern_detector(const pattern_detector&) = delete;
    pattern_detector& operator=(const pattern_detector&) = delete;
    pattern_detector(pattern_detector&&) noexcept;
    pattern_detector& operator=(pattern_detector&&) noexcept;

    /// Processes a spike and returns the detections that it completes, in the order of the armed
    /// patterns. If a unit has several spikes in a bin, only the first one counts.
    /// @throws invalid_argument if the spike is earlier than the one before it or its unit is
    /// unknown; the spike is then left out.
    std::span<const pattern_detection> add(std::int64_t time_us, unit_id unit);

    /// Ends the epoch: no window continues in the spikes that follow, whose times may start
    /// anywhere. Counts go on.
    void flush();

    const armed_patterns& armed() const;
    /// The number of detections of a pattern. @throws invalid_argument if there is no such pattern.
    std::uint64_t count(std::size_t pattern) const;

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

/// Reads the patterns of the folder of a result of SPADE: those that are significant if they were
/// tested, otherwise all.
/// @throws io_error with the file and the line, also if there is no such pattern, or more than
/// 10,000.
SPIKEWEAVE_API armed_patterns read_patterns(const std::filesystem::path& folder,
                                            const spike_sequence& spikes);
/// The names of the units in these patterns, in natural order.
/// @throws io_error if the folder cannot be read or has no such pattern.
SPIKEWEAVE_API std::vector<std::string> units_of_patterns(const std::filesystem::path& folder);

}  // namespace spikeweave
