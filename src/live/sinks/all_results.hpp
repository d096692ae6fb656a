#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "live/arrivals.hpp"
#include "live/sink.hpp"
#include "live/sinks/reaction.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::live {

/// Gives results to several sinks, and tells the progress.
class all_results : public sink {
public:
    /// @param spikes  those that will come; 0 if that is not known
    all_results(execution run, std::uint64_t spikes);

    void add(std::unique_ptr<sink> one);
    /// Adds a sink that acts on detections. It comes before all others, which tell what it lost.
    void add_reaction(std::unique_ptr<reaction> one);
    /// While detections of the past are given, they are not acted upon.
    void hold_reactions(bool are_held) { are_reactions_held_ = are_held; }
    /// What comes is to be told here, so that no reaction acts on what came too long ago.
    arrivals& arriving() { return arriving_; }
    /// The number of units so far.
    std::uint64_t units() const { return units_; }

    void units_added(std::span<const std::string> names) override;
    void accepted(std::span<const spike_event> spikes) override;
    void detected(const detection& what) override;
    void mined(const mined_window& window) override;
    void silent(const silent_range& windows) override;
    void counted(const time_span& window, std::span<const std::uint64_t> counts) override;
    void arming_changed(const arming_change& change) override;
    void epoch_ended() override;
    void chance_measured(const chance_rates& rates) override;
    void block_ended(const session_counts& counts) override;
    void tallied(std::span<const armed_tally> armed) override;
    void session_ended(const session_counts& counts) override;

private:
    execution run_;
    std::uint64_t spikes_;
    std::string task_ = "spikes";
    std::uint64_t units_ = 0;
    std::vector<std::unique_ptr<reaction>> reactions_{};
    bool are_reactions_held_ = false;
    arrivals arriving_{};
    std::vector<std::unique_ptr<sink>> sinks_{};
};

}  // namespace spikeweave::live
