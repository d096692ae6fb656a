#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "live/arming/arming.hpp"
#include "live/arming/arming_rule.hpp"

namespace spikeweave::live {

class armed_detectors;
class sink;
struct session_options;

/// Arms and disarms episodes as windows decide, where spikes are taken.
///
/// A decision counts for the spikes from its due time on. If it comes later, it counts for those
/// that have not been processed yet.
class auto_arming {
public:
    /// @param options    with windows and arming
    /// @param detectors  and the sink have to live as long
    /// @throws invalid_argument if the windows cannot decide what to arm.
    auto_arming(const session_options& options, armed_detectors& detectors, sink& results);

    arming_decider& decider() { return decider_; }

    /// A spike at this time comes next. Changes that count from here on are made.
    void before_spike(std::int64_t time_us);
    void end_epoch();

    /// The first decisions took effect at these positions, and later ones did not.
    void take_effect_at(std::vector<stream_position> positions) {
        positions_ = std::move(positions);
    }
    /// The first decisions made these changes, before the session was interrupted.
    void resume(std::vector<arming_change> changes);

    const arming_counts& counts() const { return counts_; }

private:
    bool may_take_effect(const arming_decision& decision, stream_position now) const;
    std::optional<std::int64_t> effect_of(const arming_decision& decision,
                                          std::int64_t time_us) const;
    arming_change change_by(const arming_decision& decision, std::int64_t from_us);
    void choose(const expected_episode& one, arming_change& change);
    void apply(const arming_change& change);

    arming_settings settings_;
    std::size_t given_;  // episodes and patterns
    std::set<episode> given_episodes_{};
    armed_detectors* detectors_;
    sink* results_;
    arming_decider decider_;

    std::uint64_t epoch_ = 0;
    stream_position last_{};  // of the last spike
    std::optional<arming_decision> next_{};
    std::optional<std::vector<stream_position>> positions_{};
    std::deque<arming_change> recorded_{};
    std::map<episode, std::size_t> numbers_{};  // of all that were ever armed
    std::map<std::size_t, episode> armed_{};    // now
    std::set<episode> refused_{};               // ever
    arming_counts counts_{};
};

}  // namespace spikeweave::live
