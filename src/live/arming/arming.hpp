#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "spikeweave/live/arming.hpp"
#include "spikeweave/live/triggers.hpp"
#include "spikeweave/mine/episodes.hpp"

/// Episodes that are armed and disarmed while a session runs.
namespace spikeweave::live {

struct arming_settings {
    arming_options rule{};
    /// An episode that is expected by chance more often than this is not armed.
    std::optional<event_rate> max_false_alarms{};
};

/// The options of the settings, as they stand in the file of a session.
option_list describe(arming_settings& settings);

/// A time in a session. The times of an epoch are after those of the epochs before.
struct stream_position {
    std::uint64_t epoch = 0;
    std::int64_t time_us = INT64_MIN;

    friend constexpr auto operator<=>(const stream_position&, const stream_position&) = default;
};

struct expected_episode {
    episode what{};
    double per_minute = 0;  ///< its rate expected by chance

    friend bool operator==(const expected_episode&, const expected_episode&) = default;
};

/// The decision of a window.
struct arming_decision {
    std::uint64_t number = 0;       ///< of the window among those that decide, from 0
    std::int64_t window = 0;        ///< its number among all windows of the epoch
    stream_position due{};          ///< when it takes effect
    std::vector<episode> wanted{};  ///< episodes significant often enough, in order
    /// Those of them that are significant in this window, too, with what is expected in it: the
    /// longest first, then by the names of units.
    std::vector<expected_episode> to_arm{};
};

struct newly_armed {
    std::size_t armed = 0;  ///< its number among all that is armed; it keeps it
    episode what{};
    double per_minute = 0;  ///< its rate expected by chance

    friend bool operator==(const newly_armed&, const newly_armed&) = default;
};

/// An episode that was not armed although the rule asks for it.
struct refused_episode {
    episode what{};
    double per_minute = 0;
    /// It is expected by chance too often; otherwise too many are armed.
    bool by_chance = false;

    friend bool operator==(const refused_episode&, const refused_episode&) = default;
};

/// The option by which it was refused, as users write it.
constexpr std::string_view reason_of(const refused_episode& one) {
    return one.by_chance ? "max-false-alarms" : "max-armed";
}

/// The changes by a decision.
struct arming_change {
    std::uint64_t number = 0;
    std::int64_t window = 0;
    stream_position due{};
    /// It counts for spikes from here on.
    stream_position from{};
    /// Spikes had been processed for which it should have counted.
    bool is_late = false;
    std::vector<newly_armed> armed{};
    std::vector<std::size_t> disarmed{};
    std::vector<refused_episode> refused{};  ///< each is told once
    /// It was recorded and told before the session was interrupted.
    bool was_told = false;

    bool is_late_change() const { return is_late && !(armed.empty() && disarmed.empty()); }
    friend bool operator==(const arming_change&, const arming_change&) = default;
};

/// Totals of automatic arming so far.
struct arming_counts {
    std::uint64_t armed_now = 0;
    std::uint64_t armed = 0;     ///< times that an episode was armed
    std::uint64_t disarmed = 0;  ///< times that an episode was disarmed
    std::uint64_t refused = 0;   ///< episodes
    std::uint64_t late = 0;      ///< decisions that changed something late

    friend bool operator==(const arming_counts&, const arming_counts&) = default;
};

}  // namespace spikeweave::live
