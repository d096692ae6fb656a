#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/mine/spade/detector.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::live {

/// The expected counts of the armed episodes, each up to the spike at which it is detected, and
/// then of the patterns, in these spikes if the units fire independently.
std::vector<double> expected_by_chance(const spike_sequence& spikes,
                                       std::span<const armed_episode> episodes,
                                       const armed_patterns& patterns);

/// The expected rates of the armed episodes and patterns by chance, from the rates of the units in
/// an interval of a stream.
struct chance_rates {
    std::int64_t begin_us = 0;
    std::int64_t end_us = 0;
    std::vector<double> per_minute{};
};

/// Measures these rates in one interval after another. Only the spikes of one interval are kept, of
/// the units that are armed.
class chance_monitor {
public:
    /// @param unit_count  the units of what is armed are below this
    chance_monitor(std::vector<armed_episode> episodes, armed_patterns patterns,
                   std::size_t unit_count, duration interval);

    /// Takes a spike, in the order of time; no unit has two at a time. Returns whether an interval
    /// ended before it.
    bool add(std::int64_t time_us, unit_id unit);
    /// The interval ends with the last spike.
    void end_epoch();

    /// Of the last interval that ended.
    const chance_rates& last() const { return last_; }
    /// The detections that were expected in all intervals that have ended.
    std::span<const double> expected() const { return expected_; }
    /// The time that these intervals took.
    double minutes() const { return minutes_; }

private:
    void measure(std::uint64_t length_us);

    std::vector<armed_episode> episodes_;  // of units that are numbered here
    armed_patterns patterns_;
    std::vector<std::uint32_t> number_of_unit_;
    std::vector<std::string> names_{};
    std::uint64_t interval_us_;
    bool has_begun_ = false;
    std::int64_t begin_us_ = 0;
    std::uint64_t last_us_ = 0;  // of the last spike, from the begin of the interval
    std::vector<std::int64_t> times_{};
    std::vector<unit_id> units_{};
    chance_rates last_{};
    std::vector<double> expected_;
    double minutes_ = 0;
};

}  // namespace spikeweave::live
