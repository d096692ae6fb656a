#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spikeweave::live {

/// Why programs must not act on a detection. The numbers are those in the file of a session.
enum class suppression : std::uint8_t {
    none = 0,       ///< it is a trigger
    hold_off = 1,   ///< the last trigger of this episode or pattern was too short a time ago
    rate = 2,       ///< there were too many triggers
    mute = 3,       ///< all units together fire too fast
    unchecked = 4,  ///< it is not known yet how often it is expected by chance
};
constexpr std::size_t suppressions = 5;

/// The name in results.
constexpr std::string_view to_string(suppression why) {
    constexpr std::string_view names[suppressions]{"", "hold-off", "rate", "mute", "unchecked"};
    return names[static_cast<std::size_t>(why)];
}

/// The numbers of suppressed detections.
struct suppression_counts {
    std::uint64_t hold_off = 0;
    std::uint64_t rate = 0;
    std::uint64_t mute = 0;
    std::uint64_t unchecked = 0;

    void add(suppression why) {
        hold_off += why == suppression::hold_off ? 1 : 0;
        rate += why == suppression::rate ? 1 : 0;
        mute += why == suppression::mute ? 1 : 0;
        unchecked += why == suppression::unchecked ? 1 : 0;
    }
    std::uint64_t total() const { return hold_off + rate + mute + unchecked; }
    friend bool operator==(const suppression_counts&, const suppression_counts&) = default;
};

/// The outcome for an armed episode or pattern in a session.
struct armed_tally {
    std::uint64_t detected = 0;
    /// The number of complete occurrences of an episode that is detected before its last spike.
    std::uint64_t completed = 0;
    /// The number expected by chance, if the units fire independently.
    double expected = 0;
    double expected_per_minute = 0;
};

/// An armed episode, or a pattern, that has just been detected.
struct detection {
    /// The number of the episode among those that are armed; patterns follow the episodes.
    std::size_t armed = 0;
    /// The first spike of an episode; the left edge of the first bin of a pattern.
    std::int64_t begin_us = 0;
    /// The spike with which it was detected.
    std::int64_t end_us = 0;
    /// Its spikes, valid during the call: those of an episode in the order of its units, those of a
    /// pattern in the order of its items.
    std::span<const std::int64_t> times_us{};
    /// Only a detection that is not suppressed is a trigger, on which programs may act.
    suppression suppressed = suppression::none;
    /// The spike with which it was detected did not come to this computer before this time. Null:
    /// nothing is known of that.
    std::optional<std::chrono::steady_clock::time_point> arrived_after{};

    bool is_trigger() const { return suppressed == suppression::none; }
};

}  // namespace spikeweave::live
