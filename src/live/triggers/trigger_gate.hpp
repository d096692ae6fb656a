#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "live/detection/detection.hpp"
#include "spikeweave/live/triggers.hpp"

namespace spikeweave::live {

/// Decides which detections are triggers. It knows only the times of the recording, so a repetition
/// decides as the session did.
///
/// Its clock goes on with the spikes. Between the last spike of an epoch and the first of the next
/// no time passes for it, because it is not known how much did.
class trigger_gate {
public:
    /// @param armed  the number of armed episodes and patterns; more may follow
    trigger_gate(std::size_t armed, const trigger_options& options);

    /// Takes a spike of any unit, not earlier than the one before it.
    void observe(std::int64_t time_us);
    /// Decides on a detection that the last spike made.
    /// @param is_checked  this one was armed because it is expected rarely enough by chance
    suppression decide(std::size_t armed, bool is_checked = false);
    /// It is known that all that is armed may be expected rarely enough by chance.
    void open() { is_open_ = true; }
    /// The times that follow may start anywhere.
    void end_epoch() { has_time_ = false; }

private:
    void pass(std::uint64_t microseconds);
    bool is_muted() const;
    bool is_held_off(std::size_t armed) const;
    bool takes_token();

    std::uint64_t hold_off_;
    std::optional<event_rate> max_triggers_;
    std::optional<std::uint64_t> most_spikes_{};  // in `mute_window_` before a trigger
    std::uint64_t mute_window_;
    bool is_open_;

    bool has_time_ = false;
    std::int64_t time_us_ = 0;             // of the last spike
    std::uint64_t now_ = 0;                // microseconds since the first spike
    std::uint64_t spikes_at_now_ = 0;      // they are not before a trigger at this time
    std::vector<std::uint64_t> recent_{};  // a ring of the last `most_spikes_` + 1 before `now_`
    std::size_t oldest_ = 0;
    std::uint64_t tokens_ = 0;  // in parts, of which a trigger takes `max_triggers_->period`
    std::vector<std::optional<std::uint64_t>> last_trigger_;  // of each armed one
};

}  // namespace spikeweave::live
